//! The time that rows of bookkeeping carry.

use std::time::{SystemTime, UNIX_EPOCH};

use trawl_core::primitives::Timestamp;

/// The time of this machine.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
