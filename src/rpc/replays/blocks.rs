//! All transactions of a block, traced in one run: `debug_traceBlockByNumber`, `debug_traceBlockByHash`,
//! `trace_replayBlockTransactions`. The answer is streamed.

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use super::tracers::{GethOptions, parity_tracer};
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::{block_name, bytes32, invalid};
use crate::read::replay::rerun::{Extent, Rerun};
use crate::rpc::protocol::answer::{Answer, AnswerStream, Sink};
use crate::rpc::protocol::context::{Context, required};
use crate::rpc::protocol::params::{BlockId, block_id, value};
use crate::rpc::protocol::trace_option::OF_RUNS;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_evm::Failure;
use trawl_evm::replay::{Trace, Tracer};
use trawl_json::JsonWriter;

/// The traces of the block at a height or of a name.
pub(in crate::rpc) async fn by_number(call: Context<'_>) -> Result<Answer, Problem> {
    let [block, options] = call.with_optional()?;
    let named = block_name(&value(required(block)?)).ok_or_else(|| invalid("Invalid block number"))?;
    let number = named.number(call.head()?);
    let text = number.map_or_else(|| "block not found".into(), |number| format!("block #{number} not found"));
    let not_found = || Problem::Call(Failure::Invalid(text));
    let number = number.filter(|number| is_readable(call, *number));
    of_block(call, number.ok_or_else(not_found)?, options).await
}

/// The traces of the block with a hash.
pub(in crate::rpc) async fn by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash, options] = call.with_optional()?;
    let hash = bytes32(&value(required(hash)?)).ok_or_else(|| invalid("Invalid hash"))?;
    let number = BlockId::Hash(hash).number(call.app, call.head()?).await?;
    let not_found = || Problem::Call(Failure::Invalid(format!("block {hash} not found")));
    of_block(call, number.ok_or_else(not_found)?, options).await
}

/// The traces of a block in the form of Parity; `null` if it is not readable.
pub(in crate::rpc) async fn as_parity(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(2, &OF_RUNS)?;
    let [block, kinds] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let tracer = parity_tracer(value(kinds))?;
    let number = block.number(call.app, call.head()?).await?;
    match number.filter(|number| is_readable(call, *number)) {
        // Nothing runs in the first block.
        Some(0) => Ok(Answer::of(|writer| writer.raw("[]"))),
        Some(number) => traces(call, number, tracer, Shape::Parity).await,
        None => Ok(Answer::null()),
    }
}

/// Whether there is a block at a height, or may be in a gap below the head.
fn is_readable(call: Context<'_>, number: BlockNumber) -> bool {
    call.head().is_ok_and(|head| head.number().is_some_and(|head| number <= head))
}

async fn of_block(call: Context<'_>, number: BlockNumber, options: Option<&RawValue>) -> Result<Answer, Problem> {
    let options = GethOptions::read(options)?;
    if number == 0 {
        return Err(Problem::Call(Failure::Invalid("genesis is not traceable".into())));
    }
    traces(call, number, options.tracer()?, Shape::Geth).await
}

/// The traces of all transactions of a block. The first ones are there before the answer begins, so that what fails at
/// once is an error.
async fn traces(call: Context<'_>, number: BlockNumber, tracer: Tracer, shape: Shape) -> Result<Answer, Problem> {
    let mut rerun = Rerun::prepare(call.app, call.head()?, number, Extent::Whole, tracer).await?;
    let ready = rerun.next().await?;
    if let (Shape::Parity, Some(failure)) = (shape, ready.iter().find_map(|(_, trace)| trace.as_ref().err())) {
        return Err(Problem::Call(failure.clone()));
    }
    Ok(Answer::Streamed(Box::new(BlockTraces { rerun, ready, shape })))
}

/// How the trace of a transaction stands in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Beside the hash of the transaction; so does an error of one whose trace is too long.
    Geth,
    /// With the hash of the transaction as a member.
    Parity,
}

/// Traces that are written while the transactions run.
struct BlockTraces {
    rerun: Rerun,
    ready: Vec<(B256, Trace)>,
    shape: Shape,
}

impl AnswerStream for BlockTraces {
    fn write<'w>(
        mut self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async move {
            writer.raw("[");
            let mut is_first = true;
            while !self.ready.is_empty() {
                for (hash, trace) in std::mem::take(&mut self.ready) {
                    if !std::mem::replace(&mut is_first, false) {
                        writer.raw(",");
                    }
                    self.shape.write(writer, &hash, trace)?;
                    sink.flush_if_full(writer).await?;
                }
                self.ready = self.rerun.next().await?;
            }
            writer.raw("]");
            Ok(())
        })
    }
}

impl Shape {
    fn write(self, writer: &mut JsonWriter, hash: &B256, trace: Trace) -> Result<(), Problem> {
        match (self, trace) {
            (Self::Geth, trace) => writer.object(|object| {
                object.key("txHash").hex(hash.as_slice());
                match trace {
                    Ok(json) => object.key("result").raw(json),
                    Err(failure) => object.key("error").string(&failure.to_string()),
                }
            }),
            (Self::Parity, Ok(mut json)) => {
                // The object is whole; its last brace makes room for one more member.
                json.pop();
                writer.raw(json);
                writer.raw(format!(",\"transactionHash\":\"{hash:#x}\"}}"));
            }
            (Self::Parity, Err(failure)) => return Err(Problem::Call(failure)),
        }
        Ok(())
    }
}
