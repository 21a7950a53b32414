//! Answers: the envelope, with status 200 whatever the envelope says.

use axum::response::{IntoResponse, Response};

use crate::error::Problem;
use crate::rest::json;
use trawl_json::JsonWriter;
use trawl_json::etherscan::write_envelope;

/// Why an action has no result.
#[derive(Debug)]
pub(super) enum Refused {
    /// The request is wrong, or asks for what is not served.
    Sentence(String),
    /// The service cannot answer.
    Problem(Problem),
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// The envelope of a result.
pub(super) fn result(write: impl FnOnce(&mut JsonWriter)) -> Response {
    envelope("1", "OK", write)
}

/// Any envelope.
pub(super) fn envelope(status: &str, message: &str, write: impl FnOnce(&mut JsonWriter)) -> Response {
    json(write_envelope(status, message, write))
}

impl IntoResponse for Refused {
    /// Blocks that are not loaded are status "2"; a service that fails or is busy says so by its HTTP status.
    fn into_response(self) -> Response {
        match self {
            Self::Sentence(message) => json(write_envelope("0", &message, JsonWriter::null)),
            Self::Problem(problem @ Problem::LeftOut(_)) => {
                json(write_envelope("0", &problem.message(), JsonWriter::null))
            }
            Self::Problem(
                problem @ (Problem::StateMissing(_) | Problem::BlocksMissing(_) | Problem::TracesMissing(_)),
            ) => json(write_envelope("2", &problem.message(), JsonWriter::null)),
            Self::Problem(problem) => problem.into_response(),
        }
    }
}
