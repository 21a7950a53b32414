//! Why a call failed, and what that means for another attempt.

use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use trawl_core::primitives::B256;

use crate::error::call::CallError;
use crate::error::kind::ErrorKind;
use crate::known_block::KnownBlock;

/// What a failure means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// There is no connection to the node, or it broke: a retry may help.
    Unreachable,
    /// The node, or a gateway before it, answered with what is no answer: a retry may help.
    Malformed,
    /// A rate limit is exceeded.
    RateLimited,
    /// There was no response in time, because of a limit or because there never will be one.
    Timeout,
    /// The request or its response is too large: a smaller request may help.
    TooLarge,
    /// The node works and answered with a temporary error.
    NotReady,
    /// The node works and does not know the block: it lags, or has another block there by now.
    UnknownBlock,
    /// The node works and does not keep the data of so old a block; another may.
    Pruned,
    /// The node works and does not have the data; another may.
    Unsupported,
    /// The node will never answer this call.
    Permanent,
    /// A gateway does not let the caller through to the node: its key, its account or the path.
    Denied,
    /// The node is of another chain.
    OtherChain,
    /// The caller does not want an answer any more.
    Stopped,
}

use FailureKind as Kind;

/// Why an attempt failed.
#[derive(Debug)]
pub struct Failure {
    pub(crate) cause: String,
    kind: Kind,
    /// When the node may be called again, from `Retry-After`.
    pub(crate) retry_after: Option<Duration>,
    /// The id of the node's chain, if another was expected.
    pub(crate) chain: Option<u64>,
}

impl Failure {
    fn new(cause: impl Into<String>, kind: Kind) -> Self {
        Self { cause: cause.into(), kind, retry_after: None, chain: None }
    }

