//! Answers that browsers save as a file of CSV.

use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

/// An answer as a file of CSV of this name, which has neither quotes nor control characters.
pub(crate) fn csv_file(answer: impl IntoResponse, name: &str) -> Response {
    let mut response = answer.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/csv"));
    if let Ok(file) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, file);
    }
    response
}
