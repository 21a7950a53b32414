//! The REST endpoints under `/api/v2` (docs/reference/rest.md).

mod address_counters;
mod address_counts;
mod address_page;
pub(crate) mod addresses;
pub(crate) mod block;
pub(crate) mod blocks;
mod cursor;
pub(crate) mod everything;
mod frame_items;
mod held_tokens;
mod holders;
mod ids_of_holder;
mod ids_of_token;
mod log_items;
mod main_page;
pub(crate) mod mined_blocks;
mod page;
pub(crate) mod params;
mod router;
pub(crate) mod search;
mod smart_contracts;
pub(crate) mod stats;
pub(crate) mod stats_service;
pub(crate) mod summary;
pub(crate) mod token_balances;
pub(crate) mod token_instances;
pub(crate) mod token_lists;
mod tokens;
mod transaction_items;
pub(crate) mod transaction_parts;
pub(crate) mod transactions;
mod transfer_items;
mod uncounted;
mod withdrawals;

pub(crate) use page::json;
pub(crate) use router::router;
