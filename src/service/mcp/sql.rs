//! The tool that runs SQL at the console, under the account that comes with the message.

use axum::body::Body;
use axum::http::Request;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::tools::WrongArgument;
use crate::service::console;

/// What the tool is called.
pub(super) const NAME: &str = "run_sql";

const WHAT: &str = "\
    Runs one read-only statement of ClickHouse SQL, within the limits of the account in the request (Authorization: \
    Basic). Rows are tab-separated, below a header with column names and types. `SHOW TABLES` lists tables and views: \
    begin with the views `v_…`, whose columns `DESCRIBE TABLE` explains; hashes and addresses are bytes. Add a LIMIT; \
    `EXPLAIN ESTIMATE` before a statement tells how much it would read.";

/// As clients list it.
pub(super) fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {"statement": {"type": "string", "description": "The statement, without FORMAT"}},
        "required": ["statement"],
        "additionalProperties": false,
    });
    let Value::Object(schema) = schema else { unreachable!("an object was written") };
    Tool::new(NAME, WHAT, schema).annotate(ToolAnnotations::new().read_only(true))
}

/// The request that runs a statement.
pub(super) fn request(arguments: &JsonObject) -> Result<Request<Body>, WrongArgument> {
    if let Some(unknown) = arguments.keys().find(|name| *name != "statement") {
        return Err(WrongArgument::Unknown(unknown.chars().take(40).collect()));
    }
    let statement = arguments.get("statement").ok_or(WrongArgument::Missing("statement"))?;
    let statement = statement.as_str().ok_or(WrongArgument::Kind("statement", "a text".into()))?;
    let body = Body::from(statement.to_owned());
    let request = Request::post(format!("{}?format=tsv", console::PATH)).body(body);
    request.map_err(|_| WrongArgument::Kind("statement", "a text".into()))
}
