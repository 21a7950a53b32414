//! What a client gets where a handler panicked.

use std::any::Any;

use axum::body::Body;
use axum::response::{IntoResponse, Response};

use crate::error::Problem;
use crate::http::body::panic_text;

/// A handler that panicked is a bug; its client gets 500 (docs/reference/http-contract.md#errors).
pub(super) fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response<Body> {
    tracing::error!(panic = panic_text(&*panic), "a handler panicked");
    Problem::Internal.into_response()
}
