//! Calls that the tables do not answer, and an upstream node may.

use super::answer::Answer;
use super::context::Context;
use super::params::value;
use crate::error::Problem;

/// What an upstream node answers to this call; `otherwise` where none is configured.
///
/// For methods whose answer is not covered here: hand over the call as it came and the problem that it would get.
pub(super) async fn forward(call: Context<'_>, otherwise: Problem) -> Result<Answer, Problem> {
    let Some(upstream) = &call.app.options().upstream else { return Err(otherwise) };
    let chain_id = call.app.chain_id(call.head()?);
    let result = upstream.forward(call.method, call.params, chain_id).await?;
    Ok(Answer::Whole(Box::<str>::from(result).into_string().into_bytes()))
}

/// Whether a problem means that the tables do not have what the answer needs, so that a node may know more.
pub(super) fn is_missing_data(problem: &Problem) -> bool {
    matches!(
        problem,
        Problem::PartMissing { .. }
            | Problem::ColumnsMissing { .. }
            | Problem::BlocksMissing(_)
            | Problem::TracesMissing(_)
            | Problem::NotEstimated(_)
            | Problem::StateMissing(_)
            | Problem::RulesUnknown(_)
            | Problem::NoUpstream(_)
    )
}

/// Whether a node reads the call as it is meant here: paging is of this API family, and a node would pass over it.
pub(super) fn is_understood(call: Context<'_>) -> bool {
    call.method != "eth_getLogs" || !call.params.iter().any(|param| value(param).get("paging_options").is_some())
}
