//! Blocks: their hashes, times, encoding, fees, uncles and withdrawals.

pub(crate) mod blob_price;
pub(crate) mod encoding;
pub(crate) mod fee_rule;
pub(crate) mod hashes;
pub(crate) mod miners;
pub(crate) mod recent;
pub(crate) mod times;
pub(crate) mod uncle_headers;
pub(crate) mod withdrawals;
