//! Answers: the envelope, with status 200 whatever the envelope says.

use axum::response::{IntoResponse, Response};

use super::params::Params;
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

impl Refused {
    /// Blocks that are not loaded are status "2"; a service that fails or is busy says so by its HTTP status. Clients that
    /// name the chain read the reason from the result, the others from the message.
    pub fn respond(self, params: &Params) -> Response {
        let (status, reason) = match self {
            Self::Sentence(message) => ("0", message),
            Self::Problem(problem @ Problem::LeftOut(_)) => ("0", problem.message()),
            Self::Problem(
                problem @ (Problem::StateMissing(_) | Problem::BlocksMissing(_) | Problem::TracesMissing(_)),
            ) => ("2", problem.message()),
            Self::Problem(problem) => return problem.into_response(),
        };
        let is_told_twice = params.text("chainid").is_some();
        envelope(status, &reason, |writer| writer.option(is_told_twice.then_some(&*reason), JsonWriter::string))
    }
}
