//! Why text is not a block.

use trawl_core::primitives::B256;

/// Text that is not a block.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not the JSON that was expected.
    #[error("{part} of block {number} cannot be read")]
    Json {
        /// Height, or `?` if not even that could be read.
        number: String,
        /// `block`, `receipts`, `uncle headers` or `transaction N`.
        part: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// A field that every such object has is not there.
    #[error("{part} of block {number} has no `{field}`")]
    Missing {
        /// Height of the block.
        number: u64,
        /// Object of the block that lacks it, such as a transaction.
        part: String,
        /// Name of the field in the JSON.
        field: &'static str,
    },
    /// The source's state differences do not belong to the block.
    #[error("state differences of block {number} are refused")]
    State {
        /// Height of the block.
        number: u64,
        /// What does not fit the block.
        source: StateError,
    },
}

impl DecodeError {
    /// The height of the block, if that much could be read.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Json { number, .. } => number.parse().ok(),
            Self::Missing { number, .. } | Self::State { number, .. } => Some(*number),
        }
    }
}

/// Text of a block that is not the JSON that was expected.
pub(super) fn unreadable(number: impl ToString, part: impl Into<String>, source: serde_json::Error) -> DecodeError {
    DecodeError::Json { number: number.to_string(), part: part.into(), source }
}

/// Differences that do not belong to their block.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Not the JSON that was expected.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Not one for each transaction.
    #[error("there are {found} of them and {transactions} transactions")]
    Count {
        /// Transactions of the block.
        transactions: usize,
        /// State differences of transactions.
        found: usize,
    },
    /// One names another transaction.
    #[error("number {position} is of transaction {found}")]
    Transaction {
        /// Position in the block.
        position: usize,
        /// Hash it names.
        found: B256,
    },
    /// One is empty, for example because tracing failed.
    #[error("number {position} is not there")]
    Absent {
        /// Position in the block.
        position: usize,
    },
}
