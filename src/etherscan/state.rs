//! The state after a block that a request names.

use super::answer::Refusal;
use super::params::Params;
use super::request::Request;
use crate::http::values::BlockName;
use crate::read::state::State;
use trawl_core::primitives::BlockNumber;
use trawl_core::store::Head;

/// The height of a block up to the newest one.
///
/// # Errors
///
/// [`Refusal::Sentence`] for one above, and for a name that means no block yet.
fn height(head: &Head, name: BlockName) -> Result<BlockNumber, Refusal> {
    let number = name.number(head).filter(|number| head.number().is_some_and(|newest| *number <= newest));
    number.ok_or_else(|| Refusal::Sentence("Block does not exist".into()))
}

/// The height that a `tag` names; the newest one without it.
///
/// # Errors
///
/// [`Refusal::Sentence`] for a height above the newest block, and for a name that means no block yet.
pub(crate) fn tagged(head: &Head, params: &Params) -> Result<BlockNumber, Refusal> {
    height(head, params.tag("tag").unwrap_or(BlockName::Head))
}

/// The height of a `blockno`.
///
/// # Errors
///
/// [`Refusal::Sentence`] without it, or for one above the newest block.
pub(crate) fn numbered(head: &Head, params: &Params) -> Result<BlockNumber, Refusal> {
    height(head, BlockName::Number(params.require("blockno", Params::number)?))
}

/// The state after a block.
///
/// # Errors
///
/// When it is not known.
pub(crate) async fn after(request: &Request, number: BlockNumber) -> Result<State, Refusal> {
    Ok(State::after(&request.app, number, &request.head).await?)
}
