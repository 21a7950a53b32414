//! The API in OpenAPI 3.1, for programs at `/api/v2/openapi` and for people at `/docs`.
//!
//! It is written by hand in `docs/reference/openapi.yaml`, since answers are written straight from columns and no type
//! has their shape; `build.rs` turns it into JSON. Tests keep it true: those of this module compare it with what the
//! handlers declare, and those of `tests/it/described.rs` with the routes and with thousands of answers.

use axum::body::Bytes;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use axum::response::IntoResponse;

#[cfg(test)]
mod tests;

/// The description of every route, as JSON.
pub const DOCUMENT: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Answers with the description.
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], Bytes::from_static(DOCUMENT.as_bytes()))
}

/// The page loads nothing from other origins, and this policy makes the browser enforce it.
const POLICY: [(HeaderName, &str); 2] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
];

/// The page that shows the description and tries it.
pub(crate) async fn docs() -> impl IntoResponse {
    (POLICY, include_str!("openapi/page.html"))
}
