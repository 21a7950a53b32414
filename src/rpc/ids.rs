//! Ids of subscriptions and stored filters.

use std::hash::{BuildHasher, RandomState};

/// 128 random bits as a quantity, as ids of subscriptions and filters are on nodes.
pub(super) fn new_id() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("0x{:016x}{:016x}", random() | 1 << 63, random())
}
