//! `trace_filter`, of OpenEthereum's trace module: call frames and rewards by participants. Its answer is streamed.

pub(crate) mod of_transactions;
mod request;

use futures_util::future::BoxFuture;

use super::answer_rows::{AnswerRows, CompleteRead};
use super::protocol::answer::{Answer, AnswerStream, ROWS_PER_FLUSH, Sink};
use super::protocol::context::Context;
use super::protocol::endpoint::Endpoint;
use super::protocol::params::{block_id, value};
use super::protocol::trace_option::OF_RECORDS;
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::invalid;
use crate::read::blocks::hashes::BlockHashes;
use crate::read::frame_values::FrameValues;
use crate::read::range::{Extent, RangeEnds};
use request::{Request, TraceList};
use trawl_core::primitives::BlockRange;
use trawl_json::JsonWriter;
use trawl_json::transactions::raw_trace::write_trace;
use trawl_query::scan::{ScanPage, ScanSpec, TraceScan};

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

/// Traces that match a filter, ascending; the limits of logs in the options apply to them too.
pub(super) async fn filter(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(1, &OF_RECORDS)?;
    let [filter] = call.exactly()?;
    let request = Request::read(&value(filter))?;
    let (app, head) = (call.app, call.head()?);
    let extent = Extent::between(app, request.ends(app, head).await?, head, TraceScan::PART)?;
    let selectors = "fromAddress and toAddress";
    if let Some(range) = extent.range.filter(|_| request.list.scan.participants.is_empty()) {
        call.check_width(range, selectors)?;
    }
    open(call, request.list, extent).await
}

/// All traces of a block; `null` if it is not readable. Its gas bounds their number.
pub(super) async fn of_block(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(1, &OF_RECORDS)?;
    let [block] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let (app, head) = (call.app, call.head()?);
    let number = block.number(app, head).await?;
    let Some(number) = number.filter(|number| !head.blocks.at(*number).is_empty()) else { return Ok(Answer::null()) };
    let extent = Extent::between(app, RangeEnds::of(BlockRange::single(number)), head, TraceScan::PART)?;
    open(call, TraceList::default(), extent).await
}

/// The traces of `list` in the blocks of `extent`: cut or complete, by the rules of the endpoint.
async fn open(call: Context<'_>, list: TraceList, extent: Extent) -> Result<Answer, Problem> {
    let (app, after) = (call.app, list.after);
    let hashes = BlockHashes::open(app, &extent.blocks).await?;
    let values = FrameValues::new(app, &extent.blocks);
    // Rows that are passed over are read too.
    let and_skipped = |rows: Option<u64>| rows.map(|rows| rows.saturating_add(after));
    let (count, options) = (list.count, app.options());
    let is_empty = extent.blocks.is_empty() || count == Some(0);
    let has_participants = !list.scan.participants.is_empty();
    let page = ScanPage { scan: list.scan, blocks: extent.blocks, after: None, limit: 0 };
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
