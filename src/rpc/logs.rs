//! `eth_getLogs`: its answer is streamed.

use futures_util::future::BoxFuture;

use super::answer::{Answer, ROWS_PER_FLUSH, Sink, Streamed};
use super::context::Context;
use super::params::value;
use crate::error::Problem;
use crate::http::body::Broken;
use crate::log_filter::Request;
use crate::read::row_stream::LogStream;
use crate::values::invalid;
use trawl_json::JsonWriter;
use trawl_json::logs::write_rpc_log;

/// Logs that are written as they are read; `None` for no logs.
struct LogRows(Option<LogStream>);

impl Streamed for LogRows {
    fn write<'w>(self: Box<Self>, writer: &'w mut JsonWriter, sink: &'w dyn Sink) -> BoxFuture<'w, Result<(), Broken>> {
        Box::pin(async move {
            writer.raw("[");
            if let Some(stream) = self.0 {
                write_logs(stream, writer, sink).await?;
            }
            writer.raw("]");
            Ok(())
        })
    }
}

async fn write_logs(mut stream: LogStream, writer: &mut JsonWriter, sink: &dyn Sink) -> Result<(), Broken> {
    let mut is_first = true;
    while let Some(batch) = stream.next().await? {
        for first in (0..batch.len()).step_by(ROWS_PER_FLUSH) {
            let view = batch.view();
            for row in first..batch.len().min(first + ROWS_PER_FLUSH) {
                if !std::mem::replace(&mut is_first, false) {
                    writer.raw(",");
                }
                write_rpc_log(writer, &view, row);
            }
            sink.flush_if_full(writer).await?;
        }
    }
    Ok(())
}

/// Logs that match a filter, ascending, at most as many as the options allow.
pub(super) async fn get_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [filter] = call.exactly()?;
    let request = Request::read(&value(filter))?;
    let (app, head) = (call.app, call.head()?);
    let scope = request.scope(app, head).await?;
    let is_wide = scope.range().is_some_and(|range| range.count() > app.options().max_unfiltered_blocks);
    if request.filter().selects_everything() && is_wide {
        return Err(invalid("Must supply one of address and topics"));
    }
    let stream = match scope.page(&request) {
        Some(page) => Some(LogStream::open(app, page.after(request.after()), app.options().max_logs).await?),
        None => None,
    };
    Ok(Answer::Streamed(Box::new(LogRows(stream))))
}
