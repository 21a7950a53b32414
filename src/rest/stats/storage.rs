//! `/api/v2/stats/storage`: what ClickHouse stores and what room it has, for operators.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters};
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::StoreError;
use trawl_query::stats::storage::{DiskSpace, TableParts, disks, memory, server, tables};

/// Blocks, tables, disks and memory (docs/reference/http-contract.md#storage). What the account may not read is null.
pub(super) async fn storage(State(app): State<App>, _: Parameters<NoParameters>) -> Result<Json<Value>, Problem> {
    let (reader, server) = (app.reader(), server());
    let (server, tables, disks, memory) = tokio::join!(
        reader.rows(&server),
        reader.rows_of_every_shard(tables()),
        if_allowed(&app, disks()),
        if_allowed(&app, memory()),
    );
    let (server, tables) = (server?.pop(), of_account(tables)?);
    let body = json!({
        "blocks": blocks(&app),
        "clickhouse": {
            "version": server.as_ref().map(|server| &server.version),
            "uptime_seconds": server.as_ref().map(|server| server.uptime_seconds),
            "memory_bytes": memory?.and_then(|rows| Some(rows.first()?.allocated_bytes)),
        },
        "tables": tables.map(|tables| tables.iter().map(table).collect::<Vec<_>>()),
        "disks": disks?.map(|disks| disks.iter().map(disk).collect::<Vec<_>>()),
    });
    Ok(Json(body))
}

/// Where the blocks are: those that no reorganisation changes any more are settled.
fn blocks(app: &App) -> Value {
    let Ok(head) = app.known_head() else { return Value::Null };
    let unsettled: u64 = head.blocks.unsettled().iter().map(|range| range.blocks.count()).sum();
    json!({
        "newest": head.number(),
        "newest_settled": head.blocks.span().only_settled().highest(),
        "unsettled": unsettled,
        "in_memory": head.in_memory.len(),
        "in_memory_bytes": head.in_memory.size_bytes(),
    })
}

fn table(table: &TableParts) -> Value {
    json!({"name": table.table, "rows": table.rows, "bytes_on_disk": table.bytes_on_disk, "parts": table.parts})
}

fn disk(disk: &DiskSpace) -> Value {
    json!({"name": disk.name, "free_bytes": disk.free_bytes, "total_bytes": disk.total_bytes})
}

/// The rows of a statement, if the account may send it.
async fn if_allowed<R: Columns>(app: &App, statement: Statement<R>) -> Result<Option<Vec<R>>, Problem> {
    of_account(app.reader().rows(&statement).await)
}

fn of_account<R>(rows: Result<Vec<R>, StoreError>) -> Result<Option<Vec<R>>, Problem> {
    match rows {
        Ok(rows) => Ok(Some(rows)),
        Err(StoreError::NotAllowed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
