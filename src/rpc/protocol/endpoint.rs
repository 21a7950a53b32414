//! The two endpoints of JSON-RPC. They have the same methods; where the specification of the first differs from what
//! nodes do, the second does as nodes (docs/reference/json-rpc.md#as-nodes-answer).

use axum::http::StatusCode;

use crate::error::Problem;
use crate::options::Options;
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
    /// When there are more than the options allow; on a node also when there are none.
    pub fn check_batch(self, calls: usize, options: &Options) -> Result<(), Problem> {
        let refusal = match (self, options.max_batch, options.rpc_max_batch) {
            (Self::Node, ..) if calls == 0 => "empty batch".into(),
            (Self::Node, _, limit) if calls > limit => format!("batch too large: send at most {limit} calls at once"),
            (Self::Specification, limit, _) if calls > limit => {
                format!("Payload Too Large. Max batch size is {limit}")
            }
            _ => return Ok(()),
        };
        Err(Problem::InvalidRequest(refusal))
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
        let options = Options { max_batch: 2, rpc_max_batch: 3, ..Options::default() };
        let text =
            |endpoint: Endpoint, calls| endpoint.check_batch(calls, &options).map_err(|problem| problem.to_string());
        assert_eq!(text(Endpoint::Specification, 0), Ok(()));
        assert_eq!(text(Endpoint::Specification, 3), Err("Payload Too Large. Max batch size is 2".into()));
        assert_eq!(text(Endpoint::Node, 0), Err("empty batch".into()));
        assert_eq!(text(Endpoint::Node, 3), Ok(()));
        assert_eq!(text(Endpoint::Node, 4), Err("batch too large: send at most 3 calls at once".into()));
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
