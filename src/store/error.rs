//! What can go wrong between us and ClickHouse.

use crate::schema::ColumnMismatch;

/// A read or a write that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No connection, or it broke.
    #[error("ClickHouse cannot be reached")]
    Unreachable(#[source] clickhouse::error::Error),
    /// ClickHouse refused the statement or failed on it.
    #[error("ClickHouse answered with error {code}: {message}")]
    Refused {
        /// ClickHouse's error code; 0 if it gave none.
        code: i32,
        /// Its text.
        message: String,
    },
    /// Another run of ingest has the right to write.
    #[error("another run of trawl-ingest took over, or ClickHouse was away for too long; run this again to go on")]
    LeaseLost,
    /// The answer is not what the code was written for.
    #[error("an answer of ClickHouse has an unexpected shape")]
    Shape(#[from] ColumnMismatch),
    /// The answer cannot be decoded.
    #[error("an answer of ClickHouse cannot be decoded")]
    Undecodable(#[source] clickhouse::error::Error),
}

impl From<clickhouse::error::Error> for StoreError {
    fn from(error: clickhouse::error::Error) -> Self {
        use clickhouse::error::Error;
        match error {
            Error::Network(_) | Error::TimedOut => Self::Unreachable(error),
            Error::BadResponse(message) => Self::Refused { code: code(&message), message },
            other => Self::Undecodable(other),
        }
    }
}

impl StoreError {
    /// Whether trying again later may help: no connection, too many queries, no memory, no disk, read-only for now.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            // TOO_MANY_SIMULTANEOUS_QUERIES, NETWORK_ERROR, MEMORY_LIMIT_EXCEEDED, NOT_ENOUGH_SPACE,
            // TABLE_IS_READ_ONLY, TOO_MANY_PARTS, SOCKET_TIMEOUT, KEEPER_EXCEPTION.
            Self::Refused { code, .. } => matches!(code, 202 | 209 | 210 | 241 | 242 | 243 | 252 | 999),
            Self::LeaseLost | Self::Shape(_) | Self::Undecodable(_) => false,
        }
    }
}

fn code(message: &str) -> i32 {
    let digits = message.split("Code: ").nth(1).unwrap_or("");
    digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_code_is_read_from_the_text() {
        assert_eq!(super::code("Code: 60. DB::Exception: no table"), 60);
        assert_eq!(super::code("502 Bad Gateway"), 0);
    }
}
