//! Heads of answers as a ClickHouse server gives them, and answers that are an error.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::http::response::Builder;
use axum::http::{HeaderValue, Response, StatusCode};
use bytes::Bytes;

use crate::chdb::engine::Engine;
use crate::chdb::outcome::Stats;
use crate::codec::{Encoder, Encoding};
use crate::exception::Exception;
use crate::execute::figures::count_error;

/// What of a request its answer depends on.
#[derive(Debug)]
pub struct Context {
    /// The engine, whose version and time zone headers show.
    pub engine: Arc<Engine>,
    /// Announced in `X-ClickHouse-Query-Id`.
    pub query_id: String,
    /// How to compress.
    pub encoding: Encoding,
    /// Collect everything before answering.
    pub wait_end_of_query: bool,
    /// When the request came.
    pub started: Instant,
    /// The time zone that its statement asks for; that of the engine if `None`. An error may be about it.
    pub timezone: Option<String>,
}

/// An answer that is an error and nothing else.
#[must_use]
pub fn refuse(context: &Context, exception: &Exception) -> Response<Body> {
    count_error(exception);
    let error: String = exception.message.chars().take(200).collect();
    tracing::info!(code = exception.code, query_id = context.query_id, error, "query refused");
    let text = Bytes::from(exception.body(&context.engine.version));
    // The Java client decompresses no answer of these two.
    let is_read_plain = matches!(exception.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let (body, encoding) = match context.encoding {
        Encoding::Blocks if !is_read_plain => (Encoder::Blocks.push(text.clone()).unwrap_or(text), Encoding::Blocks),
        _ => (text, Encoding::Identity),
    };
    let mut builder = head(context, exception.status(), "text/plain; charset=UTF-8", encoding)
        .header("X-ClickHouse-Exception-Code", exception.code);
    if exception.status() == StatusCode::UNAUTHORIZED {
        builder = builder.header("WWW-Authenticate", "Basic realm=\"ClickHouse server HTTP API\"");
    }
    if exception.status() == StatusCode::SERVICE_UNAVAILABLE {
        builder = builder.header("Retry-After", 1);
    }
    builder.body(Body::from(body)).unwrap_or_default()
}

/// The headers that every answer has.
pub(super) fn head(context: &Context, status: StatusCode, content_type: &str, encoding: Encoding) -> Builder {
    let asked = context.timezone.as_ref().filter(|_| status == StatusCode::OK);
    let timezone = asked.unwrap_or(&context.engine.timezone);
    let builder = Response::builder()
        .status(status)
        .header("Content-Type", content_type)
        .header("X-ClickHouse-Query-Id", value(&context.query_id))
        .header("X-ClickHouse-Server-Display-Name", "trawl-engine")
        .header("X-ClickHouse-Timezone", value(timezone));
    match encoding.header() {
        Some(name) => builder.header("Content-Encoding", name),
        None => builder,
    }
}

/// A header value; bytes that a header cannot hold become `?`.
pub(super) fn value(text: &str) -> HeaderValue {
    let clean: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    HeaderValue::from_str(&clean).unwrap_or(HeaderValue::from_static(""))
}

/// The value of `X-ClickHouse-Summary`. Numbers are strings, as a server writes them; `memory_usage` is left out
/// because libchdb does not report it.
pub(super) fn summary(stats: Stats, started: Instant) -> String {
    serde_json::json!({
        "read_rows": stats.read_rows.to_string(),
        "read_bytes": stats.read_bytes.to_string(),
        "written_rows": stats.written_rows.to_string(),
        "written_bytes": stats.written_bytes.to_string(),
        "total_rows_to_read": stats.read_rows.to_string(),
        "result_rows": stats.result_rows.to_string(),
        "result_bytes": stats.result_bytes.to_string(),
        "elapsed_ns": started.elapsed().as_nanos().to_string(),
    })
    .to_string()
}
