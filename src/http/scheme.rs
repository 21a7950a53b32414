//! How clients reach this server: as a proxy in front says, else as the request came.

use axum::extract::Request;
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

/// The origin that a client requested: behind a proxy, with the host that it forwards. `None` where the request does
/// not name a host.
pub(crate) fn origin(request: &Request) -> Option<String> {
    let (headers, scheme) = (request.headers(), of_client(request.headers(), request.extensions()));
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_host = |host: &&str| host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let host = text("x-forwarded-host").or_else(|| text("host")).filter(|host| !host.is_empty()).filter(is_host);
    host.map(|host| format!("{scheme}://{host}"))
}
