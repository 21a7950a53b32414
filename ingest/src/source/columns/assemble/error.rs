//! Why rows do not make a block.

use trawl_core::primitives::B256;

use crate::source::columns::cell::CellError;

/// Rows that do not make a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssembleError {
    /// A cell that cannot be read.
    #[error(transparent)]
    Cell(#[from] CellError),
    /// The block counts its transactions.
    #[error("{found} transactions where the block counts {expected}")]
    TransactionCount {
        /// As the block states it.
        expected: u64,
        /// How many rows.
        found: usize,
    },
    /// Some transactions have a receipt and some have none.
    #[error("{found} receipts for {expected} transactions")]
    ReceiptCount {
        /// Transactions of the block.
        expected: usize,
        /// Transactions that have a receipt.
        found: usize,
    },
    /// A row that names another transaction or block than the one it stands with.
    #[error("{what} names {found} where {expected} is")]
    Stranger {
        /// The row, such as `transaction 3` or `log 7`.
        what: String,
        /// Hash it stands with.
        expected: B256,
        /// Hash it names.
        found: B256,
    },
    /// A log of a transaction that is not there.
    #[error("a log of transaction {index}, where there are {count} transactions")]
    LogOfNothing {
        /// Position of its transaction in the block.
        index: u32,
        /// Transactions of the block.
        count: usize,
    },
}
