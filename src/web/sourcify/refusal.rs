//! Refusals in Sourcify's form: `customCode`, `message` and `errorId`.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::error::Problem;
use crate::http::whole_body::json;
use trawl_json::contracts::sourcify::write_error;

/// Characters of a name that a refusal repeats.
const SHOWN_CHARACTERS: usize = 60;

/// Why a request has no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A parameter is wrong.
    Parameter(String),
    /// The chain of this id is not served.
    Chain(String),
    /// The service failed.
    Problem(Problem),
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Refusal {
    pub fn parameter(sentence: &str) -> Self {
        Self::Parameter(sentence.to_owned())
    }

    /// A refusal of something that the client named.
    pub fn about(sentence: &str, name: &str) -> Self {
        let name: String = name.chars().take(SHOWN_CHARACTERS).collect();
        Self::Parameter(format!("{sentence}: {name}"))
    }

    /// The answer, with the id that the request has in the log.
    pub fn respond(self, id: &str) -> Response {
        let answer = |status: StatusCode, code: &str, message: &str| {
            (status, json(write_error(code, message, id))).into_response()
        };
        match self {
            Self::Parameter(sentence) => answer(StatusCode::BAD_REQUEST, "invalid_parameter", &sentence),
            Self::Chain(chain) => {
                let sentence = format!("Chain {chain} is not served here: this server has another one");
                answer(StatusCode::NOT_FOUND, "unsupported_chain", &sentence)
            }
            Self::Problem(problem) => {
                let is_limit = problem.status() == StatusCode::TOO_MANY_REQUESTS;
                // To clients 404 says that a contract is not verified, which is not known if rows were lost.
                let is_failure = is_limit || problem.status().is_server_error();
                let status = if is_failure { problem.status() } else { StatusCode::SERVICE_UNAVAILABLE };
                let code = if is_limit { "too_many_requests" } else { "internal_error" };
                let mut response = answer(status, code, &problem.to_string());
                problem.set_retry_after(&mut response);
                response
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header::RETRY_AFTER;
    use trawl_core::primitives::BlockRange;

    #[test]
    fn a_failure_is_never_an_unverified_contract() {
        let status = |refusal: Refusal| refusal.respond("id").status().as_u16();
        assert_eq!(status(Refusal::Problem(Problem::BlocksMissing(vec![BlockRange::single(7)]))), 503);
        assert_eq!(status(Refusal::Problem(Problem::TooMuchAtOnce)), 429);
        assert_eq!(status(Refusal::Problem(Problem::Internal)), 500);
        assert_eq!((status(Refusal::parameter("wrong")), status(Refusal::Chain("5".into()))), (400, 404));
        assert_eq!(Refusal::Problem(Problem::Busy).respond("id").headers()[RETRY_AFTER], "1");
    }
}
