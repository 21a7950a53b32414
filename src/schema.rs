//! Floor 1: the tables of `sql/` as Rust sees them, one file per table.
//!
//! Field names are column names; the tests compare both with the database.

pub mod column;
pub mod columns;
pub mod migrations;

mod blocks;
mod commits;
mod lists;
mod logs;
mod transactions;
mod uncles;
mod withdrawals;

pub use blocks::{BlockByHashRow, BlockRow, BlockView};
pub use column::Column;
pub use columns::{ColumnMismatch, Columns, Table};
pub use commits::{CommitRow, IntentRow};
pub use lists::{AccessListItem, Authorization};
pub use logs::{LogRow, LogView};
pub use transactions::{TransactionByHashRow, TransactionRow, TransactionView};
pub use uncles::{UncleRow, UncleView};
pub use withdrawals::{WithdrawalRow, WithdrawalView};

/// Every table that holds rows of blocks, with the column that says of which block.
pub const BLOCK_TABLES: [(&str, &str); 9] = [
    ("blocks", "block_number"),
    ("blocks_by_hash", "block_number"),
    ("transactions", "block_number"),
    ("transactions_by_hash", "block_number"),
    ("logs", "block_number"),
    ("logs_by_block", "block_number"),
    ("withdrawals", "block_number"),
    ("withdrawals_by_block", "block_number"),
    ("uncles", "nephew_block_number"),
];
