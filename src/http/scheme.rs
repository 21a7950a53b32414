//! How clients reach this server: as a proxy in front says, else as the request came.

use axum::http::Extensions;
use axum::http::HeaderMap;
use trawl_serve::Scheme;

/// The beginning of addresses that an answer names, without `://`.
pub(crate) fn of_client(headers: &HeaderMap, extensions: &Extensions) -> &'static str {
    match headers.get("x-forwarded-proto").map(axum::http::HeaderValue::as_bytes) {
        Some(b"https") => "https",
        Some(b"http") => "http",
        _ => extensions.get().copied().unwrap_or(Scheme::Http).name(),
    }
}
