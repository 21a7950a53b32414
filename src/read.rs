//! Reading the chain through the store: a block or transaction by hash, rows page by page, state, hashes of blocks.

mod block_encoding;
pub(crate) mod block_hashes;
pub(crate) mod block_times;
pub(crate) mod by_hash;
pub(crate) mod completeness;
pub(crate) mod days;
pub(crate) mod frame_values;
pub(crate) mod newest_state;
pub(crate) mod outcomes;
pub(crate) mod page_source;
pub(crate) mod range;
mod receipt_proof;
mod receipt_rows;
mod receipt_trie;
pub(crate) mod row_stream;
pub(crate) mod settled;
pub(crate) mod state;
mod transaction_encoding;
pub(crate) mod transactions_at;
mod uncle_headers;
mod whole_state;
