//! The two endpoints of JSON-RPC. They have the same methods; where the specification of the first differs from what
//! nodes do, the second does as nodes (docs/reference/json-rpc.md#as-nodes-answer).

use axum::http::StatusCode;

use crate::error::Problem;
use trawl_serve::Client;

/// An endpoint of JSON-RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// `/api/eth-rpc`, by the rules of docs/reference/http-contract.md.
    Specification,
    /// `/rpc`, as nodes answer.
    Node,
}

/// The client of a request, and the endpoint whose rules apply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RpcRequester {
    /// The endpoint of the request.
    pub endpoint: Endpoint,
    /// The client, whose limits apply.
    pub client: Client,
}

impl Endpoint {
    /// The HTTP status of a message that is refused whole. On nodes the error object says it all.
    pub fn status_of_refused(self, specified: StatusCode) -> StatusCode {
        match self {
            Self::Specification => specified,
            Self::Node => StatusCode::OK,
        }
    }

    /// Checks the number of calls in a batch.
    ///
    /// # Errors
    ///
    /// When there are more than `limit`; on a node also when there are none.
    pub fn check_batch(self, calls: usize, limit: usize) -> Result<(), Problem> {
        match self {
            Self::Node if calls == 0 => Err(Problem::InvalidRequest("empty batch".into())),
            Self::Node if calls > limit => {
                Err(Problem::InvalidRequest(format!("batch too large: send at most {limit} calls at once")))
            }
            Self::Specification if calls > limit => {
                Err(Problem::InvalidRequest(format!("Payload Too Large. Max batch size is {limit}")))
            }
            _ => Ok(()),
        }
    }

    /// The problem of a call in the terms of this endpoint.
    pub fn adapt_error(self, problem: Problem, method: &str) -> Problem {
        match (self, problem) {
            (Self::Node, Problem::MethodNotFound) => Problem::NoSuchMethod(method.to_owned()),
            (Self::Node, Problem::UnknownBlockHash) => Problem::UnknownBlock,
            (_, problem) => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_checked_by_the_rules_of_the_endpoint() {
        let text = |endpoint: Endpoint, calls| endpoint.check_batch(calls, 2).map_err(|problem| problem.to_string());
        assert_eq!(text(Endpoint::Specification, 0), Ok(()));
        assert_eq!(text(Endpoint::Specification, 3), Err("Payload Too Large. Max batch size is 2".into()));
        assert_eq!(text(Endpoint::Node, 0), Err("empty batch".into()));
        assert_eq!(text(Endpoint::Node, 2), Ok(()));
        assert_eq!(text(Endpoint::Node, 3), Err("batch too large: send at most 2 calls at once".into()));
    }

    #[test]
    fn a_node_names_the_method_that_it_lacks() {
        let adapted = Endpoint::Node.adapt_error(Problem::MethodNotFound, "eth_nothing");
        assert_eq!(
            (adapted.code(), adapted.message().as_str()),
            (-32601, "the method eth_nothing does not exist/is not available")
        );
        assert_eq!(
            Endpoint::Specification.adapt_error(Problem::MethodNotFound, "eth_nothing").message(),
            "Method not found."
        );
        assert_eq!(Endpoint::Node.adapt_error(Problem::UnknownBlockHash, "eth_getLogs").code(), -32000);
    }
}
