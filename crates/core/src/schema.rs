//! Floor 1: the tables of `sql/` as Rust sees them, one file per noun.
//!
//! Field names are column names; the tests compare both with the database.

pub mod column;
pub mod columns;
pub mod comments;
pub mod migrations;

pub mod analysts;
pub mod event_view;
pub mod hot;
mod lists;
mod nested;
pub mod packed;
pub mod reader_account;
pub mod replication;
mod rows;
pub mod sharding;
pub mod text_views;

pub use column::Column;
pub use columns::{ColumnMismatch, Columns, Table};
pub use lists::{
    AccessListItem, Authorization, NotCheckable, PackedBlock, ReplacedCommit, ReportedProblem, Reward, Segment,
    TableRows,
};
pub use rows::{
    AbiEntryRow, AccountFrame, AccountFrameView, AddressInternalTransactionRow, AddressInternalTransactionView,
    BalanceRow, BlockByHashRow, BlockRow, BlockTokenTransferRow, BlockTokenTransferView, BlockView, CodeChangeRow,
    CodeRow, CommitRow, ContractRow, CreditRow, DestructionRow, DirectedInternalTransactionRow,
    DirectedTokenTransferRow, EventSignatureRow, FunctionSignatureRow, HeadRow, IntentRow, InternalTransactionRow,
    InternalTransactionView, LabelLoadRow, LabelRow, LogRow, LogView, NonceRow, ProxyRow, ScannedInternalTransaction,
    ScannedInternalTransactionView, ScannedTransaction, ScannedTransactionView, StorageRow, TokenBalanceChangeRow,
    TokenBalanceRow, TokenIdBalanceRow, TokenIdChangeRow, TokenRow, TokenStatisticsRow, TokenStepRow, TokenTransferRow,
    TokenTransferView, TransactionByHashRow, TransactionRow, TransactionView, UncleRow, UncleView, VerdictRow,
    WithdrawalRow, WithdrawalView,
};

/// Every table that holds rows of blocks, with its column of the block number.
pub const BLOCK_TABLES: [(&str, &str); 26] = [
    ("blocks", "block_number"),
    ("blocks_by_hash", "block_number"),
    ("transactions", "block_number"),
    ("transactions_by_hash", "block_number"),
    ("logs", "block_number"),
    ("logs_by_block", "block_number"),
    ("withdrawals", "block_number"),
    ("withdrawals_by_block", "block_number"),
    ("uncles", "nephew_block_number"),
    ("internal_transactions", "block_number"),
    ("internal_transactions_by_address", "block_number"),
    ("internal_transactions_by_direction", "block_number"),
    ("token_transfers", "block_number"),
    ("token_transfers_by_direction", "block_number"),
    ("token_transfers_by_token", "block_number"),
    ("token_transfers_by_block", "block_number"),
    ("balance_history", "block_number"),
    ("nonce_history", "block_number"),
    ("code_history", "block_number"),
    ("codes", "block_number"),
    ("storage_history", "block_number"),
    ("account_destructions", "block_number"),
    ("balance_credits", "block_number"),
    ("contracts", "block_number"),
    ("proxy_implementations", "block_number"),
    ("block_verdicts", "block_number"),
];

/// Tables that views fill from other tables of blocks, with their column of the block number. An operator may leave
/// each of them out: reads that would use it then take another path, which is slower, or are refused.
pub const OPTIONAL_TABLES: [(&str, &str); 5] = [
    ("log_topics", "block_number"),
    ("transactions_by_address", "block_number"),
    ("blocks_by_miner", "block_number"),
    ("listed_internal_transactions", "block_number"),
    ("logs_by_topic", "block_number"),
];

/// Optional tables that a new database has only where an operator asks for them.
pub const LEFT_OUT_AT_FIRST: [&str; 1] = ["logs_by_topic"];

/// Tables that views fill from what is worked out over all blocks; an operator may leave each of them out too. What
/// they are filled from is emptied and made again as a whole, so no rows of theirs are of a block.
pub const OPTIONAL_STATISTICS: [&str; 1] = ["token_balances_by_holder"];

/// What holders and supplies of tokens are worked out from, and where they are; all of it follows from transfers.
pub const STATISTICS_TABLES: [&str; 8] = [
    "token_steps",
    "token_balance_changes",
    "token_id_changes",
    "token_balances",
    "token_balances_by_holder",
    "token_id_balances",
    "token_id_holders",
    "token_statistics",
];

/// The names of all tables that an operator may leave out.
pub fn optional_tables() -> impl Iterator<Item = &'static str> {
    OPTIONAL_TABLES.into_iter().map(|(table, _)| table).chain(OPTIONAL_STATISTICS)
}
