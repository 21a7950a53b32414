//! Why a statement of a visitor has no answer, or not all of it.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use trawl_core::store::{StoreError, VisitorError};

use crate::error::Problem;

/// ClickHouse's code where an account has as many statements as it may have.
const TOO_MANY_STATEMENTS: i32 = 202;

/// Why a statement of a visitor is not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConsoleError {
    /// What holds for requests of any kind.
    #[error("{0}")]
    Problem(#[from] Problem),
    /// A page of another origin sent it.
    #[error("Pages of other origins may not send statements")]
    OtherPage,
    /// It comes under no account.
    #[error("Log in with a reader account of the database (Authorization: Basic)")]
    NoLogin,
    /// ClickHouse does not know the account.
    #[error("Wrong user or password of the database")]
    WrongLogin,
    /// The account is none of a reader.
    #[error("{0}")]
    NotAReader(String),
    /// The body has nothing.
    #[error("The body must be the text of one statement")]
    NoStatement,
    /// The text chooses its format.
    #[error("Leave FORMAT out of the statement: use the parameter `format`")]
    OtherFormat,
    /// The statement, as ClickHouse sees it.
    #[error("{message}")]
    Statement {
        /// Its code in ClickHouse's list of errors.
        code: i32,
        /// ClickHouse's own words.
        message: String,
    },
    /// It failed in the middle of its answer, which says why.
    #[error("The statement failed before its last row")]
    Failed,
    /// It took longer than its account allows, and the database did not say so.
    #[error("The database did not answer within the time limit of this account")]
    Silent,
}

impl From<StoreError> for ConsoleError {
    /// The visitor wrote the statement, so ClickHouse's words are for the visitor, and nothing of them is logged.
    fn from(error: StoreError) -> Self {
        if error.is_wrong_login() {
            return Self::WrongLogin;
        }
        match error {
            StoreError::Refused { code: TOO_MANY_STATEMENTS, .. } => Self::Problem(Problem::Busy),
            StoreError::Refused { code: 0, .. } | StoreError::Unreachable(_) => Self::Problem(Problem::Unreachable),
            StoreError::Refused { code, message } => Self::Statement { code, message },
            StoreError::NotAllowed { message } => Self::Statement { code: code(&message), message },
            _ => Self::Problem(Problem::Internal),
        }
    }
}

/// The code in the words of ClickHouse: 164 and 497 are one error of the store.
fn code(message: &str) -> i32 {
    let digits = message.strip_prefix("Code: ").and_then(|rest| rest.split('.').next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or_default()
}

impl From<VisitorError> for ConsoleError {
    fn from(error: VisitorError) -> Self {
        match error {
            VisitorError::Store(error) => error.into(),
            other => Self::NotAReader(other.to_string()),
        }
    }
}

impl ConsoleError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Problem(problem) => problem.status(),
            Self::OtherPage | Self::NotAReader(_) => StatusCode::FORBIDDEN,
            Self::NoLogin | Self::WrongLogin => StatusCode::UNAUTHORIZED,
            Self::NoStatement | Self::OtherFormat | Self::Statement { .. } => StatusCode::BAD_REQUEST,
            Self::Failed | Self::Silent => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// What stands in the answer for programs.
    pub fn body(&self) -> serde_json::Value {
        match self {
            Self::Statement { code, message } => json!({"message": message, "data": {"code": code}}),
            other => json!({"message": other.to_string()}),
        }
    }
}

impl IntoResponse for ConsoleError {
    fn into_response(self) -> Response {
        let mut response = match self {
            Self::Problem(problem) => return problem.into_response(),
            ref other => (other.status(), Json(other.body())).into_response(),
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if response.status() == StatusCode::UNAUTHORIZED {
            // A scheme that no browser knows: with `Basic` it would ask in a window of its own, and keep the answer.
            let challenge = HeaderValue::from_static("X-Basic realm=\"ClickHouse\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
