//! Answers that are written in one piece.

use axum::body::Bytes;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// A response whose body is JSON text.
pub(crate) fn json(text: impl Into<Bytes>) -> Response {
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], text.into()).into_response()
}
