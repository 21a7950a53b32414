//! Wide scans: `GET` and `POST /api/v2/logs`, and the lists beside it. A filter, an answer of any length in several
//! formats, and at its end a mark that says that it is whole.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{RawQuery, State};
use axum::http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::InvalidParameter;
use crate::error::Problem;
use crate::http::body::BodySender;
use crate::http::body::Broken;
use crate::http::body::body;
use crate::log_filter::Request;
use crate::read::page_source::Paged;
use crate::read::row_stream::LogStream;
use crate::read::row_stream::RowStream;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, LogPosition, Position};
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::decoded::EventColumns;

mod columns;
mod cursor;
mod decode;
mod explain;
mod format;
mod layout;
mod listed;

use cursor::Cursor;
use decode::EventLogs;
use format::{Encoder, Format};
use layout::{Layout, Logs};
pub(crate) use listed::{internal_transactions, token_transfers, transactions};

/// Names the filter in cursors.
const FILTER: HeaderName = HeaderName::from_static("x-trawl-filter");

/// A scan whose filter is in the query.
pub(crate) async fn get(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut options = Options::read(query.as_deref().unwrap_or_default(), &headers)?;
    let filter = std::mem::take(&mut options.filter);
    answer(app, Value::Object(filter), options, &headers).await
}

/// A scan whose filter is the body; what the answer shall be like is in the query.
pub(crate) async fn post(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    filter: Bytes,
) -> Result<Response, Problem> {
    let options = Options::read(query.as_deref().unwrap_or_default(), &headers)?;
    if let Some(name) = options.filter.keys().next() {
        return Err(invalid(name, "belongs into the body"));
    }
    let filter = serde_json::from_slice(&filter).map_err(|_| invalid("body", "is not JSON"))?;
    answer(app, filter, options, &headers).await
}

fn invalid(name: &str, detail: &str) -> Problem {
    Problem::Invalid(vec![InvalidParameter { name: name.into(), detail: detail.into() }])
}

/// What the answer shall be like.
struct Options {
    format: Format,
    cursor: Option<Cursor<LogPosition>>,
    limit: Option<u64>,
    explain: bool,
    /// An event whose parameters get columns of their own.
    decode: Option<EventColumns>,
    /// Members of the filter.
    filter: Map<String, Value>,
}

impl Options {
    fn read(query: &str, headers: &HeaderMap) -> Result<Self, Problem> {
        let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let mut read = Self {
            format: Format::accepted(accepted),
            cursor: None,
            limit: None,
            explain: false,
            decode: None,
            filter: Map::new(),
        };
        let mut topics = [const { Value::Null }; 4];
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "format" => read.format = format_named(&value)?,
                "cursor" => {
                    read.cursor = Some(Cursor::read(&value).ok_or_else(|| invalid("cursor", "is no cursor"))?);
                }
                "limit" => read.limit = Some(value.parse().map_err(|_| invalid("limit", "is no number"))?),
                "decode" => read.decode = Some(decode::event(&value)?),
                "explain" => read.explain = matches!(&*value, "1" | "true"),
                "address" => drop(read.filter.insert("address".into(), alternatives(&value))),
                "topic0" | "topic1" | "topic2" | "topic3" => {
                    topics[usize::from(name.as_bytes()[5] - b'0')] = alternatives(&value);
                }
                "fromBlock" | "toBlock" => {
                    let height = value.parse::<u64>().map_or_else(|_| Value::from(&*value), Value::from);
                    read.filter.insert(name.into_owned(), height);
                }
                "blockHash" => drop(read.filter.insert("blockHash".into(), Value::from(&*value))),
                "apikey" | "key" => {}
                other => return Err(invalid(other, &format!("Unexpected field: {other}"))),
            }
        }
        if let Some(last) = topics.iter().rposition(|topic| !topic.is_null()) {
            read.filter.insert("topics".into(), json!(topics[..=last]));
        }
        Ok(read)
    }
}

fn format_named(name: &str) -> Result<Format, Problem> {
    Format::named(name).ok_or_else(|| invalid("format", "is one of json, ndjson, csv, arrow, parquet"))
}

/// Values separated by commas, any of which will do.
fn alternatives(text: &str) -> Value {
    text.split(',').map(Value::from).collect()
}

async fn answer(app: App, filter: Value, options: Options, headers: &HeaderMap) -> Result<Response, Problem> {
    // The texts are those of eth_getLogs; here they are about REST parameters.
    let as_rest = |problem| match problem {
        Problem::InvalidParams(text) => invalid("filter", &text),
        other => other,
    };
    let filter = match &options.decode {
        Some(event) => decode::narrowed(filter, event),
        None => filter,
    };
    let request = Request::read(&filter).map_err(as_rest)?;
    let head = app.head()?;
    let scope = request.scope(&app, &head).await.map_err(as_rest)?;
    let fingerprint = cursor::fingerprint(&request);
    if let Some(cursor) = &options.cursor {
        cursor.require(&app, &head, fingerprint).await?;
    }
    let after = options.cursor.as_ref().map(|cursor| cursor.position).or(request.after());
    let page = scope.page(&request).map(|page| page.after(after));
    if options.explain {
        return explain::explain(&app, page, options.limit).await;
    }
    let plan = explain::plan(&app, headers, page.as_ref()).await?;
    let end = End::new(&app, &head, scope.range(), scope.missing()).await?;
    let stream = match page {
        Some(page) => Some(LogStream::open(&app, page, options.limit).await?),
        None => None,
    };
    let response = match options.decode {
        Some(event) => respond(stream, options.format, EventLogs(event), end, fingerprint),
        None => respond(stream, options.format, Logs, end, fingerprint),
    };
    Ok(explain::told(response, plan))
}

