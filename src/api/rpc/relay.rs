//! Calls that the tables do not answer, and an upstream node may.

use serde_json::value::RawValue;

use super::methods::Answer;
use super::params::value;
use crate::api::{App, Problem};

/// What an upstream node answers to this call; `otherwise` where none is configured.
///
/// For methods whose answer is not covered here: hand over the call as it came and the problem that it would get.
pub(super) async fn forward(
    app: &App,
    method: &str,
    params: &[&RawValue],
    otherwise: Problem,
) -> Result<Answer, Problem> {
    let Some(upstream) = &app.options().upstream else { return Err(otherwise) };
    let chain_id = app.chain_id(&*app.head()?);
    let result = upstream.forward(method, params, chain_id).await?;
    Ok(Answer::Whole(Box::<str>::from(result).into_string().into_bytes()))
}

/// Whether a problem means that the tables do not have what the answer needs, so that a node may know more.
pub(super) fn is_lack(problem: &Problem) -> bool {
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
pub(super) fn is_understood(method: &str, params: &[&RawValue]) -> bool {
    method != "eth_getLogs" || !params.iter().any(|param| value(param).get("paging_options").is_some())
}
