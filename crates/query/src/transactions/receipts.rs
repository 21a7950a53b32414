//! Plans for the receipts of a block as they were hashed.

use crate::select::Select;
use trawl_core::primitives::{Address, B256, Bytes};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What a receipt says but for its logs.
    pub struct ReceiptOutcome / ReceiptOutcomeView {
        /// Position of the transaction in the block.
        transaction_index: u32,
        /// EIP-2718 type: 0 for legacy receipts, which have no type byte.
        transaction_type: u8,
        /// 1 if the source had the receipt.
        has_receipt: u8,
        /// 1 success, 0 failure; none before Byzantium.
        status: Option<u8>,
        /// State root after the transaction; none from Byzantium on.
        post_state_root: Option<B256>,
        /// Gas used in the block up to and with it.
        cumulative_gas_used: u64,
        /// Logs that it emitted.
        logs_count: u32,
        /// Columns that the source did not have.
        lacking: Vec<String>,
    }
}

columns! {
    /// What a receipt says of a log.
    pub struct ReceiptLog / ReceiptLogView {
        /// Position of the transaction in the block.
        transaction_index: u32,
        /// Position in the block.
        log_index: u32,
        /// Contract that emitted the log.
        address: Address,
        /// How many topics it has.
        topics_count: u8,
        /// First topic; zero if absent.
        topic0: B256,
        /// Second topic; zero if absent.
        topic1: B256,
        /// Third topic; zero if absent.
        topic2: B256,
        /// Fourth topic; zero if absent.
        topic3: B256,
        /// Data of the log: the unindexed arguments, encoded by the ABI.
        data: Bytes,
    }
}

/// The receipts of a block in order, without their logs.
#[must_use]
pub fn of_block(block: &Span, limit: u64) -> Statement<ReceiptOutcome> {
    Select::default().blocks("block_number", block).page("transactions", "transaction_index", limit)
}

/// The logs of a block in order.
#[must_use]
pub fn logs_of_block(block: &Span, limit: u64) -> Statement<ReceiptLog> {
    Select::default().blocks("block_number", block).page("logs_by_block", "log_index", limit)
}
