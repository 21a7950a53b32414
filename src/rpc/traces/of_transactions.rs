//! `trace_transaction`, `trace_get`: the call frames of one transaction, in the form of Parity.

use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::{bytes32, invalid, quantity};
use crate::rpc::protocol::answer::{Answer, AnswerStream, ROWS_PER_FLUSH, Sink};
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::value;
use crate::rpc::protocol::trace_option::OF_RECORDS;
use trawl_core::primitives::{B256, BlockRange};
use trawl_core::schema::{Column, InternalTransactionRow};
use trawl_core::store::Rows;
use trawl_json::JsonWriter;
use trawl_json::transactions::raw_trace::{CallValues, write_trace};

/// Longest path to a frame: calls are at most so deep.
const MAX_DEPTH: usize = 1024;

/// The frames of a transaction, in order of execution; `null` if it is not readable.
pub(crate) async fn of_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(1, &OF_RECORDS)?;
    let [hash] = call.exactly()?;
    let frames = frames(call, hash).await?;
    Ok(frames.map_or_else(Answer::null, |frames| Answer::Streamed(Box::new(frames))))
}

/// The frame of a transaction at a path of positions; `null` if there is none.
pub(crate) async fn one(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(2, &OF_RECORDS)?;
    let [hash, path] = call.exactly()?;
    let path = path_of(&value(path)).ok_or_else(|| invalid("Invalid indices: a list of positions is expected"))?;
    let Some(mut frames) = frames(call, hash).await? else { return Ok(Answer::null()) };
    let mut values = CallValues::default();
    while let Some(batch) = frames.rows.next().await.map_err(Problem::from)? {
        let view = batch.view();
        for row in 0..batch.len() {
            let value = values.next(&view, row);
            if Vec::<u32>::own(Vec::<u32>::get(&view.trace_address, row)) == path {
                return Ok(Answer::of(|writer| write_trace(writer, &view, row, value, &frames.block_hash)));
            }
        }
    }
    Ok(Answer::null())
}

fn path_of(value: &Value) -> Option<Vec<u32>> {
    let list = value.as_array().filter(|list| list.len() <= MAX_DEPTH)?;
    list.iter().map(|one| u32::try_from(quantity(one.as_str()?)?).ok()).collect()
}

/// The frames of a transaction; `None` if it is not readable.
async fn frames(call: Context<'_>, hash: &RawValue) -> Result<Option<Frames>, Problem> {
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(None) };
    let view = batch.view();
    let (block, index) = (view.block_number[row], view.transaction_index[row]);
    if !head.traces.contains(block) {
        return Err(Problem::TracesMissing(vec![BlockRange::single(block)]));
    }
    let statement = trawl_query::transactions::internal::of_transaction(&head.traces.at(block), index);
    let rows = app.reader().stream(&statement).await?;
    Ok(Some(Frames { rows, block_hash: B256::from(view.block_hash.bytes(row)) }))
}

/// Frames that are written as they are read.
struct Frames {
    rows: Rows<InternalTransactionRow>,
    block_hash: B256,
}

impl AnswerStream for Frames {
    fn write<'w>(
        mut self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async move {
            writer.raw("[");
            let mut is_first = true;
            let mut values = CallValues::default();
            while let Some(batch) = self.rows.next().await.map_err(Problem::from)? {
                for first in (0..batch.len()).step_by(ROWS_PER_FLUSH) {
                    let view = batch.view();
                    for row in first..batch.len().min(first + ROWS_PER_FLUSH) {
                        if !std::mem::replace(&mut is_first, false) {
                            writer.raw(",");
                        }
                        let value = values.next(&view, row);
                        write_trace(writer, &view, row, value, &self.block_hash);
                    }
                    sink.flush_if_full(writer).await?;
                }
            }
            writer.raw("]");
            Ok(())
        })
    }
}
