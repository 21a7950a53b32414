//! The plan of a scan: in one line, and as the database explains it.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::Problem;
use crate::read::page_source::PageSource;
use crate::read::row_stream::UNLIMITED_ROWS;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;
use trawl_query::logs::topics::FIRST_POSITIONS;

columns! {
    /// A line of the output of EXPLAIN.
    pub struct ExplainLine / ExplainLineView {
        /// The line, indented by its depth.
        explain: String,
    }
}

columns! {
    /// How much a statement reads of a table, by EXPLAIN ESTIMATE.
    pub struct EstimateRow / EstimateView {
        /// Name of the table without its database.
        table: String,
        /// The number of parts.
        parts: u64,
        /// Rows in the granules that the key and the indexes do not exclude.
        rows: u64,
        /// The number of these granules.
        marks: u64,
    }
}

columns! {
    /// The average width of the rows of a table.
    pub struct WidthRow / WidthView {
        /// Name of the table without its database.
        name: String,
        /// Uncompressed bytes of a row.
        width: u64,
    }
}

/// Answers with the plan, the statement with its parameters (the ends of the key ranges), the output of EXPLAIN, and
/// the most rows and bytes that would be read.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn explain<P: PageSource>(
    app: &App,
    whole: Option<P>,
    limit: Option<u64>,
) -> Result<Response, Problem> {
    let Some(mut whole) = whole else { return Ok(axum::Json(json!({"plan": null})).into_response()) };
    whole.set_limit(limit.unwrap_or(UNLIMITED_ROWS));
    let (page, _) = whole.part(app, FIRST_POSITIONS).await?;
    let statement = page.statement();
    let lines: Vec<ExplainLine> = app.reader().rows(&about("EXPLAIN indexes = 1", &statement)).await?;
    let estimates: Vec<EstimateRow> = app.reader().rows(&about("EXPLAIN ESTIMATE", &statement)).await?;
    let widths: Vec<WidthRow> =
        app.reader().rows_of_every_shard(Statement::page(include_str!("../../sql/queries/row_widths.sql"))).await?;
    let width = |table: &str| widths.iter().find(|row| row.name == table).map_or(0, |row| row.width);
    let reads: Vec<Value> = estimates
        .iter()
        .map(|row| {
            let bytes = row.rows.saturating_mul(width(&row.table));
            json!({"table": row.table, "parts": row.parts, "granules": row.marks, "rows": row.rows, "bytes": bytes})
        })
        .collect();
    let parameters: Map<String, Value> =
        statement.parameters.iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
    Ok(axum::Json(json!({
        "plan": page.plan(),
        "sql": statement.sql,
        "parameters": parameters,
        "reads": reads,
        "explain": lines.into_iter().map(|line| line.explain).collect::<Vec<_>>(),
    }))
    .into_response())
}

/// An EXPLAIN of a statement, with its parameters. It is planned as a page is; that of the scan may have fewer steps.
fn about<Q, R>(kind: &str, statement: &Statement<Q>) -> Statement<R> {
    let mut explained = Statement::page(format!("{kind}\n{}", statement.sql));
    explained.parameters.clone_from(&statement.parameters);
    explained
}

/// The header that requests the plan, and that carries it in the answer.
const PLAN: HeaderName = HeaderName::from_static("x-trawl-plan");

/// The plan of the first part in one line, if the request has the header.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn plan<P: PageSource>(
    app: &App,
    headers: &HeaderMap,
    page: Option<&P>,
) -> Result<Option<HeaderValue>, Problem> {
    if !headers.contains_key(PLAN) {
        return Ok(None);
    }
    let plan = match page {
        Some(page) => page.part(app, FIRST_POSITIONS).await?.0.plan(),
        None => "nothing to read".into(),
    };
    Ok(HeaderValue::from_str(&plan).ok())
}

/// Adds the plan header to a response.
pub(super) fn with_plan(mut response: Response, plan: Option<HeaderValue>) -> Response {
    if let Some(plan) = plan {
        response.headers_mut().insert(PLAN, plan);
    }
    response
}
