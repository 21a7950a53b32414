//! Wide scans: `/api/v2/logs` and the lists beside it (docs/reference/scans.md). Each has a filter, an answer of any
//! length in one of several formats, and an end mark, without which the answer is incomplete.

mod columns;
mod cursor;
mod decode;
mod end;
mod explain;
mod format;
mod layout;
mod listed;
mod logs;
mod respond;

pub(crate) use listed::{internal_transactions, token_transfers, transactions};
pub(crate) use logs::{get, post};
