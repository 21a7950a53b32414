//! The setting `log_comment`, by which a statement is found among those in progress.
//!
//! libchdb gives every query an id of its own, so the client's id and a number of this program travel in `log_comment`,
//! in front of the client's own comment. Cancelling goes by number: an id is the client's choice, and another client
//! may choose the same.

/// First line of the `log_comment` of every statement, up to its number.
const NUMBER: &str = "trawl-engine:";
/// Second line, up to the client's id.
const QUERY_ID: &str = "query_id:";

/// The line after these of a statement whose user may see only its own in the log, up to the name.
const USER: &str = "user:";

/// The whole comment; `comment` is the client's own. `reader` is the user, if it may see only its own statements.
#[must_use]
pub fn written(number: u64, query_id: &str, reader: Option<&str>, comment: &str) -> String {
    let id = query_id.replace(['\n', '\0'], " ");
    format!("{}{QUERY_ID}{id}\n{}{comment}", prefix(number), user(reader))
}

/// A user's line. A name that could be two lines is none, and sees nothing.
fn user(reader: Option<&str>) -> String {
    let name = reader.filter(|name| !name.contains(['\n', '\0']));
    name.map(|name| format!("{USER}{name}\n")).unwrap_or_default()
}

/// An SQL expression: the user that the SQL expression `comment`, a whole comment, has; empty for the owner.
#[must_use]
pub fn user_of(comment: &str) -> String {
    let id = format!("(?:{QUERY_ID}[^\\\\n]*\\\\n)?");
    format!("extract({comment}, '^{NUMBER}[0-9]+\\\\n{id}{USER}([^\\\\n]*)\\\\n')")
}

/// An SQL expression: the comment of the statement that it is part of.
pub const THIS: &str = "getSetting('log_comment')";
/// An SQL expression: the comment of a row of `system.processes`.
pub const OF_PROCESS: &str = "Settings['log_comment']";

/// How the `log_comment` of statement `number` starts.
#[must_use]
pub fn prefix(number: u64) -> String {
    format!("{NUMBER}{number}\n")
}

/// How the `log_comment` of every statement starts that came over HTTP.
pub const ANY: &str = NUMBER;

/// The whole comment of the statements of a pooled connection: their ids are elsewhere.
#[must_use]
pub fn of_pooled(number: u64, reader: Option<&str>) -> String {
    prefix(number) + &user(reader)
}

/// An SQL expression: the id that a query's client gave, or libchdb's own. `pooled` has the numbers of pooled
/// connections and the ids of their statements.
#[must_use]
pub fn client_query_id(pooled: &[(u64, String)]) -> String {
    let id = format!("extract(Settings['log_comment'], '^{NUMBER}[0-9]+\\\\n{QUERY_ID}([^\\\\n]*)')");
    let id = if pooled.is_empty() { id } else { among(pooled, &id) };
    format!("if(startsWith(Settings['log_comment'], '{NUMBER}'), {id}, query_id)")
}

/// The id that `pooled` has for a statement's number, or else `other`.
fn among(pooled: &[(u64, String)], other: &str) -> String {
    let numbers: Vec<String> = pooled.iter().map(|(number, _)| format!("'{number}'")).collect();
    let ids: Vec<String> =
        pooled.iter().map(|(_, id)| format!("'{}'", id.replace('\\', "\\\\").replace('\'', "\\'"))).collect();
    let (numbers, ids) = (numbers.join(", "), ids.join(", "));
    format!("transform(extract(Settings['log_comment'], '^{NUMBER}([0-9]+)'), [{numbers}], [{ids}], {other})")
}
