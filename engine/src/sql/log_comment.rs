//! The setting `log_comment`, by which a statement is found among those in progress.
//!
//! libchdb gives every query an id of its own, so the client's id and a number of this program travel in `log_comment`, in
//! front of the client's own comment. Cancelling goes by number: an id is the client's choice, and another client may
//! choose the same.

/// First line of the `log_comment` of every statement, up to its number.
const NUMBER: &str = "trawl-engine:";
/// Second line, up to the client's id.
const QUERY_ID: &str = "query_id:";

/// The whole comment; `comment` is the client's own.
#[must_use]
pub fn written(number: u64, query_id: &str, comment: &str) -> String {
    let id = query_id.replace(['\n', '\0'], " ");
    format!("{}{QUERY_ID}{id}\n{comment}", prefix(number))
}

/// How the `log_comment` of statement `number` starts.
#[must_use]
pub fn prefix(number: u64) -> String {
    format!("{NUMBER}{number}\n")
}

/// How the `log_comment` of every statement starts that came over HTTP.
pub const ANY: &str = NUMBER;

/// An SQL expression: the id that a query's client gave, or libchdb's own.
#[must_use]
pub fn client_query_id() -> String {
    format!(
        "if(startsWith(Settings['log_comment'], '{NUMBER}'), \
         extract(Settings['log_comment'], '^{NUMBER}[0-9]+\\\\n{QUERY_ID}([^\\\\n]*)'), query_id)"
    )
}
