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

/// Where a client reads why it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReasonPlace {
    /// In the message.
    Message,
    /// In the message or in the result.
    ResultToo,
}

/// The envelope of a result.
pub(super) fn result(write: impl FnOnce(&mut JsonWriter)) -> Response {
    envelope("1", "OK", write)
}

/// Any envelope.
pub(super) fn envelope(status: &str, message: &str, write: impl FnOnce(&mut JsonWriter)) -> Response {
    json(write_envelope(status, message, write))
}

impl Refused {
    /// Blocks that are not loaded are status "2"; a service that fails or is busy says so by its HTTP status.
    pub fn respond(self, place: ReasonPlace) -> Response {
        let (status, reason) = match self {
            Self::Sentence(message) => ("0", message),
            Self::Problem(
                problem @ (Problem::LeftOut(_)
                | Problem::NotCounted(_)
                | Problem::NotEstimated(_)
                | Problem::ColumnsMissing { .. }),
            ) => ("0", problem.message()),
            Self::Problem(
                problem @ (Problem::StateMissing(_)
                | Problem::BlocksMissing(_)
                | Problem::TracesMissing(_)
                | Problem::PartMissing { .. }),
            ) => ("2", problem.message()),
            Self::Problem(problem) => return problem.into_response(),
        };
        let result = (place == ReasonPlace::ResultToo).then_some(&*reason);
        envelope(status, &reason, |writer| writer.option(result, JsonWriter::string))
    }
}
