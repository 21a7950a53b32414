//! Blocks: their hashes, times, encoding and uncles.

pub(crate) mod encoding;
pub(crate) mod hashes;
pub(crate) mod miners;
pub(crate) mod recent;
pub(crate) mod times;
pub(crate) mod uncle_headers;
