//! `eth_getLogs`: its answer is streamed.

use futures_util::future::BoxFuture;

use super::answer_rows::{AnswerRows, CompleteRead, blocks_below};
use super::protocol::answer::{Answer, AnswerStream, ROWS_PER_FLUSH, Sink};
use super::protocol::context::Context;
use super::protocol::endpoint::Endpoint;
use super::protocol::params::value;
use crate::error::{Limit, Problem};
use crate::http::body::StreamError;
use crate::read::log_filter::Request;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_json::JsonWriter;
use trawl_json::logs::write_rpc_log;
use trawl_query::logs::LogPage;

/// Logs of blocks that are written as they are read.
struct LogRows {
    /// JSON texts of logs that come before them, with commas between.
    before: Vec<u8>,
    /// None if no block can have logs of the filter.
    rows: Option<AnswerRows<LogPage>>,
    /// The requested blocks, where less of them may be requested.
    range: Option<BlockRange>,
}

impl AnswerStream for LogRows {
    fn len(&self) -> usize {
        self.before.len()
    }

    fn write<'w>(
        self: Box<Self>,
        writer: &'w mut JsonWriter,
        sink: &'w dyn Sink,
    ) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(async move {
            let Self { before, rows, range } = *self;
            writer.raw("[");
            writer.raw(&before);
            if let Some(rows) = rows {
                let separator = if before.is_empty() { "" } else { "," };
                write_logs(LogRead { rows, range, separator }, writer, sink).await?;
            }
            writer.raw("]");
            Ok(())
        })
    }
}

/// Logs that follow other text of an array.
struct LogRead {
    rows: AnswerRows<LogPage>,
    range: Option<BlockRange>,
    /// The text before the first log.
    separator: &'static str,
}

async fn write_logs(read: LogRead, writer: &mut JsonWriter, sink: &dyn Sink) -> Result<(), StreamError> {
    let LogRead { mut rows, range, mut separator } = read;
    while let Some(batch) = rows.next().await? {
        for first in (0..batch.len()).step_by(ROWS_PER_FLUSH) {
            let view = batch.view();
            for row in first..batch.len().min(first + ROWS_PER_FLUSH) {
                writer.raw(std::mem::replace(&mut separator, ","));
                write_rpc_log(writer, &view, row);
            }
            sink.flush_if_full(writer).await.map_err(|error| too_long(error, range, view.block_number[first]))?;
        }
    }
    Ok(())
}

/// An error of a sink at the logs of `block`. If they do not fit into a message, the blocks below it do.
fn too_long(error: StreamError, range: Option<BlockRange>, block: BlockNumber) -> StreamError {
    match (error, range) {
        (StreamError::Problem(Problem::TooLongForSocket), Some(range)) => {
            StreamError::Problem(Problem::TooManyLogs { reason: Limit::Message, fitting: blocks_below(range, block) })
        }
        (error, _) => error,
    }
}

/// The first half of a range, if a statement for all of it exceeded its limits.
fn too_expensive(problem: Problem, range: BlockRange) -> Problem {
    match problem {
        Problem::TooExpensive if range.count() > 1 => {
            let middle = range.first() + range.count() / 2;
            Problem::TooManyLogs { reason: Limit::Statement, fitting: blocks_below(range, middle) }
        }
        problem => problem,
    }
}

/// Logs that match a filter, ascending: at most as many as the options allow at the specification's endpoint, and all
/// of them at that of nodes.
pub(super) async fn get_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [filter] = call.exactly()?;
    answer(call, &Request::read(&value(filter))?).await
}

/// The logs of a request.
pub(super) async fn answer(call: Context<'_>, request: &Request) -> Result<Answer, Problem> {
    answer_after(call, request, Vec::new()).await
}

/// The logs of a request in one array with those `before` them: JSON texts with commas between.
pub(super) async fn answer_after(call: Context<'_>, request: &Request, before: Vec<u8>) -> Result<Answer, Problem> {
    let (app, head) = (call.app, call.head()?);
    let scope = request.scope(app, head).await?;
    if let Some(range) = scope.range().filter(|_| request.filter().selects_everything()) {
        call.check_width(range, "address and topics")?;
    }
    let rows = match (scope.page(request), scope.range()) {
        (Some(page), Some(range)) => Some(open(call, page.after(request.after()), range).await?),
        _ => None,
    };
    let range = scope.range().filter(|range| call.endpoint == Endpoint::Node && range.count() > 1);
    Ok(Answer::Streamed(Box::new(LogRows { before, rows, range })))
}

async fn open(call: Context<'_>, page: LogPage, range: BlockRange) -> Result<AnswerRows<LogPage>, Problem> {
    let options = call.app.options();
    match call.endpoint {
        Endpoint::Specification => AnswerRows::cut(call.app, page, options.max_logs).await,
        Endpoint::Node => {
            let read = CompleteRead { page, count: None, limit: options.rpc_max_logs, range };
            AnswerRows::complete(call.app, read).await.map_err(|problem| too_expensive(problem, range))
        }
    }
}
