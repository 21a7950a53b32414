//! Headers of every answer (request id, CORS, rate limits, caching), and requests that are refused before any route.

use axum::extract::Request;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::cors::{self, CorsPolicy};
use super::percent;
use crate::error::Problem;

/// Routes that choose a format by the header `Accept`, or are files.
const HAS_FORMATS: [&str; 5] = [
    "/api/v2/advanced-filters/csv",
    "/api/v2/scan/logs",
    "/api/v2/scan/internal-transactions",
    "/api/v2/scan/token-transfers",
    "/api/v2/scan/transactions",
];

/// Whether a route has answers in other formats than JSON.
fn has_formats(path: &str) -> bool {
    let is_export = || ["/api/v2/addresses/", "/api/v2/tokens/"].iter().any(|above| path.starts_with(above));
    HAS_FORMATS.contains(&path) || (path.ends_with("/csv") && is_export())
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers preflights, and adds the headers of every answer.
pub(crate) async fn decorate(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    request.extensions_mut().insert(id.clone());
    let sharing = CorsPolicy::of(request.headers());
    let is_shared = cors::is_shared(request.uri().path());
    let is_preflight = is_shared && cors::is_preflight(&request);
    let mut response = if is_preflight { cors::preflight() } else { next.run(request).await };
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(id.text()) {
        headers.insert(REQUEST_ID, id);
    }
    if is_shared {
        add_api_headers(headers);
        sharing.add_to(headers);
    }
    response
}

/// Refuses malformed requests and those that do not accept JSON.
pub(crate) async fn refuse_unreadable(request: Request, next: Next) -> Response {
    let (path, query) = (request.uri().path(), request.uri().query());
    if path.starts_with("/api/") && !has_formats(path) && !accepts_json(request.headers()) {
        Problem::NotAcceptable.into_response()
    } else if query.is_some_and(|query| query.len() > 5_000) {
        Problem::UriTooLong.into_response()
    } else if !(percent::are_readable(path) && query.is_none_or(percent::are_readable)) {
        Problem::Malformed.into_response()
    } else {
        next.run(request).await
    }
}

fn add_api_headers(headers: &mut HeaderMap) {
    // JSON is announced with its charset, as clients of this API family expect.
    if headers.get(CONTENT_TYPE).is_some_and(|value| value == "application/json") {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("max-age=0, private, must-revalidate"));
    for (name, value) in [
        // -1 means no limit of requests in a time, which those that are counted have already.
        ("x-ratelimit-limit", "-1"),
        ("x-ratelimit-remaining", "-1"),
        ("x-ratelimit-reset", "-1"),
        ("bypass-429-option", "no_bypass"),
        ("x-content-type-options", "nosniff"),
    ] {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
}

/// What a request is called in its answer and in the log.
#[derive(Debug, Clone)]
pub(crate) enum RequestId {
    /// Its client chose it: 20 to 200 characters.
    OfClient(String),
    /// A new one.
    New(String),
}

impl RequestId {
    fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok());
        given
            .filter(|id| (20..=200).contains(&id.len()))
            .map_or_else(|| Self::New(new_id()), |id| Self::OfClient(id.to_owned()))
    }

    /// The id as the header of the answer has it.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::OfClient(id) | Self::New(id) => id,
        }
    }
}

fn new_id() -> String {
    use std::hash::{BuildHasher, RandomState};
    // Two random 64-bit states: unique enough to find a request in a log.
    let random = || RandomState::new().hash_one(0);
    format!("{:016x}{:016x}", random(), random())
}

fn accepts_json(headers: &HeaderMap) -> bool {
    let mut offers = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .peekable();
    if offers.peek().is_none() {
        return true;
    }
    offers.any(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        let media = parts.next().unwrap_or("");
        let refused = parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0"));
        !refused && (matches!(media, "*/*" | "application/*" | "application/json" | "") || media.ends_with("+json"))
    })
}
