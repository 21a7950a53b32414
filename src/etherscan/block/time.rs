//! `getblocknobytime`.

use axum::response::Response;

use crate::etherscan::answer::{Dialect, Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::read::blocks::times::{after, before};
use trawl_core::primitives::Timestamp;

/// The block closest to a time, on one side of it: as an object, or alone for clients of Etherscan.
pub(crate) async fn closest(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let seconds = params.require("timestamp", Params::number)?;
    let time = Timestamp::from_seconds(seconds).map_err(|_| Refusal::Sentence("Invalid timestamp".into()))?;
    let number = match params.require_or("closest", Params::word, "before".to_owned())?.as_str() {
        "before" => before(app, head, time).await?,
        _ => after(app, head, time).await?,
    };
    let number = number.ok_or_else(|| Refusal::Sentence("No closest block found".into()))?;
    Ok(result(|writer| match params.dialect() {
        Dialect::Etherscan => writer.decimal(number),
        Dialect::Blockscout => writer.object(|block| block.key("blockNumber").decimal(number)),
    }))
}
