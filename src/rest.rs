//! The REST endpoints under `/api/v2` (docs/reference/rest.md).

mod address_counters;
mod address_counts;
mod address_page;
pub(crate) mod addresses;
pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod coin_balances;
mod coin_changes;
mod coin_moves;
mod cursor;
pub(crate) mod everything;
mod frame_items;
mod held_tokens;
mod holders;
mod log_items;
mod main_page;
mod page;
pub(crate) mod params;
mod router;
pub(crate) mod search;
mod smart_contracts;
mod state_change_cursor;
pub(crate) mod state_changes;
pub(crate) mod stats;
pub(crate) mod stats_service;
pub(crate) mod summary;
pub(crate) mod token_balances;
pub(crate) mod token_lists;
mod tokens;
mod transaction_items;
pub(crate) mod transaction_parts;
pub(crate) mod transactions;
mod transfer_items;
mod withdrawals;

pub(crate) use page::json;
pub(crate) use router::router;
