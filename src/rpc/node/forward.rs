//! Calls that the tables cannot answer and an upstream node may.

use crate::error::Problem;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::value;
use trawl_evm::simulation::Refusal;

/// Forwards a call unchanged to an upstream node and returns its result.
///
/// # Errors
///
/// `otherwise` if no node is configured; the error of the node; or a problem if no node answers.
pub(crate) async fn forward(call: Context<'_>, otherwise: Problem) -> Result<Answer, Problem> {
    let Some(upstream) = &call.app.options().upstream else { return Err(otherwise) };
    let chain_id = call.app.chain_id(call.head()?);
    let result = match upstream.forward(call.method, call.params, chain_id).await {
        // What is missing here says more than that the node does not know the method.
        Err(Problem::Relayed(error)) if is_rare(call.method) && is_unknown_method(&error) => {
            return Err(otherwise);
        }
        result => result?,
    };
    Ok(Answer::Whole(Box::<str>::from(result).into_string().into_bytes()))
}

/// Whether few nodes have a method, as those of Otterscan.
fn is_rare(method: &str) -> bool {
    method.starts_with("ots_") || method.starts_with("erigon_") || method == "eth_getTransactionBySenderAndNonce"
}

/// Whether an error object says that the node does not have the method.
fn is_unknown_method(error: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(error).is_ok_and(|error| error["code"] == -32601)
}

/// Whether a problem means that data of the answer is not indexed, so that a node may have it.
pub(crate) fn is_missing_data(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::PartMissing { .. }
            | Problem::ColumnsMissing { .. }
            | Problem::BlocksMissing(_)
            | Problem::TracesMissing(_)
            | Problem::NotEstimated(_)
            | Problem::NotEncodable(..)
            | Problem::StateMissing(_)
            | Problem::RulesUnknown(_)
            | Problem::Simulation(Refusal::UnknownHash(_) | Refusal::OldRules(_))
            | Problem::NoUpstream(_)
            | Problem::NoStateProofs
    )
}

/// Whether a node gives the call the same meaning. Paging exists only in this API family, and a node would ignore it;
/// stored filters and proofs of receipts exist only here.
pub(crate) fn is_understood(call: Context<'_>) -> bool {
    match call.method {
        "eth_getLogs" => !call.params.iter().any(|param| value(param).get("paging_options").is_some()),
        "eth_getFilterChanges" | "eth_getFilterLogs" | "trawl_getReceiptProof" => false,
        _ => true,
    }
}
