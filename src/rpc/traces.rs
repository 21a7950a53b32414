//! `trace_filter`, of OpenEthereum's trace module: call frames and rewards by participants. Its answer is streamed.

pub(crate) mod of_transactions;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

use super::answer_rows::{AnswerRows, CompleteRead};
use super::protocol::answer::{Answer, AnswerStream, ROWS_PER_FLUSH, Sink};
use super::protocol::context::Context;
use super::protocol::endpoint::Endpoint;
use super::protocol::params::{block_id, value};
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::{BlockName, addresses, invalid, member, quantity, range_end};
use crate::read::blocks::hashes::BlockHashes;
use crate::read::frame_values::FrameValues;
use crate::read::range::{Extent, RangeEnds};
use trawl_core::primitives::BlockRange;
use trawl_json::JsonWriter;
use trawl_json::transactions::raw_trace::write_trace;
use trawl_query::scan::{Participants, ScanPage, ScanSpec, TraceScan};

/// Widest range whose traces are complete whatever their number, if their participants are given. graph-node requests
/// 50 blocks at once, and does not narrow a range that is refused.
const MAX_UNLIMITED_BLOCKS: u64 = 100;

/// Traces that are written as they are read.
struct TraceRows {
    /// `None` if there is nothing to read.
    rows: Option<AnswerRows<ScanPage<TraceScan>>>,
    hashes: BlockHashes,
    values: FrameValues,
    /// The number of traces to skip first.
    after: u64,
}

impl AnswerStream for TraceRows {
    fn write<'w>(
        mut self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async move {
            writer.raw("[");
            let mut is_first = true;
            while let Some(rows) = &mut self.rows
                && let Some(batch) = rows.next().await?
            {
                let skipped = usize::try_from(self.after).unwrap_or(usize::MAX).min(batch.len());
                self.after -= skipped as u64;
                let numbers: Vec<u64> = batch.view().block_number[skipped..].to_vec();
                self.hashes.look_up(numbers.into_iter()).await?;
                let values = self.values.next(&batch.view(), batch.len()).await?;
                for first in (skipped..batch.len()).step_by(ROWS_PER_FLUSH) {
                    let view = batch.view();
                    for (row, value) in values.iter().enumerate().skip(first).take(ROWS_PER_FLUSH) {
                        if !std::mem::replace(&mut is_first, false) {
                            writer.raw(",");
                        }
                        write_trace(writer, &view, row, *value, &self.hashes.of(view.block_number[row]));
                    }
                    sink.flush_if_full(writer).await?;
                }
            }
            writer.raw("]");
            Ok(())
        })
    }
}

/// A parsed filter object that has not been compared with the chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Request {
    ends: RangeEnds,
    participants: Participants,
    after: u64,
    count: Option<u64>,
}

impl Request {
    fn read(filter: &Value) -> Result<Self, Problem> {
        let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
        let end = |key| {
            member(filter, key).map(|value| range_end(value).ok_or_else(|| invalid("invalid block number"))).transpose()
        };
        let number = |key: &str| {
            let read = |value: &Value| value.as_u64().or_else(|| value.as_str().and_then(quantity));
            member(filter, key).map(|value| read(value).ok_or_else(|| invalid(&format!("invalid {key}")))).transpose()
        };
        check_mode(filter)?;
        Ok(Self {
            ends: RangeEnds { from: Some(end("fromBlock")?.unwrap_or(BlockName::Number(0))), to: end("toBlock")? },
            participants: Participants {
                any: Vec::new(),
                from: addresses(member(filter, "fromAddress"))?,
                to: addresses(member(filter, "toAddress"))?,
            },
            after: number("after")?.unwrap_or(0),
            count: number("count")?,
        })
    }
}

/// Refuses what `mode` may ask for and is not served: traces that meet one of two lists.
fn check_mode(filter: &Map<String, Value>) -> Result<(), Problem> {
    let names = |key| member(filter, key).is_some_and(|list| list.as_array().is_none_or(|list| !list.is_empty()));
    match member(filter, "mode").map(|mode| mode.as_str()) {
        None | Some(Some("intersection")) => Ok(()),
        Some(Some("union")) if !(names("fromAddress") && names("toAddress")) => Ok(()),
        Some(Some("union")) => {
            Err(invalid("mode `union` is not supported with both fromAddress and toAddress: send a request for each"))
        }
        Some(_) => Err(invalid("invalid mode")),
    }
}

