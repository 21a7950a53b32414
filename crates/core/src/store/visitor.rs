//! Statements of visitors under accounts of their own, which are readers: the only ones that no program of this project
//! wrote (docs/decisions/0029-a-console-under-the-readers-own-account.md). Nothing of the program's own account is in
//! them, and they have connections of their own.

use std::time::Duration;

use bytes::Bytes;
use clickhouse::Client;

use super::client::answer_bytes::AnswerBytes;
use super::{Reader, StoreAddress, StoreError};

/// What an account says of itself: its level of `readonly`, and its limits of time (seconds) and memory (bytes).
const ACCOUNT: &str = "SELECT toUInt64(getSetting('readonly')), \
                       toUInt64(ceil(toFloat64(getSetting('max_execution_time')))), \
                       toUInt64(getSetting('max_memory_usage'))";

/// A user of ClickHouse, as a visitor gives it.
#[derive(Clone)]
pub struct Login {
    /// Name of the user.
    pub user: String,
    /// Password; never shown.
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Why statements of an account are not sent.
#[derive(Debug, thiserror::Error)]
pub enum VisitorError {
    /// ClickHouse does not let the account in, or cannot say what it may do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It may change something.
    #[error("this account may write (`readonly` is 0): statements need a read-only account")]
    Writes,
    /// Its statements end at no limit.
    #[error(
        "this account has no limit of time or memory (`max_execution_time`, `max_memory_usage`): statements need a \
         reader's account"
    )]
    Unlimited,
}

/// An account that only reads, within limits.
pub struct Visitor {
    client: Client,
    readonly: u64,
    time_limit: Duration,
}

impl std::fmt::Debug for Visitor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Visitor").field("readonly", &self.readonly).finish_non_exhaustive()
    }
}

impl Reader {
    /// Lets an account in at the address in use, with the database of this reader.
    ///
    /// # Errors
    ///
    /// If ClickHouse refuses the account or cannot be reached, or the account is no reader.
    pub async fn admit(&self, login: Login) -> Result<Visitor, VisitorError> {
        let Login { user, password } = login;
        let client = StoreAddress { user, password, ..self.failover.address().clone() }.client();
        let answer = client.query_raw(ACCOUNT).fetch_bytes("TabSeparated").map_err(StoreError::from);
        let text = answer?.collect().await.map_err(StoreError::from)?;
        let mut numbers = std::str::from_utf8(&text).unwrap_or_default().split_whitespace().map(str::parse);
        let mut number = || numbers.next().and_then(Result::ok).unwrap_or(0_u64);
        let (readonly, seconds, memory) = (number(), number(), number());
        match (readonly, seconds, memory) {
            (0, ..) => Err(VisitorError::Writes),
            (_, 0, _) | (_, _, 0) => Err(VisitorError::Unlimited),
            _ => Ok(Visitor { client, readonly, time_limit: Duration::from_secs(seconds) }),
        }
    }
}

impl Visitor {
    /// How long a statement may run.
    #[must_use]
    pub fn time_limit(&self) -> Duration {
        self.time_limit
    }

    /// Sends a statement, and waits for the first bytes of its answer in a format, if the text names no other one.
    /// Dropping the answer before its end closes its connection, which cancels the statement.
    ///
    /// # Errors
    ///
    /// If ClickHouse refuses the statement, fails before the first byte, or cannot be reached.
    pub async fn run(&self, statement: &str, format: &str) -> Result<VisitorAnswer, StoreError> {
        // The level that the account has is no change of it, and holds for an account that could choose.
        let mut query = self.client.query_raw(statement).with_setting("readonly", self.readonly.to_string());
        if self.readonly > 1 {
            query = query.with_setting("cancel_http_readonly_queries_on_client_close", "1");
        }
        let mut pieces = AnswerBytes::new(query.fetch_bytes(format)?);
        let first = pieces.next().await?;
        Ok(VisitorAnswer { first, pieces })
    }
}

/// The answer of a statement, as it arrives.
pub struct VisitorAnswer {
    first: Option<Bytes>,
    pieces: AnswerBytes,
}

impl std::fmt::Debug for VisitorAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("VisitorAnswer").finish_non_exhaustive()
    }
}

impl VisitorAnswer {
    /// How it begins, until that is taken.
    #[must_use]
    pub fn beginning(&self) -> &[u8] {
        self.first.as_deref().unwrap_or_default()
    }

    /// The next bytes; `None` at its end, which an answer that was cut off has not.
    ///
    /// # Errors
    ///
    /// If the statement fails in the middle of its answer, or the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.pieces.next().await,
        }
    }
}
