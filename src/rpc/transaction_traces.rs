//! `trace_transaction`: the call frames of one transaction, as Parity tells them. The answer is streamed.

use futures_util::future::BoxFuture;

use super::answer::{Answer, ROWS_PER_FLUSH, Sink, Streamed};
use super::context::Context;
use super::params::value;
use crate::error::Problem;
use crate::http::body::Broken;
use crate::values::{bytes32, invalid};
use trawl_core::primitives::{B256, BlockRange};
use trawl_core::schema::InternalTransactionRow;
use trawl_core::store::Rows;
use trawl_json::JsonWriter;
use trawl_json::raw_trace::write_trace;

/// The frames of a transaction, in order of execution; `null` if it is not readable.
pub(super) async fn of_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash] = call.exactly()?;
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(Answer::null()) };
    let view = batch.view();
    let (block, index) = (view.block_number[row], view.transaction_index[row]);
    if !head.traces.contains(block) {
        return Err(Problem::TracesMissing(vec![BlockRange::single(block)]));
    }
    let statement = trawl_query::internal_transactions::of_transaction(&head.traces.at(block), index);
    let rows = app.reader().stream(&statement).await?;
    Ok(Answer::Streamed(Box::new(Frames { rows, block_hash: B256::from(view.block_hash.bytes(row)) })))
}

/// Frames that are written as they are read.
struct Frames {
    rows: Rows<InternalTransactionRow>,
    block_hash: B256,
}

impl Streamed for Frames {
    fn write<'w>(
        mut self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), Broken>> {
        Box::pin(async move {
            writer.raw("[");
            let mut is_first = true;
            while let Some(batch) = self.rows.next().await.map_err(Problem::from)? {
                for first in (0..batch.len()).step_by(ROWS_PER_FLUSH) {
                    let view = batch.view();
                    for row in first..batch.len().min(first + ROWS_PER_FLUSH) {
                        if !std::mem::replace(&mut is_first, false) {
                            writer.raw(",");
                        }
                        write_trace(writer, &view, row, &self.block_hash);
                    }
                    sink.flush_if_full(writer).await?;
                }
            }
            writer.raw("]");
            Ok(())
        })
    }
}
