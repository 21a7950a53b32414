//! Why transactions failed, by contract and method.

use alloy_primitives::Selector;
use axum::response::Response;

use super::activity_query::{ActivityQuery, too_much};
use super::names::names;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::whole_body::json;
use crate::read::completeness::require_table;
use trawl_core::primitives::{Address, BlockRange, Direction};
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;
use trawl_evm::revert_reason;
use trawl_json::activity::failures::{Failure, FailureBasis, Reason, write_failures};
use trawl_query::contracts::hot_contracts;
use trawl_query::contracts::hot_contracts::MAX_TRANSACTIONS;
use trawl_query::stats::charts::failures::{FailureSum, MAX_FAILURES, size, sums};
use trawl_query::transactions::sorted;
use trawl_query::transactions::sorted::{MAX_SORTED, SortedBy, SortedList};
use trawl_query::walk::SortOrder;

/// The failures of transactions in settled blocks up to a height that stays for a while as a chain grows: of those to
/// `contract`, or of all. The most frequent ones come first.
///
/// # Errors
///
/// 422 for more transactions or failures than are examined; [`Problem::LeftOut`] for a contract without the table that
/// has the positions of its transactions; when the store fails.
pub(super) async fn answer(
    app: &App,
    head: &Head,
    contract: Option<&Address>,
    query: &ActivityQuery,
) -> Result<Response, Problem> {
    if contract.is_some() {
        require_table(head, OptionalTable::TransactionsByAddress)?;
    }
    let settled = query.steady();
    let Some(last) = settled.last().map(|range| range.last()) else {
        // Blocks that are not settled are not counted.
        let counted =
            FailureBasis { groups: 0, block_number: None, is_complete: query.is_complete && query.span.is_empty() };
        return Ok(json(write_failures(&[], &counted, &Default::default())));
    };
    require_bounded(app, head, contract, &settled).await?;
    let found = app.values_of(head, &size(contract, &settled)).await?;
    let found = found.first().ok_or(Problem::Internal)?;
    if found.failed > MAX_FAILURES {
        return Err(too_much());
    }
    let rows = app.values_of(head, &sums(contract, &settled)).await?;
    let shown = rows.iter().filter_map(|row| row.to_address);
    let (addresses, ..) = app.address_info(shown, LabelQuery::default(), head).await?;
    let methods = rows.iter().filter_map(selector).map(Selector::from).collect();
    let names = names(app, head, methods).await?;
    let failure = |row: &FailureSum| Failure {
        contract: row.to_address,
        selector: selector(row),
        signature: selector(row).and_then(|selector| names.get(&selector).cloned()),
        reason: (row.has_frame == 1).then(|| Reason {
            error: row.error.clone(),
            selector: row.output.first_chunk().copied(),
            message: revert_reason(&row.output),
        }),
        transactions: row.transactions,
        gas: (row.without_gas == 0).then_some((row.gas, row.fees)),
    };
    let failures: Vec<Failure> = rows.iter().map(failure).collect();
    let counted = FailureBasis {
        groups: rows.first().map_or(0, |row| row.groups),
        block_number: Some(last),
        is_complete: query.is_complete && found.without_status == 0,
    };
    Ok(json(write_failures(&failures, &counted, &addresses)))
}

/// Requires that there are not more transactions than are examined. Their number comes from the keys of a contract's
/// transactions, or from the sums of blocks.
async fn require_bounded(
    app: &App,
    head: &Head,
    contract: Option<&Address>,
    settled: &[BlockRange],
) -> Result<(), Problem> {
    let is_bounded = match (contract, settled.first().zip(settled.last())) {
        (Some(contract), _) => {
            let received =
                SortedList { direction: Some(Direction::To), by: SortedBy::Value, sorting: SortOrder::LargestFirst };
            let found = app.values_of(head, &sorted::size(contract, &received, settled)).await?;
            found.first().is_none_or(|size| size.found <= MAX_SORTED)
        }
        (None, Some((first, last))) => {
            let range = BlockRange::new(first.first(), last.last()).ok_or(Problem::Internal)?;
            let found = app.values_of(head, &hot_contracts::size(&[range])).await?;
            found.first().is_none_or(|size| size.transactions <= MAX_TRANSACTIONS)
        }
        (None, None) => true,
    };
    if is_bounded { Ok(()) } else { Err(too_much()) }
}

fn selector(row: &FailureSum) -> Option<[u8; 4]> {
    row.selector.first_chunk().copied()
}
