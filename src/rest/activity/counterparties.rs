//! The token transfers of an address by counterparty and token.

use axum::response::Response;

use super::activity_query::ActivityQuery;
use super::flows::Flows;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_query::stats::charts::counterparties::{newest, sums};

/// The flows of most transfers.
///
/// # Errors
///
/// 422 for more flows than are added up; when the store fails.
pub(super) async fn answer(
    app: &App,
    head: &Head,
    address: &Address,
    query: &ActivityQuery,
) -> Result<Response, Problem> {
    let settled = query.sums(app, head, |ranges| sums(address, ranges));
    let newest = query.newest(app, |span| newest(address, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let mut flows = Flows::default();
    for row in settled {
        let (times, amounts) = ([row.received, row.sent], row.amounts());
        flows.add(row.counterparty, Some((row.token_address, row.token_type)), times, amounts);
    }
    for row in newest {
        let is = [row.to_address == *address, row.from_address == *address];
        let counterparty = if is[0] { row.from_address } else { row.to_address };
        let amounts = is.map(|is| Some(if is { row.value } else { U256::ZERO }));
        flows.add(counterparty, Some((row.token_address, row.token_type)), is.map(u64::from), amounts);
    }
    flows.answer(app, head, query.is_complete).await
}