    /// The response is malformed, or an error of the server that passes.
    pub fn transient(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Malformed)
    }

    /// There is no connection, or it broke.
    pub(crate) fn unreachable(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Unreachable)
    }

    /// The node will never answer this call.
    pub fn permanent(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Permanent)
    }

    /// The node works, and its answer is not complete yet.
    pub fn not_ready(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::NotReady)
    }

    /// Parts that do not match each other, for the `count`th time; the pause before the next attempt grows with it.
    pub fn inconsistent(cause: impl Into<String>, count: u32) -> Self {
        let wait = Duration::from_millis(250) * 4_u32.saturating_pow(count.saturating_sub(1).min(4));
        Self { retry_after: Some(wait), ..Self::not_ready(cause) }
    }

    /// The node works and does not know the block.
    pub fn unknown_block(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::UnknownBlock)
    }

    /// The node works and does not keep the data of so old a block: it is not set aside for other calls.
    pub fn pruned(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Pruned)
    }

    /// The node works and does not have the data: it is not set aside for other calls.
    pub fn unsupported(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Unsupported)
    }

    pub(crate) fn rate_limited(cause: impl Into<String>, retry_after: Option<Duration>) -> Self {
        Self { retry_after, ..Self::new(cause, Kind::RateLimited) }
    }

    pub(crate) fn timeout(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::Timeout)
    }

    /// The request or its response is too large, or takes too long.
    pub fn too_large(cause: impl Into<String>) -> Self {
        Self::new(cause, Kind::TooLarge)
    }

    pub(crate) fn other_chain(found: u64, expected: u64) -> Self {
        Self { chain: Some(found), ..Self::new(format!("it is of chain {found}, not {expected}"), Kind::OtherChain) }
    }

    pub(crate) fn other_block(known: KnownBlock, found: B256) -> Self {
        let KnownBlock { number, hash } = known;
        let cause = format!("it is of another chain with the same id: its block {number} is {found}, not {hash}");
        Self::new(cause, Kind::OtherChain)
    }

    pub(crate) fn stopped() -> Self {
        Self::new("stopped", Kind::Stopped)
    }

    /// A status that is not success, with the response's headers.
    pub(crate) fn status(status: u16, headers: &HeaderMap) -> Self {
        let (cause, retry_after) = (format!("HTTP {status}"), retry_after(headers));
        match status {
            401 | 403 | 404 => Self::new(cause, Kind::Denied),
            // A gateway timed out waiting for the node.
            408 | 504 | 524 => Self { retry_after, ..Self::timeout(cause) },
            413 => Self::too_large(cause),
            // A quota that is used up (402) comes back with time, or once it is paid for.
            402 | 429 | 503 => Self::rate_limited(cause, retry_after),
            _ => Self { retry_after, ..Self::transient(cause) },
        }
    }

    /// What it means.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.kind
    }

    /// The failure of an optional part: a node that refuses it is not set aside for the rest. What a gateway denies is
    /// no refusal of the part, since it may deny everything: see
    /// [`batch_of_a_part`](crate::NodeClient::batch_of_a_part).
    #[must_use]
    pub fn of_a_part(self) -> Self {
        if self.kind == Kind::Permanent { Self { kind: Kind::Unsupported, ..self } } else { self }
    }

    /// The same, with what it is about in front of its cause.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        Self { cause: format!("{what}: {}", self.cause), ..self }
    }

    /// The node's message, or a description.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Whether this node will never answer this call. A call that is too large was split as far as possible before.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        use Kind::{Denied, OtherChain, Permanent, Pruned, TooLarge, Unsupported};
        matches!(self.kind, Permanent | Denied | TooLarge | Unsupported | Pruned | OtherChain)
    }

    /// Whether the failure is caused by the call and not by the state of the node: such a part may be left out.
    #[must_use]
    pub fn is_about_the_call(&self) -> bool {
        use Kind::{Denied, Malformed, OtherChain, RateLimited, Stopped, Unreachable};
        !matches!(self.kind, Unreachable | Malformed | RateLimited | Denied | OtherChain | Stopped)
    }

    /// Whether the call timed out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.kind == Kind::Timeout
    }

    /// Whether the failure does not affect other calls to the node.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(self.kind, Kind::Unsupported | Kind::Pruned | Kind::TooLarge)
    }

    /// Whether the node may be another one when it answers again.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(self.kind, Kind::Unreachable | Kind::Malformed | Kind::Timeout)
    }

    /// Whether the node works, and limits its callers.
    pub(crate) fn is_rate_limited(&self) -> bool {
        self.kind == Kind::RateLimited
    }

    /// Whether fewer calls may help.
    pub(crate) fn is_overload(&self) -> bool {
        matches!(self.kind, Kind::RateLimited | Kind::Timeout)
    }

    pub(crate) fn is_too_large(&self) -> bool {
        self.kind == Kind::TooLarge
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let cause = format!("error {}: {}", error.code, error.message);
        match error.kind() {
            ErrorKind::TooLarge => Self::too_large(cause),
            ErrorKind::RateLimited => Self::rate_limited(cause, None),
            ErrorKind::Pruned => Self::pruned(cause),
            ErrorKind::UnknownBlock => Self::unknown_block(cause),
            ErrorKind::NoMethod => Self::permanent(cause),
            // Such a request stays wrong; every other error (not yet synced) may be temporary.
            ErrorKind::WrongCall if error.code == -32600 => Self::permanent(cause),
            ErrorKind::WrongCall | ErrorKind::Inconsistent | ErrorKind::Other => Self::not_ready(cause),
        }
    }
}

/// Seconds of `Retry-After`; dates are not parsed.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_classified_by_their_texts() {
        let kind = |code, message: &str| Failure::from(CallError { code, message: message.into() }).kind;
        for text in [
            "batch too large: limit is 3",
            "Batch size exceeds 10",
            "too many requests in batch",
            "response too large",
            "Response size exceeded",
        ] {
            assert_eq!(kind(-32600, text), Kind::TooLarge, "{text}");
        }
        assert_eq!(kind(-32008, "Response is too big"), Kind::TooLarge);
        assert_eq!(kind(-32005, "busy"), Kind::RateLimited);
        assert_eq!(kind(-32000, "rate limit exceeded"), Kind::RateLimited);
        assert_eq!(kind(-32601, "the method does not exist"), Kind::Permanent);
        assert_eq!(kind(-32000, "header not found"), Kind::UnknownBlock);
        assert_eq!(kind(-32000, "missing trie node"), Kind::Pruned);
        assert_eq!(Failure::status(413, &HeaderMap::new()).kind, Kind::TooLarge);
        assert_eq!(Failure::status(502, &HeaderMap::new()).kind, Kind::Malformed);
        assert_eq!(Failure::status(402, &HeaderMap::new()).kind, Kind::RateLimited);
        for status in [401, 403, 404] {
            let failure = Failure::status(status, &HeaderMap::new());
            assert!(failure.kind == Kind::Denied && failure.is_permanent(), "{status}");
            assert!(!failure.of_a_part().is_about_the_call(), "{status}: no block goes on without the part");
        }
        assert_eq!(Failure::status(504, &HeaderMap::new()).kind, Kind::Timeout);
    }
}
