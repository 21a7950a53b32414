//! `fundedby`: who first gave coins to an account.

use axum::response::Response;

use crate::error::Problem;
use crate::etherscan::answer::{NO_TRANSACTIONS, Refusal, result};
use crate::etherscan::params::Params;
use crate::etherscan::request::Request;
use crate::etherscan::window::missing_to_head;
use crate::read::completeness::require_table;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::OptionalTable;
use trawl_json::etherscan::{Funding, write_funding};
use trawl_query::account::funding::gifts;

/// Gifts that are read: some of the newest blocks may be from the account to itself.
const MAX_GIFTS: u64 = 1_000;

/// The oldest transaction or call that gave coins to an account and was not undone.
pub(crate) async fn first(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let account = params.require("address", Params::address)?;
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let found = app.reader().rows(&gifts(&account, &head.traces.span(), MAX_GIFTS)).await.map_err(Problem::from)?;
    let before = |last: BlockNumber| move |range: &BlockRange| range.first() < last;
    let missing = missing_to_head(app, head, &head.traces);
    let Some(gift) = found.into_iter().find(|gift| gift.from_address != account) else {
        return Err(match missing.is_empty() {
            true => Refusal::Nothing(NO_TRANSACTIONS),
            false => Problem::TracesMissing(missing).into(),
        });
    };
    let earlier: Vec<BlockRange> = missing.into_iter().filter(before(gift.block_number)).collect();
    if !earlier.is_empty() {
        return Err(Problem::TracesMissing(earlier).into());
    }
    let funding = Funding {
        block: gift.block_number,
        timestamp: gift.block_timestamp,
        giver: gift.from_address,
        transaction: gift.transaction_hash,
        value: gift.value,
    };
    Ok(result(|writer| write_funding(writer, &funding)))
}
