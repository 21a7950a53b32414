//! The coins that an address received and sent, by counterparty.

use axum::response::Response;

use super::activity_query::{ActivityQuery, too_much};
use super::flows::Flows;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_table;
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;
use trawl_query::stats::charts::coins::{MAX_MOVES, newest, size, sums};

/// The most frequent flows.
///
/// # Errors
///
/// 422 for an address with more transactions and calls than are examined, or more flows than are added up;
/// [`Problem::LeftOut`] without the table that has the positions of its transactions; when the store fails.
pub(super) async fn answer(
    app: &App,
    head: &Head,
    address: &Address,
    query: &ActivityQuery,
) -> Result<Response, Problem> {
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let found = app.values_of(head, &size(address, &query.span.settled)).await?;
    if found.first().is_some_and(|size| size.found >= MAX_MOVES) {
        return Err(too_much());
    }
    let settled = query.sums(app, head, |ranges| sums(address, ranges));
    let newest = query.newest(app, |span| newest(address, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let mut flows = Flows::default();
    let mut is_complete = query.is_complete;
    for row in settled {
        let Some(counterparty) = row.counterparty else {
            is_complete = false;
            continue;
        };
        flows.add(counterparty, None, [row.received, row.sent], row.amounts());
    }
    for row in newest {
        let Some(receiver) = row.to_address.or(row.created_contract) else {
            is_complete = false;
            continue;
        };
        // What is left of the others destroyed nothing and gave nothing.
        if row.value.is_zero() {
            continue;
        }
        let is = [receiver == *address, row.from_address == *address];
        let counterparty = if is[0] { row.from_address } else { receiver };
        flows.add(counterparty, None, is.map(u64::from), is.map(|is| Some(if is { row.value } else { U256::ZERO })));
    }
    flows.answer(app, head, is_complete).await
}
