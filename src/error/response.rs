//! Problems as HTTP answers, and how long a client should wait before it retries.

use axum::Json;
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use trawl_core::primitives::BlockRange;
use trawl_evm::Failure;

use super::{InvalidParameter, MissingState, Problem};

impl Problem {
    /// After how many seconds the same request may succeed; `None` if that does not depend on time.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Self::Busy | Self::Reorganised | Self::BlockNotThereYet | Self::ViewExpired => Some(1),
            Self::TooMuchAtOnce => Some(2),
            Self::TooManyRequests { seconds, .. } => Some(*seconds),
            // The time after which an idle filter is evicted.
            Self::TooManyFilters => Some(300),
            Self::Unreachable | Self::NotReady => Some(5),
            _ => None,
        }
    }

    /// Details for programs: the member `data` of an error.
    #[must_use]
    pub fn data(&self) -> Option<Value> {
        let range = |range: &BlockRange| json!({"fromBlock": format!("{:#x}", range.first()), "toBlock": format!("{:#x}", range.last())});
        match self {
            Self::Forked { hash, fork, .. } => Some(json!({
                "hash": hash,
                "forkBlock": fork.map(|(number, _)| format!("{number:#x}")),
                "forkHash": fork.map(|(_, hash)| hash),
            })),
            Self::Call(Failure::Reverted(output)) => Some(json!(output)),
            Self::BlocksMissing(missing)
            | Self::TracesMissing(missing)
            | Self::StateMissing(MissingState { blocks: missing, .. }) => {
                Some(json!({"missing": missing.iter().map(range).collect::<Vec<_>>()}))
            }
            Self::TooManyLogs { fitting, .. } => Some(json!({
                "from": format!("{:#x}", fitting.first()),
                "to": format!("{:#x}", fitting.last()),
            })),
            Self::TooManyRows { limit, fitting } | Self::TooManyBlocks { limit, fitting, .. } => Some(json!({
                "limit": limit,
                "from": format!("{:#x}", fitting.first()),
                "to": format!("{:#x}", fitting.last()),
            })),
            _ => None,
        }
    }

    /// The member `data` of a JSON-RPC error: details for programs, or the time after which to try again.
    #[must_use]
    pub fn rpc_data(&self) -> Option<Value> {
        let wait = || self.retry_after_seconds().map(|seconds| json!({"retryAfterSeconds": seconds}));
        self.data().or_else(wait)
    }

    /// Adds the header `Retry-After` to an answer.
    pub(crate) fn set_retry_after(&self, response: &mut Response) {
        if let Some(seconds) = self.retry_after_seconds() {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({"message": self.to_string()});
        if let Self::Invalid(parameters) | Self::InvalidNumber(parameters) = &self {
            let entry = |parameter: &InvalidParameter| {
                json!({
                    "title": "Invalid value",
                    "source": {"pointer": format!("/{}", parameter.name)},
                    "detail": parameter.detail,
                })
            };
            body["errors"] = parameters.iter().map(entry).collect();
        }
        if let Some(data) = self.data() {
            body["data"] = data;
        }
        if let Self::LostConsensus(hash) = &self {
            body["hash"] = json!(hash);
        }
        let mut response = (self.status(), Json(body)).into_response();
        self.set_retry_after(&mut response);
        // For interfaces whose clients expect a body of another form.
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time-out is no failure of the call, and a refusal says when to try again.
    #[test]
    fn refusals_have_codes_of_their_own_and_a_time() {
        let timeout = Problem::from(Failure::TooLong);
        assert_eq!((timeout.code(), timeout.rpc_data()), (-32005, None));
        for (problem, status, seconds) in [
            (Problem::Busy, 503, 1),
            (Problem::Unreachable, 503, 5),
            (Problem::TooMuchAtOnce, 429, 2),
            (Problem::TooManyFilters, 429, 300),
            (Problem::Reorganised, 503, 1),
            (Problem::BlockNotThereYet, 503, 1),
        ] {
            assert_eq!((problem.code(), problem.rpc_data()), (-32005, Some(json!({"retryAfterSeconds": seconds}))));
            let response = problem.into_response();
            assert_eq!(response.status(), status);
            assert_eq!(response.headers()[RETRY_AFTER], seconds.to_string());
        }
    }
}
