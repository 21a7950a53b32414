//! Floor 2: rows become JSON text. The only package that names response fields.
//!
//! Text is written straight from column buffers, without a value tree in between.

pub mod activity;
pub mod address;
pub mod address_counts;
pub mod address_page;
pub mod advanced_filters;
pub mod blocks;
pub mod chain_facts;
pub mod charts;
pub mod coin_balances;
pub mod dates;
pub mod decoded;
pub mod deposits;
pub mod etherscan;
pub mod exports;
pub mod hot_contracts;
pub mod indexing_status;
pub mod internal_transactions;
pub mod known_tokens;
pub mod list;
pub mod logs;
pub mod messages;
pub mod otterscan;
pub mod ranked_addresses;
pub mod raw_trace;
pub mod receipt_proofs;
pub mod same_code;
pub mod scan_rows;
pub mod search;
pub mod signatures;
pub mod smart_contracts;
pub mod state_changes;
pub mod stats;
pub mod summary;
pub mod token_balances;
pub mod token_instances;
pub mod token_prices;
pub mod token_transfers;
pub mod tokens;
pub mod transaction_items;
pub mod transactions;
pub mod verdicts;
pub mod vocabulary;
pub mod web_assets;
pub mod withdrawals;
mod writer;

pub use writer::{Array, JsonWriter, Object};