/// Traces that match a filter, ascending; the limits of logs in the options apply to them too.
pub(super) async fn filter(call: Context<'_>) -> Result<Answer, Problem> {
    let [filter] = call.exactly()?;
    let request = Request::read(&value(filter))?;
    let (app, head) = (call.app, call.head()?);
    let extent = Extent::between(app, request.ends, head, TraceScan::PART)?;
    let selectors = "fromAddress and toAddress";
    if let Some(range) = extent.range.filter(|_| request.participants.is_empty()) {
        call.check_width(range, selectors)?;
    }
    open(call, request, extent).await
}

/// All traces of a block; `null` if it is not readable. Its gas bounds their number.
pub(super) async fn of_block(call: Context<'_>) -> Result<Answer, Problem> {
    let [block] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let (app, head) = (call.app, call.head()?);
    let number = block.number(app, head).await?;
    let Some(number) = number.filter(|number| !head.blocks.at(*number).is_empty()) else { return Ok(Answer::null()) };
    let ends = RangeEnds::of(BlockRange::single(number));
    let extent = Extent::between(app, ends, head, TraceScan::PART)?;
    let participants = Participants { any: Vec::new(), from: Vec::new(), to: Vec::new() };
    open(call, Request { ends, participants, after: 0, count: None }, extent).await
}

/// The traces of `request` in the blocks of `extent`: cut or complete, by the rules of the endpoint.
async fn open(call: Context<'_>, request: Request, extent: Extent) -> Result<Answer, Problem> {
    let (app, after) = (call.app, request.after);
    let hashes = BlockHashes::open(app, &extent.blocks).await?;
    let values = FrameValues::new(app, &extent.blocks);
    // Rows that are passed over are read too.
    let and_skipped = |rows: Option<u64>| rows.map(|rows| rows.saturating_add(after));
    let (count, options) = (request.count, app.options());
    let is_empty = extent.blocks.is_empty() || count == Some(0);
    let has_participants = !request.participants.is_empty();
    let scan = TraceScan { participants: request.participants };
    let page = ScanPage { scan, blocks: extent.blocks, after: None, limit: 0 };
    let rows = match (extent.range, call.endpoint) {
        _ if is_empty => None,
        (Some(range), Endpoint::Node) => {
            let limit = options.rpc_max_logs.filter(|_| !has_participants || range.count() > MAX_UNLIMITED_BLOCKS);
            let (count, limit) = (and_skipped(count), and_skipped(limit));
            Some(AnswerRows::complete(app, CompleteRead { page, count, limit, range }).await?)
        }
        _ => {
            let limit = and_skipped([count, options.max_logs].into_iter().flatten().min());
            Some(AnswerRows::cut(app, page, limit).await?)
        }
    };
    Ok(Answer::Streamed(Box::new(TraceRows { rows, hashes, values, after })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_a_filter_is_read() {
        let address = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
        let filter = json!({"fromBlock": "0x1", "toBlock": 9, "fromAddress": [address, address], "toAddress": address,
                            "after": "0x10", "count": 5});
        let request = Request::read(&filter).expect("valid");
        assert_eq!(Some(request.ends), BlockRange::new(1, 9).map(RangeEnds::of));
        assert_eq!((request.participants.from.len(), request.participants.to.len()), (1, 1));
        assert_eq!((request.after, request.count), (16, Some(5)));
        let request = Request::read(&json!({"fromAddress": [], "count": null})).expect("valid");
        assert!(
            request.participants.is_empty() && request.ends == RangeEnds { from: Some(BlockName::Number(0)), to: None }
        );
    }

    #[test]
    fn wrong_filters_get_the_texts_of_the_contract() {
        for (filter, text) in [
            (json!([]), "Invalid params. The filter must be an object."),
            (json!({"fromBlock": "10"}), "invalid block number"),
            (json!({"toBlock": -1}), "invalid block number"),
            (json!({"fromAddress": "0x12"}), "invalid address"),
            (json!({"toAddress": [5]}), "invalid address"),
            (json!({"after": "5"}), "invalid after"),
            (json!({"count": -1}), "invalid count"),
            (json!({"mode": "any"}), "invalid mode"),
        ] {
            assert_eq!(Request::read(&filter).expect_err("refused").to_string(), text, "{filter}");
        }
    }
}
