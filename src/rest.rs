//! The REST endpoints under `/api/v2` (docs/reference/rest.md).

pub(crate) mod addresses;
pub(crate) mod blocks;
mod cursor;
mod page;
pub(crate) mod params;
mod router;
pub(crate) mod summary;
mod transaction_items;
pub(crate) mod transactions;
mod withdrawals;

pub(crate) use page::json;
pub(crate) use router::router;
