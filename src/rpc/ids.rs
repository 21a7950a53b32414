//! Ids of subscriptions and stored filters.

use std::hash::{BuildHasher, RandomState};

use serde_json::value::RawValue;

use super::protocol::params::value;
use crate::error::Problem;
use crate::http::values::invalid;

/// 128 random bits as a quantity, as ids of subscriptions and filters are on nodes.
pub(super) fn new_id() -> String {
    let random = || RandomState::new().hash_one(0);
    format!("0x{:016x}{:016x}", random() | 1 << 63, random())
}

/// The id of a stored filter in a parameter.
///
/// # Errors
///
/// When it is no text.
pub(super) fn read_id(param: &RawValue) -> Result<String, Problem> {
    value(param).as_str().map(str::to_owned).ok_or_else(|| invalid("Invalid filter id"))
}
