//! `GET` and `POST /api/v2/scan/logs`: the filter of `eth_getLogs`, and an answer of any length.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::Response;
use serde_json::{Map, Value, json};
use trawl_serve::Client;

use super::cursor::{self, Cursor};
use super::decode::{self, EventLogs};
use super::end::End;
use super::format::{Format, Mark};
use super::layout::Logs;
use super::respond::{Scan, respond};
use super::{explain, without_from_block};
use crate::app::App;
use crate::error::Problem;
use crate::http::body::ResponseBudget;
use crate::http::request_body;
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::read::log_filter::Request;
use crate::read::row_stream::LogStream;
use trawl_core::primitives::LogPosition;
use trawl_json::vocabulary::decoded::EventColumns;

/// Longest filter: a thousand addresses and four thousand topics are 340 kB.
const MAX_FILTER: usize = 2 << 20;

/// A scan whose filter is in the query.
pub(crate) async fn get(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut options = Options::read(query.as_deref().unwrap_or_default(), &headers)?;
    let filter = std::mem::take(&mut options.filter);
    answer(app, head, client, Value::Object(filter), options, &headers).await
}

/// A scan whose filter is the body; options of the answer are in the query.
pub(crate) async fn post(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let options = Options::read(query.as_deref().unwrap_or_default(), &headers)?;
    if let Some(name) = options.filter.keys().next() {
        return Err(Problem::invalid_parameter(name, "belongs in the body"));
    }
    let body = request_body::read(&app.limits().bodies, client, &headers, body, MAX_FILTER).await?;
    let filter = serde_json::from_slice(&body.text).map_err(|_| Problem::invalid_parameter("body", "is not JSON"))?;
    answer(app, head, client, filter, options, &headers).await
}

/// Options of the answer.
struct Options {
    format: Format,
    cursor: Option<Cursor<LogPosition>>,
    limit: Option<u64>,
    explain: bool,
    /// The event whose parameters get columns of their own.
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
        let mut mark = None;
        let mut topics = [const { Value::Null }; 4];
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "format" => read.format = Format::of_request(&value)?,
                "mark" => mark = Some(Mark::of_request(&value)?),
                "cursor" => {
                    read.cursor =
                        Some(Cursor::read(&value).ok_or_else(|| Problem::invalid_parameter("cursor", "is no cursor"))?);
                }
                "limit" => {
                    read.limit = Some(value.parse().map_err(|_| Problem::invalid_parameter("limit", "is no number"))?);
                }
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
                other => return Err(Problem::invalid_parameter(other, format!("Unexpected field: {other}"))),
            }
        }
        read.format = read.format.marked(mark)?;
        if let Some(last) = topics.iter().rposition(|topic| !topic.is_null()) {
            read.filter.insert("topics".into(), json!(topics[..=last]));
        }
        Ok(read)
    }
}

/// Alternative values, separated by commas.
fn alternatives(text: &str) -> Value {
    text.split(',').map(Value::from).collect()
}

async fn answer(
    app: App,
    head: RequestHead,
    client: Client,
    filter: Value,
    options: Options,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if ["fromBlock", "blockHash"].into_iter().all(|name| filter[name].is_null()) {
        return Err(without_from_block());
    }
    // The texts are those of eth_getLogs; here they are about REST parameters.
    let as_rest = |problem| match problem {
        Problem::InvalidParams(text) => Problem::invalid_parameter("filter", &text),
        unknown @ Problem::UnknownBlockHash => Problem::invalid_parameter("filter", unknown.to_string()),
        other => other,
    };
    let filter = match &options.decode {
        Some(event) => decode::narrowed(filter, event),
        None => filter,
    };
    let request = Request::read(&filter).map_err(as_rest)?;
    let head = head.for_range()?;
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
    let slot = app.limits().scans.enter(client).await?;
    let plan = explain::plan(&app, headers, page.as_ref()).await?;
    let end = End::new(&app, &head, scope.range(), scope.missing()).await?;
    let stream = match page {
        Some(page) => Some(LogStream::open(&app, page, options.limit).await?),
        None => None,
    };
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client };
    let scan = Scan { taker, slot, end, fingerprint };
    let response = match options.decode {
        Some(event) => respond(stream, options.format, EventLogs(event), scan),
        None => respond(stream, options.format, Logs, scan),
    };
    Ok(explain::with_plan(response, plan))
}
