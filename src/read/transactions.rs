//! Transactions: by position, by sender and nonce, their encoding, receipts with proofs, and outcomes.

pub(crate) mod at;
pub(crate) mod authority_nonces;
pub(crate) mod encoding;
pub(crate) mod outcomes;
pub(crate) mod receipt_proof;
pub(crate) mod receipt_rows;
pub(crate) mod receipt_trie;
pub(crate) mod sent;
