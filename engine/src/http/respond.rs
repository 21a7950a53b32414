//! Replies become HTTP answers: whole ones with their statistics, long ones as streams, failures as errors.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use bytes::{Bytes, BytesMut};
use tokio::net::unix::pipe::Receiver;
use tokio::sync::oneshot;

use crate::chdb::outcome::Stats;
use crate::codec::Encoder;
use crate::exception::Exception;
use crate::execute::job::Reply;
use crate::http::cancel::CancelOnDrop;
use crate::http::head::{Context, head, refuse, summary, value};
use crate::http::stream::{CHUNK, outcome, read, streaming};
use crate::sql::format::content_type;

/// Most that is collected for `wait_end_of_query`; a server would go on in a file.
const MAX_COLLECTED: usize = 256 << 20;
/// How long a result that has begun may take to end and still be sent whole, with its final statistics.
const SHORT_RESULT_TIMEOUT: Duration = Duration::from_millis(5);

/// Turns a reply into an HTTP answer.
pub async fn respond(mut context: Context, reply: Reply, mut watch: CancelOnDrop) -> Response<Body> {
    match reply {
        Reply::Whole { bytes, format, stats, timezone } => {
            watch.over();
            context.timezone = timezone;
            complete(&context, bytes, format.as_deref(), stats)
        }
        Reply::Stream { pipe, format, end, timezone } => match Receiver::from_owned_fd(pipe.into()) {
            Ok(pipe) => {
                context.timezone = timezone;
                stream_reply(context, pipe, &format, end, watch).await
            }
            Err(error) => refuse(&context, &Exception::new(76, "CANNOT_OPEN_FILE", error)),
        },
    }
}

async fn stream_reply(
    context: Context,
    mut pipe: Receiver,
    format: &str,
    end: oneshot::Receiver<Result<Stats, Exception>>,
    mut watch: CancelOnDrop,
) -> Response<Body> {
    let mut first = BytesMut::new();
    let mut over = read(&mut pipe, &mut first).await;
    while matches!(over, Ok(false)) {
        if context.wait_end_of_query && first.len() > MAX_COLLECTED {
            let text = format!("the result has more than {MAX_COLLECTED} bytes: leave out wait_end_of_query");
            return refuse(&context, &Exception::new(396, "TOO_MANY_ROWS_OR_BYTES", text));
        }
        if context.wait_end_of_query {
            over = read(&mut pipe, &mut first).await;
        } else if first.len() < CHUNK
            && let Ok(more) = tokio::time::timeout(SHORT_RESULT_TIMEOUT, read(&mut pipe, &mut first)).await
        {
            over = more;
        } else {
            return streaming(&context, pipe, first.freeze(), format, end, watch);
        }
    }
    if let Err(error) = over {
        // What came is not all of it. The statement may still write, so the watch cancels it.
        return refuse(&context, &Exception::new(74, "CANNOT_READ_FROM_FILE_DESCRIPTOR", error));
    }
    watch.over();
    match outcome(end.await) {
        Ok(stats) => complete(&context, first.freeze(), Some(format), stats),
        Err(exception) => refuse(&context, &exception),
    }
}

/// An answer known to its end. `format` is that of a result; a statement without one is answered without it, as drivers
/// would look for rows.
fn complete(context: &Context, bytes: Bytes, format: Option<&str>, stats: Stats) -> Response<Body> {
    let body = Encoder::new(context.encoding).and_then(|mut encoder| {
        let mut body = Vec::from(encoder.push(bytes)?);
        body.extend(encoder.finish()?);
        Ok(body)
    });
    match body {
        Ok(body) => {
            let builder = head(context, StatusCode::OK, content_type(format.unwrap_or_default()), context.encoding)
                .header("X-ClickHouse-Summary", value(&summary(stats, context.started)));
            let builder = match format {
                Some(format) => builder.header("X-ClickHouse-Format", value(format)),
                None => builder,
            };
            builder.body(Body::from(body)).unwrap_or_default()
        }
        Err(error) => refuse(context, &Exception::new(432, "CANNOT_COMPRESS", error)),
    }
}
