//! The block that an action is about.

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::Refusal;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::BlockRow;
use trawl_core::store::{Batch, Head};

/// The row of a block.
///
/// # Errors
///
/// [`Refusal::Sentence`] above the newest block, [`Problem::BlocksMissing`] below it; when the store fails.
pub(super) async fn readable_block(app: &App, head: &Head, number: BlockNumber) -> Result<Batch<BlockRow>, Refusal> {
    let is_above = head.number().is_none_or(|newest| number > newest);
    app.block_at(number, head).await?.ok_or_else(|| match is_above {
        true => Refusal::Sentence("No record found".into()),
        false => Problem::BlocksMissing(vec![BlockRange::single(number)]).into(),
    })
}
