//! Reading the chain through the store: a block or transaction by hash, rows page by page, state, hashes of blocks.

pub(crate) mod addresses;
pub(crate) mod blocks;
pub(crate) mod by_hash;
pub(crate) mod calls;
pub(crate) mod completeness;
pub(crate) mod days;
pub(crate) mod frame_values;
pub(crate) mod log_filter;
pub(crate) mod page_source;
pub(crate) mod range;
pub(crate) mod replay;
pub(crate) mod row_stream;
pub(crate) mod rules;
pub(crate) mod settled;
pub(crate) mod sources;
pub(crate) mod state;
pub(crate) mod tokens;
pub(crate) mod transactions;
pub(crate) mod user_operations;