/// An answer that is written while its rows are read.
fn respond<P: Paged, L: Layout<Row = P::Row>>(
    stream: Option<RowStream<P>>,
    format: Format,
    layout: L,
    end: End,
    fingerprint: u64,
) -> Response {
    let stem = layout.stem();
    let encoder = Encoder::new(format, layout);
    let written = body(move |sender| async move {
        if let Err(Broken::Problem(problem)) = write(stream, encoder, end, fingerprint, &sender).await {
            sender.abort(&problem).await;
        }
    });
    let mut response = ([(CONTENT_TYPE, HeaderValue::from_static(format.media_type()))], written).into_response();
    let answered = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&format!("{fingerprint:016x}")) {
        answered.insert(FILTER, value);
    }
    let file = format.ending().map(|ending| format!("attachment; filename=\"{stem}.{ending}\""));
    if let Some(Ok(value)) = file.map(|file| HeaderValue::from_str(&file)) {
        answered.insert(CONTENT_DISPOSITION, value);
    }
    response
}

async fn write<P: Paged, L: Layout<Row = P::Row>>(
    stream: Option<RowStream<P>>,
    mut encoder: Encoder<L>,
    mut end: End,
    fingerprint: u64,
    sender: &BodySender,
) -> Result<(), Broken> {
    let mut out = JsonWriter::new();
    encoder.begin(&end, &mut out)?;
    if let Some(mut stream) = stream {
        while let Some(batch) = stream.next().await? {
            encoder.layout().prepare(&batch).await?;
            end.count::<P, L>(&batch, encoder.layout(), fingerprint);
            if let Some(message) = encoder.message(&batch) {
                sender.flush(&mut out).await?;
                sender.send(message).await?;
                continue;
            }
            for first in (0..batch.len()).step_by(encoder.rows_at_once()) {
                encoder.rows(&batch, first..batch.len().min(first + encoder.rows_at_once()), &mut out)?;
                sender.flush_if_full(&mut out).await?;
            }
        }
    }
    encoder.end(&end, &mut out)?;
    sender.flush(&mut out).await?;
    Ok(())
}

/// What an answer says of itself when it is whole.
#[derive(Debug, Clone)]
struct End {
    from_block: Option<BlockNumber>,
    to_block: Option<BlockNumber>,
    head_block: Option<BlockNumber>,
    head_hash: Option<B256>,
    /// Ranges of blocks in the range asked for that are not indexed (`--gaps serve`).
    missing: Vec<(BlockNumber, BlockNumber)>,
    rows: u64,
    first: Option<BlockNumber>,
    last: Option<BlockNumber>,
    /// The place behind the last row, as text.
    cursor: Option<String>,
}

impl End {
    /// Of an answer about `range`, of which some blocks may be missing.
    async fn new(
        app: &App,
        head: &Arc<Head>,
        range: Option<BlockRange>,
        missing: &[BlockRange],
    ) -> Result<Self, Problem> {
        let head_block = head.number();
        let head_hash = match head_block {
            Some(number) => app.block_at(number, head).await?.map(|batch| B256::from(batch.view().hash.bytes(0))),
            None => None,
        };
        Ok(Self {
            from_block: range.map(|range| range.first()),
            to_block: range.map(|range| range.last()),
            head_block,
            head_hash,
            missing: missing.iter().map(|range| (range.first(), range.last())).collect(),
            rows: 0,
            first: None,
            last: None,
            cursor: None,
        })
    }

    fn count<P: Paged, L: Layout<Row = P::Row>>(&mut self, batch: &Batch<P::Row>, layout: &L, fingerprint: u64) {
        let (view, last) = (batch.view(), batch.len() - 1);
        let position = P::position(&view, last);
        self.rows += batch.len() as u64;
        self.first.get_or_insert(P::position(&view, 0).block_number());
        self.last = Some(position.block_number());
        self.cursor = Some(Cursor::of(position, layout.block_hash(&view, last), fingerprint).to_string());
    }

    /// The mark: how many rows, of which blocks, as of which head.
    fn json(&self) -> Value {
        let quantity = |number: Option<BlockNumber>| number.map(|number| format!("{number:#x}"));
        let range = |(first, last): &(BlockNumber, BlockNumber)| json!({"fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}")});
        json!({
            "complete": self.missing.is_empty(),
            "count": self.rows,
            "fromBlock": quantity(self.from_block),
            "toBlock": quantity(self.to_block),
            "firstBlock": quantity(self.first),
            "lastBlock": quantity(self.last),
            "headBlock": quantity(self.head_block),
            "headHash": self.head_hash,
            "missing": self.missing.iter().map(range).collect::<Vec<_>>(),
            "cursor": self.cursor,
        })
    }
}
