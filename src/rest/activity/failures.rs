//! Why transactions failed, by contract and method.

use alloy_primitives::Selector;
use axum::response::Response;

use super::asked::{Asked, too_much};
use super::names::names;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::rest::page::json;
use trawl_core::primitives::Address;
use trawl_core::store::Head;
use trawl_evm::revert_reason;
use trawl_json::activity::failures::{Counted, Failure, Reason, write_failures};
use trawl_query::charts::failures::{FailureSum, MOST_FAILURES, size, sums};
use trawl_query::hot_contracts::MOST_TRANSACTIONS;

/// The failures of transactions in settled blocks up to a height that stays for a while as a chain grows: of those to `contract`, or
/// of all. The most frequent ones come first.
///
/// # Errors
///
/// 422 for more transactions or failures than are looked at; [`Problem::LeftOut`] for a contract without the table that has the places
/// of its transactions; when the store fails.
pub(super) async fn answer(
    app: &App,
    head: &Head,
    contract: Option<&Address>,
    asked: &Asked,
) -> Result<Response, Problem> {
    if contract.is_some() && !head.transactions_by_address {
        return Err(Problem::LeftOut("transactions_by_address"));
    }
    let settled = asked.steady();
    let Some(last) = settled.last().map(|range| range.last()) else {
        let counted = Counted { groups: 0, block_number: None, is_complete: asked.is_whole };
        return Ok(json(write_failures(&[], &counted, &Default::default())));
    };
    let found = app.values_of(head, &size(contract, &settled)).await?;
    let found = found.first().ok_or(Problem::Internal)?;
    if found.transactions > MOST_TRANSACTIONS || found.failed > MOST_FAILURES {
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
    let counted = Counted {
        groups: rows.first().map_or(0, |row| row.groups),
        block_number: Some(last),
        is_complete: asked.is_whole && found.without_status == 0,
    };
    Ok(json(write_failures(&failures, &counted, &addresses)))
}

fn selector(row: &FailureSum) -> Option<[u8; 4]> {
    row.selector.first_chunk().copied()
}
