//! What an answer means: a result, a refusal for good, too much at once, or something worth another try.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

/// JSON-RPC: the node does not have the method.
pub(in super::super) const METHOD_NOT_FOUND: i64 = -32601;
/// Limit exceeded, by <https://eips.ethereum.org/EIPS/eip-1474>.
const LIMIT_EXCEEDED: i64 = -32005;

/// Nodes written with jsonrpsee (Reth and others): the answer is larger than they send.
const OVERSIZED_RESPONSE: i64 = -32008;

/// What a call answered.
pub(in super::super) type Answer = Result<Box<RawValue>, CallError>;

/// A JSON-RPC error object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(in super::super) struct CallError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

impl CallError {
    /// Whether it says that too much was asked or would have to be answered in one request. There is no code for it.
    pub fn is_too_large(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        let batch = message.contains("batch")
            && ["large", "limit", "size", "many", "exceed"].iter().any(|word| message.contains(word));
        let response = ["response", "body", "result", "content"].iter().any(|word| message.contains(word))
            && ["too large", "too big", "size exceeded", "size limit"].iter().any(|word| message.contains(word));
        batch || response || self.code == OVERSIZED_RESPONSE
    }

    /// Whether it says that the node is asked too much.
    pub fn is_overload(&self) -> bool {
        let message = self.message.to_ascii_lowercase();
        self.code == LIMIT_EXCEEDED || message.contains("rate limit") || message.contains("too many requests")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Asking again may help.
    Transient,
    /// The node says that it is asked too much.
    Overload,
    /// The node did not answer in time, which may mean the same, or that it never will.
    Slow,
    /// Asking for less at once may help.
    TooLarge,
    /// The node lives and answered the call, with an error that may pass.
    Answered,
    /// The node lives and does not have this; another may.
    Elsewhere,
    /// Asking this node again will not help.
    Final,
}

/// Why an attempt failed.
#[derive(Debug)]
pub(in super::super) struct Failure {
    pub(super) cause: String,
    kind: Kind,
    /// The node said when to come back.
    pub(super) retry_after: Option<Duration>,
    /// The node is of this chain, and another was expected.
    pub(super) chain: Option<u64>,
}

impl Failure {
    fn new(cause: impl Into<String>, kind: Kind) -> Self {
        Self { cause: cause.into(), kind, retry_after: None, chain: None }
    }

    pub fn transient(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Transient)
    }

    pub fn last(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Final)
    }

    /// The node lives and answered, with what is no answer yet.
    pub fn answered(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Answered)
    }

    /// Pieces that do not belong together: the `count`th time, after which the next is awaited longer.
    pub fn disagreement(cause: impl Into<String>, count: u32) -> Self {
        let wait = Duration::from_millis(250) * 4_u32.saturating_pow(count.saturating_sub(1).min(4));
        Self { retry_after: Some(wait), ..Self::answered(cause) }
    }

    /// The node lives and does not have this: it is not set aside for other things.
    pub fn elsewhere(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Elsewhere)
    }

    pub(super) fn overload(cause: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..Self::new(cause, Kind::Overload) }
    }

    pub(super) fn slow(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Slow)
    }

    pub(super) fn too_large(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::TooLarge)
    }

    pub(super) fn other_chain(found: u64, expected: u64) -> Self {
        Self { chain: Some(found), ..Self::last(format!("it is of chain {found}, not {expected}")) }
    }

    /// A status that is not success, with what the node said about coming back.
    pub(super) fn status(status: u16, retry_after: Option<Duration>) -> Self {
        let cause = format!("HTTP {status}");
        match status {
            401 | 403 | 404 => Self::last(cause),
            // A gateway that did not wait for the node.
            408 | 504 | 524 => Self { retry_after, ..Self::slow(cause) },
            413 => Self::too_large(cause),
            429 | 503 => Self::overload(cause, retry_after),
            _ => Self { retry_after, ..Self::transient(cause) },
        }
    }

    /// Whether asking this node again will not help. What is too large was made as small as it can be before.
    pub fn is_final(&self) -> bool {
        matches!(self.kind, Kind::Final | Kind::TooLarge | Kind::Elsewhere)
    }

    /// Whether the node is as good as before for everything else.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.kind == Kind::Elsewhere
    }

    /// Whether it says something of what was asked for, and not of how the node fares: a part of a block that fails so
    /// may be left out.
    pub fn is_of_the_question(&self) -> bool {
        !matches!(self.kind, Kind::Transient | Kind::Overload)
    }

    /// The same where only a part of a block was asked for: a node that refuses it is as good as before for the rest.
    pub fn of_a_part(self) -> Self {
        if self.is_final() { Self { kind: Kind::Elsewhere, ..self } } else { self }
    }

    /// Whether the answer did not come in time.
    pub fn is_slow(&self) -> bool {
        self.kind == Kind::Slow
    }

    /// What the node said, or what happened.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Whether the node lives, and wants to be asked less.
    pub(super) fn is_overload(&self) -> bool {
        self.kind == Kind::Overload
    }

    /// Whether asking less may help.
    pub(super) fn is_pressure(&self) -> bool {
        matches!(self.kind, Kind::Overload | Kind::Slow)
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.kind == Kind::TooLarge
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let cause = format!("error {}: {}", error.code, error.message);
        match error.code {
            _ if error.is_too_large() => Self::too_large(cause),
            _ if error.is_overload() => Self::overload(cause, None),
            // Wrong method or arguments stay wrong; everything else (not yet synced) may pass.
            -32601 | -32600 => Self::last(cause),
            _ => Self::answered(cause),
        }
    }
}

/// A quantity as nodes write them.
pub(super) fn quantity(value: &RawValue) -> Result<u64, Failure> {
    let text: String = serde_json::from_str(value.get()).map_err(|error| Failure::transient(error.to_string()))?;
    let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty() && !digits.starts_with('+'));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .ok_or_else(|| Failure::last(format!("`{text}` is no quantity of 64 bits")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_told_apart_by_their_words() {
        let kind = |code, message: &str| Failure::from(CallError { code, message: message.into() }).kind;
        for words in [
            "batch too large: limit is 3",
            "Batch size exceeds 10",
            "too many requests in batch",
            "response too large",
            "Response size exceeded",
        ] {
            assert_eq!(kind(-32600, words), Kind::TooLarge, "{words}");
        }
        assert_eq!(kind(-32008, "Response is too big"), Kind::TooLarge);
        assert_eq!(kind(-32005, "busy"), Kind::Overload);
        assert_eq!(kind(-32000, "rate limit exceeded"), Kind::Overload);
        assert_eq!(kind(-32601, "the method does not exist"), Kind::Final);
        assert_eq!(kind(-32000, "header not found"), Kind::Answered);
        assert_eq!(Failure::status(413, None).kind, Kind::TooLarge);
        assert_eq!(Failure::status(502, None).kind, Kind::Transient);
        assert_eq!(Failure::status(504, None).kind, Kind::Slow);
    }
}
