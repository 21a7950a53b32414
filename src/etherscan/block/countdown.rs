//! `getblockcountdown`: how long until there is a block.

use axum::response::Response;

use crate::etherscan::answer::{Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::blocks::recent::{block_time, recent};
use trawl_json::etherscan::{Countdown, write_countdown};

/// The time until a block, if the blocks until then take as long as the newest did.
pub(crate) async fn countdown(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let block = params.require("blockno", Params::number)?;
    let current = head.number().unwrap_or_default();
    let Some(remaining) = block.checked_sub(current).filter(|blocks| *blocks > 0) else {
        return Err(Refusal::Sentence("Error! Block number already pass".into()));
    };
    let millis = block_time(&recent(app, head).await?);
    let millis = millis.ok_or_else(|| Refusal::Sentence("The time between blocks is not known here".into()))?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let seconds = remaining as f64 * millis / 1_000.0;
    Ok(result(|writer| write_countdown(writer, &Countdown { current, block, remaining, seconds })))
}
