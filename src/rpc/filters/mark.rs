//! The point of the chain up to which the client of a filter was answered.

use super::store::Mark;
use crate::error::Problem;
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::store::Head;

/// The mark of a client that knows all of a head.
pub(super) async fn mark_of(call: Context<'_>, head: &Head) -> Result<Mark, Problem> {
    let block = match head.number() {
        Some(number) => Some((number, hash_of(call, head, number).await?)),
        None => None,
    };
    Ok(Mark { view: head.view, block, step: None })
}

/// The hash of the block at a height; `None` if none is readable there.
pub(super) async fn hash_of(call: Context<'_>, head: &Head, number: BlockNumber) -> Result<Option<B256>, Problem> {
    let block = call.app.block_at(number, head).await?;
    Ok(block.and_then(|block| block.rows().next()).map(|block| block.hash))
}
