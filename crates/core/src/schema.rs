//! Floor 1: the tables of `sql/` as Rust sees them, one file per noun.
//!
//! Field names are column names; the tests compare both with the database.

pub mod block_part;
pub mod column;
pub mod columns;
pub mod comments;
pub mod migrations;

pub mod analysts;
pub mod event_view;
mod event_views;
pub mod hot;
mod lists;
mod nested;
pub mod optional_tables;
pub mod packed;
pub mod reader_account;
pub mod replication;
mod rows;
pub mod settings;
pub mod sharding;
pub mod text_views;

pub use block_part::BlockPart;
pub use column::Column;
pub use columns::{ColumnMismatch, Columns, Table};
pub use lists::{
    AccessListItem, Authorization, NotCheckable, PackedBlock, ReplacedCommit, ReportedProblem, Reward, Segment,
    TableRows,
};
pub use optional_tables::{OptionalTable, OptionalTables};
pub use rows::{
    AbiEntryRow, AccountFrame, AccountFrameView, AddressInternalTransactionRow, AddressInternalTransactionView,
    BalanceRow, BlockByHashRow, BlockRow, BlockTokenTransferRow, BlockTokenTransferView, BlockView, CodeChangeRow,
    CodeRow, CommitRow, ContractRow, ContractSourceRow, CreditRow, DestructionRow, DirectedInternalTransactionRow,
    DirectedTokenTransferRow, EventSignatureRow, FunctionSignatureRow, HeadRow, IntentRow, InternalTransactionRow,
    InternalTransactionView, LabelLoadRow, LabelRow, LogRow, LogView, NonceRow, ProxyRow, ScannedInternalTransaction,
    ScannedInternalTransactionView, ScannedTransaction, ScannedTransactionView, SourceContentRow, StorageRow,
    TokenBalanceChangeRow, TokenBalanceRow, TokenIdBalanceRow, TokenIdChangeRow, TokenRow, TokenStatisticsRow,
    TokenStepRow, TokenTransferRow, TokenTransferView, TransactionByHashRow, TransactionRow, TransactionTotalsRow,
    TransactionView, UncleRow, UncleView, VerdictRow, WithdrawalRow, WithdrawalView,
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

/// The optional tables that hold rows of blocks, with their column of the block number.
pub const OPTIONAL_TABLES: [(&str, &str); 5] = [
    (OptionalTable::LogTopics.name(), "block_number"),
    (OptionalTable::TransactionsByAddress.name(), "block_number"),
    (OptionalTable::BlocksByMiner.name(), "block_number"),
    (OptionalTable::ListedInternalTransactions.name(), "block_number"),
    (OptionalTable::LogsByTopic.name(), "block_number"),
];

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
