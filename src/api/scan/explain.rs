//! What a scan of logs would read: the plan in a line, and what the engine makes of it.

use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::api::paged::Paged;
use crate::api::{App, Problem};
use crate::primitives::Span;
use crate::query::logs::{LogPage, LogPlan};
use crate::query::topics::FIRST_PLACES;
use crate::schema::LogRow;
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// A line of EXPLAIN.
    pub struct ExplainLine / ExplainLineView {
        /// Its text.
        explain: String,
    }
}

columns! {
    /// What a statement reads of a table, by EXPLAIN ESTIMATE.
    pub struct EstimateRow / EstimateView {
        /// The table.
        table: String,
        /// Parts of it.
        parts: u64,
        /// Rows of the granules that the key and the indexes leave.
        rows: u64,
        /// Those granules.
        marks: u64,
    }
}

columns! {
    /// How wide the rows of a table are.
    pub struct WidthRow / WidthView {
        /// The table.
        name: String,
        /// Bytes, uncompressed.
        width: u64,
    }
}

/// What would be read, as the engine plans it: the plan, the statement with its parameters, which are the ends of the key
/// ranges, and rows and bytes at most.
pub(super) async fn explain(app: &App, whole: Option<&LogPage>) -> Result<Response, Problem> {
    let Some(whole) = whole else { return Ok(axum::Json(json!({"plan": null})).into_response()) };
    let (page, _) = whole.part(app, FIRST_PLACES).await?;
    let statement = page.statement();
    let lines: Vec<ExplainLine> = app.reader().rows(&about("EXPLAIN indexes = 1", &statement)).await?;
    let estimates: Vec<EstimateRow> = app.reader().rows(&about("EXPLAIN ESTIMATE", &statement)).await?;
    let widths: Vec<WidthRow> =
        app.reader().rows(&Statement::page(include_str!("../../../sql/queries/row_widths.sql"))).await?;
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
        "plan": describe(&page),
        "sql": statement.sql,
        "parameters": parameters,
        "reads": reads,
        "explain": lines.into_iter().map(|line| line.explain).collect::<Vec<_>>(),
    }))
    .into_response())
}

/// A question about a statement.
fn about<R>(question: &str, statement: &Statement<LogRow>) -> Statement<R> {
    let mut asked = Statement::page(format!("{question}\n{}", statement.sql));
    asked.parameters.clone_from(&statement.parameters);
    asked
}

/// Which table is read, and how much of it, in one line.
pub(super) fn describe(page: &LogPage) -> String {
    let (table, blocks, addresses) = match &page.plan {
        LogPlan::ByAddress { addresses, blocks } => ("logs", blocks, addresses.len()),
        LogPlan::ByBlock { addresses, blocks } => ("logs_by_block", blocks, addresses.len()),
        LogPlan::ByTopic { key, addresses, blocks } => {
            let settled = ranges(blocks);
            return format!(
                "table=log_topics,logs_by_block topic{}={} addresses={} {settled}",
                key.position,
                key.topics.len(),
                addresses.len()
            );
        }
    };
    format!("table={table} addresses={addresses} {}", ranges(blocks))
}

fn ranges(blocks: &Span) -> String {
    let settled: Vec<String> = blocks.settled.iter().map(ToString::to_string).collect();
    let hot: Vec<String> = blocks.hot.iter().map(|range| range.blocks.to_string()).collect();
    format!("settled={} hot={}", settled.join(","), hot.join(","))
}
