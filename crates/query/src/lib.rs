//! Floor 2: filters become plans, plans become statements. Pure: no I/O, no clock.
//!
//! Every list plan pins or bounds the leading key column, so a full scan cannot be expressed.

pub mod account;
pub mod address_counters;
pub mod address_page;
pub mod address_ranking;
pub mod addresses;
pub mod blocks;
pub mod charts;
pub mod coin_balances;
pub mod days;
pub mod fees;
pub mod hot_contracts;
pub mod internal_transactions;
pub mod labels;
pub mod logs;
pub mod miners;
pub mod participation;
pub mod ran_code;
pub mod receipts;
pub mod reorged;
pub mod scan;
pub mod search;
mod select;
pub mod sorted_transactions;
pub mod state;
pub mod token_balances;
pub mod token_holders;
pub mod token_ids;
pub mod token_ranking;
pub mod token_transfers;
pub mod tokens;
pub mod topics;
pub mod transaction_positions;
pub mod transactions;
pub mod uncles;
pub mod verdicts;
pub mod verified_contracts;
pub mod walk;
pub mod whole_state;
pub mod withdrawals;
