//! The handler before PostgreSQL: what one would write first, with a pool, prepared statements, rows that are streamed
//! and JSON by serde.

use std::pin::pin;

use anyhow::Context as _;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::{NoTls, Row, RowStream};

mod log;
mod transfer;

/// Connections of the pool.
const CONNECTIONS: usize = 32;
/// A piece of an answer.
const PIECE: usize = 64 << 10;

/// Serves until the process is ended.
pub fn serve(address: &str) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.parse()?, NoTls, manager);
        let pool = Pool::builder(manager).max_size(CONNECTIONS).build()?;
        let router = Router::new()
            .route("/api/eth-rpc", post(all_logs))
            .route("/api/eth-rpc/{limit}", post(some_logs))
            .route("/api/v2/addresses/{hash}/token-transfers", get(token_transfers))
            .with_state(pool);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Without, small answers wait for the other side.
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await.context("cannot serve")
    })
}

/// An error, which a measurement reports in full.
struct Failure(anyhow::Error);

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, format!("{:#}", self.0)).into_response()
    }
}

/// `0x` and digits, as a text of its own.
fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

fn bytes(text: &str) -> anyhow::Result<Vec<u8>> {
    const_hex::decode(text).with_context(|| format!("{text} is no hexadecimal number"))
}

fn json(body: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.into()).into_response()
}

async fn all_logs(pool: State<Pool>, request: Json<Value>) -> Result<Response, Failure> {
    logs(&pool, &request, None).await
}

async fn some_logs(pool: State<Pool>, limit: Path<i64>, request: Json<Value>) -> Result<Response, Failure> {
    logs(&pool, &request, Some(*limit)).await
}

/// eth_getLogs with one address, or one topic, and a range of blocks.
async fn logs(pool: &Pool, request: &Value, limit: Option<i64>) -> Result<Response, Failure> {
    let filter = &request["params"][0];
    let block = |name: &str| -> anyhow::Result<i64> {
        let text = filter[name].as_str().context("blocks are named by number")?;
        Ok(i64::from_str_radix(text.trim_start_matches("0x"), 16)?)
    };
    let (column, value) = match filter["address"].as_str() {
        Some(address) => ("address".to_owned(), address),
        None => {
            let topics = filter["topics"].as_array().context("an address or topics")?;
            let cursor = topics.iter().position(|topic| !topic.is_null()).context("a topic")?;
            (format!("topic{cursor}"), topics[cursor].as_str().context("one topic")?)
        }
    };
    // A statement of its own where there is no cap, since plans are cached by statement.
    let cap = if limit.is_some() { "LIMIT $4" } else { "" };
    let sql = format!(
        "SELECT address, topic0, topic1, topic2, topic3, data, block_number, transaction_hash, transaction_index, block_hash, \
         block_timestamp, log_index FROM logs WHERE {column} = $1 AND block_number BETWEEN $2 AND $3 \
         ORDER BY block_number, log_index {cap}"
    );
    let client = pool.get().await?;
    let statement = client.prepare_cached(&sql).await?;
    let (value, from, to) = (bytes(value)?, block("fromBlock")?, block("toBlock")?);
    let mut parameters: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> = vec![&value, &from, &to];
    if let Some(limit) = &limit {
        parameters.push(limit);
    }
    let rows = client.query_raw(&statement, parameters).await?;
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    tokio::spawn(async move {
        if let Err(error) = stream_logs(rows, &sender).await {
            // Breaks the answer off, which the client notices.
            let _ = sender.send(Err(std::io::Error::other(error))).await;
        }
        drop(client);
    });
    Ok(json(Body::from_stream(tokio_stream::wrappers::ReceiverStream::new(receiver))))
}

async fn stream_logs(
    rows: RowStream,
    sender: &tokio::sync::mpsc::Sender<Result<Bytes, std::io::Error>>,
) -> anyhow::Result<()> {
    let mut rows = pin!(rows);
    let mut text = br#"{"jsonrpc":"2.0","id":1,"result":["#.to_vec();
    let mut is_first = true;
    while let Some(row) = rows.try_next().await? {
        if !std::mem::take(&mut is_first) {
            text.push(b',');
        }
        serde_json::to_writer(&mut text, &log::Log::read(&row)?)?;
        if text.len() > PIECE {
            sender.send(Ok(std::mem::replace(&mut text, Vec::with_capacity(PIECE + 4096)).into())).await?;
        }
    }
    text.extend_from_slice(b"]}");
    sender.send(Ok(text.into())).await?;
    Ok(())
}

/// Where a page of token transfers goes on.
#[derive(Debug, Deserialize)]
struct TransferCursor {
    block_number: Option<i64>,
    index: Option<i32>,
}

#[derive(Debug, Serialize)]
struct Page {
    items: Vec<transfer::Transfer>,
    next_page_params: Option<Next>,
}

#[derive(Debug, Serialize)]
struct Next {
    block_number: i64,
    index: i32,
    items_count: usize,
}

/// The page of 50 behind a position, newest first.
async fn token_transfers(
    State(pool): State<Pool>,
    Path(address): Path<String>,
    Query(cursor): Query<TransferCursor>,
) -> Result<Response, Failure> {
    const SIZE: usize = 50;
    let client = pool.get().await?;
    let statement = client.prepare_cached(transfer::PAGE).await?;
    let (block, index) = (cursor.block_number.unwrap_or(i64::MAX), cursor.index.unwrap_or(0));
    let address = bytes(&address)?;
    let parameters: [&(dyn tokio_postgres::types::ToSql + Sync); 3] = [&address, &block, &index];
    let rows: Vec<Row> = client.query_raw(&statement, parameters).await?.try_collect().await?;
    let last = rows.get(SIZE - 1).filter(|_| rows.len() > SIZE);
    let next =
        last.map(|row| Next { block_number: row.get("block_number"), index: row.get("log_index"), items_count: SIZE });
    let items: anyhow::Result<Vec<_>> = rows.iter().take(SIZE).map(transfer::Transfer::read).collect();
    Ok(json(serde_json::to_vec(&Page { items: items?, next_page_params: next })?))
}
