//! Errors of reads from ClickHouse and writes to it.

use std::sync::Arc;

use crate::schema::ColumnMismatch;
use crate::schema::packed::UnpackError;

/// ClickHouse's code for a missing table.
pub(super) const UNKNOWN_TABLE: i32 = 60;
/// ClickHouse's code for object storage that fails, or that lacks an object.
const S3_ERROR: i32 = 499;
/// ClickHouse's code for data that ends too early: also what the server says whose shard dies while it is read from.
const ENDED: i32 = 32;
/// ClickHouse's code for a missing database.
pub(super) const UNKNOWN_DATABASE: i32 = 81;

/// Why a read or a write failed.
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
        /// Message of ClickHouse.
        message: String,
    },
    /// The user lacks the permission, so another attempt would fail too.
    #[error("the ClickHouse user lacks the rights for this: use one that has them (--clickhouse-user): {message}")]
    NotAllowed {
        /// Message of ClickHouse.
        message: String,
    },
    /// Another run of ingest holds the lease.
    #[error("another run of trawl-ingest took over; run this again to resume")]
    LeaseLost,
    /// ClickHouse accepted no write for so long that another run may hold the lease by now.
    #[error("ClickHouse accepted no writes for too long; run this again to resume")]
    NoSignOfLife(#[source] Arc<StoreError>),
    /// The columns of a result are not the expected ones.
    #[error("an answer of ClickHouse has an unexpected shape")]
    Shape(#[from] ColumnMismatch),
    /// Rows of blocks in memory cannot be read or stored.
    #[error("the rows of the newest blocks cannot be read")]
    Newest(#[source] arrow::error::ArrowError),
    /// The packed rows of a block cannot be read.
    #[error("the packed rows of a block cannot be read")]
    Packed(#[from] UnpackError),
    /// The response cannot be decoded.
    #[error("an answer of ClickHouse cannot be decoded")]
    Undecodable(#[source] clickhouse::error::Error),
}

impl From<clickhouse::error::Error> for StoreError {
    fn from(error: clickhouse::error::Error) -> Self {
        use clickhouse::error::Error;
        match error {
            Error::Network(_) | Error::TimedOut => Self::Unreachable(error),
            Error::BadResponse(message) => match code(&message) {
                // READONLY, ACCESS_DENIED
                164 | 497 => Self::NotAllowed { message },
                code => Self::Refused { code, message },
            },
            other => Self::Undecodable(other),
        }
    }
}

impl StoreError {
    /// The error of a timeout on this side.
    #[must_use]
    pub fn silent() -> Self {
        Self::Unreachable(clickhouse::error::Error::TimedOut)
    }

    /// Whether a retry may help: no connection, a restart, too many queries, no memory, no disk, object storage that is
    /// away, a shard that is, a replica without its Keeper. A table that an operator made read-only (774) stays so.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            // None (a proxy without its ClickHouse), DNS_ERROR, TOO_MANY_SIMULTANEOUS_QUERIES, SOCKET_TIMEOUT,
            // NETWORK_ERROR, ALL_CONNECTION_TRIES_FAILED (of a shard), NO_ZOOKEEPER, ABORTED, MEMORY_LIMIT_EXCEEDED,
            // TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE, TOO_MANY_PARTS, UNKNOWN_STATUS_OF_INSERT, QUERY_WAS_CANCELLED,
            // NOT_INITIALIZED, KEEPER_EXCEPTION; of replicas that a write waits for TOO_FEW_LIVE_REPLICAS,
            // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, REPLICA_IS_NOT_IN_QUORUM, UNFINISHED.
            Self::Refused { code: S3_ERROR, message } => !message.contains("key does not exist"),
            Self::Refused { code: ENDED, message } => message.contains("while receiving packet from"),
            Self::Refused { code, .. } => {
                matches!(
                    code,
                    0 | 198
                        | 202
                        | 209
                        | 210
                        | 225
                        | 236
                        | 241
                        | 242
                        | 243
                        | 252
                        | 279
                        | 285
                        | 286
                        | 289
                        | 319
                        | 341
                        | 394
                        | 667
                        | 999
                )
            }
            Self::NotAllowed { .. }
            | Self::LeaseLost
            | Self::NoSignOfLife(_)
            | Self::Shape(_)
            | Self::Newest(_)
            | Self::Packed(_)
            | Self::Undecodable(_) => false,
        }
    }

    /// Whether ClickHouse does not know the user, or the password is another one: UNKNOWN_USER, WRONG_PASSWORD,
    /// REQUIRED_PASSWORD, AUTHENTICATION_FAILED.
    #[must_use]
    pub fn is_wrong_login(&self) -> bool {
        matches!(self, Self::Refused { code: 192 | 193 | 194 | 516, .. })
    }

    /// Whether the statement exceeded its time limit: TIMEOUT_EXCEEDED.
    #[must_use]
    pub fn is_time_limit(&self) -> bool {
        matches!(self, Self::Refused { code: 159, .. })
    }

    /// Whether there is no room on a disk of ClickHouse: NOT_ENOUGH_SPACE, or the system's own words.
    #[must_use]
    pub fn is_full_disk(&self) -> bool {
        match self {
            Self::Refused { code, message } => *code == 243 || message.contains("No space left on device"),
            Self::NoSignOfLife(reason) => reason.is_full_disk(),
            _ => false,
        }
    }

    /// Whether there is no server, or it is gone: a statement may be sent to another one. A server that takes too
    /// long is there.
    pub(super) fn is_lost_connection(&self) -> bool {
        matches!(self, Self::Unreachable(clickhouse::error::Error::Network(_)) | Self::Refused { code: 0, .. })
    }

    /// Whether ClickHouse could not be reached.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable(_) => true,
            Self::NoSignOfLife(reason) => reason.is_unreachable(),
            _ => false,
        }
    }
}

fn code(message: &str) -> i32 {
    let digits = message.split("Code: ").nth(1).unwrap_or("");
    digits.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::StoreError;

    #[test]
    fn the_code_is_read_from_the_text() {
        assert_eq!(super::code("Code: 60. DB::Exception: no table"), 60);
        assert_eq!(super::code("502 Bad Gateway"), 0);
    }

    const SHARD_DIED: &str =
        "Code: 32. DB::Exception: Attempt to read after eof: while receiving packet from 10.0.0.2:9000";
    const S3_AWAY: &str = "Code: 499. DB::Exception: Poco::Exception. Code: 1000, e.code() = 111, Connection refused";
    const S3_LOST: &str = "Code: 499. DB::Exception: The specified key does not exist. This error happened for S3 disk";

    #[test]
    fn transient_errors_are_distinguished_from_permanent_ones() {
        let refused = |text: &str| StoreError::from(clickhouse::error::Error::BadResponse(text.into()));
        for text in [
            "502 Bad Gateway",
            "Code: 242. DB::Exception: a",
            "Code: 243. DB::Exception: b",
            "Code: 667. c",
            S3_AWAY,
            SHARD_DIED,
        ] {
            assert!(refused(text).is_transient(), "{text}");
        }
        for text in [
            "Code: 774. DB::Exception: a",
            "Code: 164. DB::Exception: b",
            "Code: 60. DB::Exception: c",
            "Code: 32. d",
            S3_LOST,
        ] {
            assert!(!refused(text).is_transient(), "{text}");
        }
        let reason = std::sync::Arc::new(StoreError::silent());
        let given_up = StoreError::NoSignOfLife(reason);
        assert!(given_up.is_unreachable() && !given_up.is_transient());
    }
}
