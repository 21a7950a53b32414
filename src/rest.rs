//! The REST endpoints under `/api/v2` (docs/reference/rest.md).

pub(crate) mod account_abstraction;
pub(crate) mod activity;
pub(crate) mod addresses;
pub(crate) mod advanced_filters;
pub(crate) mod blocks;
pub(crate) mod contracts;
mod cursor;
pub(crate) mod everything;
mod list;
mod main_page;
mod page;
pub(crate) mod rollups;
mod router;
pub(crate) mod search;
pub(crate) mod stats;
pub(crate) mod tokens;
pub(crate) mod transactions;

pub(crate) use router::router;
