//! Wide scans: `/api/v2/logs` and the lists beside it (docs/reference/scans.md). A filter, an answer of any length in
//! several formats, and at its end a mark that says that it is whole.

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
