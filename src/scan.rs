//! Wide scans: `/api/v2/scan/logs` and the lists beside it (docs/reference/scans.md). Each has a filter, an answer of
//! any length in one of several formats, and an end mark, without which the answer is incomplete.

mod columns;
mod cursor;
mod decode;
mod end;
mod explain;
pub(crate) mod exports;
mod format;
mod layout;
mod listed;
mod logs;
mod metadata;
mod respond;

use crate::error::Problem;

/// A scan says where it begins: from the head, as `eth_getLogs` means it, an empty answer would look as if nothing were
/// there.
fn without_from_block() -> Problem {
    Problem::invalid_parameter("fromBlock", "Missing field: fromBlock (a height, or `latest`)")
}

pub(crate) use listed::rows;
pub(crate) use logs::{get, post};
