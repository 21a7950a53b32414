//! `module=block&action=getblocknobytime`.

use axum::response::Response;

use super::answer::{Refused, result};
use super::params::Params;
use crate::app::App;
use crate::read::block_times::{after, before};
use trawl_core::primitives::Timestamp;
use trawl_core::store::Head;

/// The block closest to a time, on one side of it.
pub(super) async fn closest(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    params.required("timestamp")?;
    let seconds = params.number("timestamp")?.unwrap_or_default();
    let time = Timestamp::from_seconds(seconds).map_err(|_| Refused::Sentence("Invalid timestamp".into()))?;
    let number = match params.required("closest")?.to_ascii_lowercase().as_str() {
        "before" => before(app, head, time).await?,
        "after" => after(app, head, time).await?,
        _ => return Err(Refused::Sentence("Invalid closest: use 'before' or 'after'".into())),
    };
    let number = number.ok_or_else(|| Refused::Sentence("No closest block found".into()))?;
    Ok(result(|writer| match params.text("chainid") {
        Some(_) => writer.decimal(number),
        None => writer.object(|block| block.key("blockNumber").decimal(number)),
    }))
}
