//! Answers: the envelope, with status 200 whatever the envelope says, unless the service fails.

use axum::http::StatusCode;
use axum::response::Response;

use crate::error::Problem;
use crate::http::whole_body::json;
use trawl_json::JsonWriter;
use trawl_json::etherscan::write_envelope;

/// Why an action has no result.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request is wrong.
    Sentence(String),
    /// What is requested is not served, or not in one answer. Clients of either server read this in the result: without
    /// it, some take the answer for the end of a list, and others fail with a text of their own.
    NotServed(String),
    /// There is no data for the request.
    Nothing(&'static str),
    /// The service cannot answer.
    Problem(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// The server whose clients send the request: each expects refusals, and a few results, in the form of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// The message of a refusal is its reason.
    Blockscout,
    /// The message is `NOTOK`, and the result is the reason.
    Etherscan,
}

/// The message of a refusal, for clients of Etherscan.
const NOT_OK: &str = "NOTOK";
/// The message of an empty list of the module `account`: clients end their loops at it.
pub(crate) const NO_TRANSACTIONS: &str = "No transactions found";
/// The message of any other empty list.
pub(crate) const NO_RECORDS: &str = "No records found";

/// The envelope of a result.
pub(crate) fn result(write: impl FnOnce(&mut JsonWriter)) -> Response {
    envelope("1", "OK", write)
}

/// An envelope of any `status` and `message`, whose `result` `write` writes.
pub(crate) fn envelope(status: &str, message: &str, write: impl FnOnce(&mut JsonWriter)) -> Response {
    json(write_envelope(status, message, write))
}

/// The envelope of a list without items; `message` is [`NO_TRANSACTIONS`] or [`NO_RECORDS`].
pub(crate) fn empty_list(message: &str) -> Response {
    envelope("0", message, |writer| writer.array(|_| {}))
}

impl Refusal {
    /// Blocks that are not loaded are status "2"; a service that fails or is busy says so by its HTTP status.
    pub fn respond(self, dialect: Dialect) -> Response {
        let (status, reason) = match self {
            Self::Sentence(reason) => ("0", reason),
            Self::NotServed(reason) => return refusal(dialect, &reason),
            Self::Nothing(message) => return envelope("0", message, JsonWriter::null),
            Self::Problem(problem) => match status(&problem) {
                Some(status) => (status, problem.message()),
                None => return failure(&problem, dialect),
            },
        };
        match dialect {
            Dialect::Blockscout => envelope(status, &reason, JsonWriter::null),
            Dialect::Etherscan => envelope(status, NOT_OK, |writer| writer.string(&reason)),
        }
    }
}

/// A refusal whose result is its reason, whatever the dialect.
fn refusal(dialect: Dialect, reason: &str) -> Response {
    let message = if dialect == Dialect::Etherscan { NOT_OK } else { reason };
    envelope("0", message, |writer| writer.string(reason))
}

/// The answer to a request that the service cannot serve now: an envelope as well, because clients read nothing else.
/// Its HTTP status and `Retry-After` are those of the problem. By its first words clients tell a rate limit.
pub(super) fn failure(problem: &Problem, dialect: Dialect) -> Response {
    let reason = match problem.status() {
        StatusCode::TOO_MANY_REQUESTS => format!("Max rate limit reached: {problem}"),
        _ => problem.to_string(),
    };
    let mut response = refusal(dialect, &reason);
    *response.status_mut() = problem.status();
    problem.set_retry_after(&mut response);
    response
}

/// The status in the envelope; `None` of a problem of the service.
fn status(problem: &Problem) -> Option<&'static str> {
    match problem {
        Problem::StateMissing(_)
        | Problem::BlocksMissing(_)
        | Problem::TracesMissing(_)
        | Problem::PartMissing { .. } => Some("2"),
        Problem::LeftOut(_) | Problem::NotCounted(_) => Some("0"),
        problem if problem.status().is_server_error() || problem.status() == StatusCode::TOO_MANY_REQUESTS => None,
        _ => Some("0"),
    }
}
