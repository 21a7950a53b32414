//! `/api/v2/addresses/{address}/counters`.

use axum::extract::State;
use axum::response::Response;

use super::mined_blocks;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use trawl_core::primitives::{Address, Direction, U256};
use trawl_core::schema::{Column, Columns, OptionalTable, TransactionRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::addresses::tab_counts::AddressTotals;
use trawl_query::addresses::counters;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::walk::Walk;

/// Most rows of the newest blocks that are added to the sums of settled ones; with more, the sum is not known.
const MAX_NEWEST: u64 = 10_000;

/// What is summed over all transactions, transfers and blocks of an address
/// (docs/reference/http-contract.md#address-pages).
pub(in crate::rest) async fn counters(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (transactions, token_transfers, validations) = tokio::try_join!(
        transactions(&app, &head, &address),
        transfers(&app, &head, &address),
        mined_blocks::total(&app, &head, &address)
    )?;
    let (transactions, gas) = transactions.unwrap_or_default();
    let mut writer = JsonWriter::new();
    AddressTotals { transactions, token_transfers, gas, validations }.write(&mut writer);
    Ok(json(writer.into_bytes()))
}

/// Transactions and gas, each as far as it is known.
type Sums = (Option<u64>, Option<U256>);

/// `None` if the blocks or the table are not all there.
async fn transactions(app: &App, head: &Head, address: &Address) -> Result<Option<Sums>, Problem> {
    if !head.tables.has(OptionalTable::TransactionsByAddress) || !is_complete(head, &head.blocks) {
        return Ok(None);
    }
    let blocks = head.blocks.span();
    let newest = Walk::newest(MAX_NEWEST);
    let newest = trawl_query::transactions::of_address(address, None, &blocks.without_settled(), newest);
    let settled = counters::transactions(address, &blocks.settled);
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest_rows(app, &newest))?;
    let Some(newest) = newest else { return Ok(None) };
    let settled = settled.iter().flat_map(Batch::rows).next();
    let settled_count = settled.as_ref().map_or(0, |sums| sums.transactions);
    let newest_count: u64 = newest.iter().map(|batch| batch.len() as u64).sum();
    let known = settled.as_ref().is_none_or(|sums| sums.without_receipt == 0);
    let gas = |direction| -> Option<U256> {
        let settled = settled.as_ref().map_or(U256::ZERO, |sums| match direction {
            Direction::From => sums.gas_sent,
            Direction::To => sums.gas_received,
        });
        Some(settled.saturating_add(newest_gas(&newest, address, direction)?))
    };
    let received = gas(Direction::To).filter(|_| known);
    let gas = received.and_then(|received| if received.is_zero() { gas(Direction::From) } else { Some(received) });
    Ok(Some((Some(settled_count + newest_count), gas)))
}

/// The gas of the rows with the address on a side; `None` if one of them has no receipt.
fn newest_gas(batches: &[Batch<TransactionRow>], address: &Address, direction: Direction) -> Option<U256> {
    let mut sum = 0_u64;
    for batch in batches {
        let view = batch.view();
        for row in 0..batch.len() {
            let receivers = [&view.to_address, &view.contract_address];
            let is_there = match direction {
                Direction::From => Address::get(&view.from_address, row) == *address,
                Direction::To => receivers.iter().any(|column| Option::<Address>::get(column, row) == Some(*address)),
            };
            if is_there {
                sum = sum.checked_add(Some(view.gas_used[row]).filter(|_| view.has_receipt[row] == 1)?)?;
            }
        }
    }
    Some(U256::from(sum))
}

async fn transfers(app: &App, head: &Head, address: &Address) -> Result<Option<u64>, Problem> {
    if !is_complete(head, &head.receipts) {
        return Ok(None);
    }
    let (blocks, all) = (head.receipts.span(), TransferFilter::default());
    let newest = blocks.without_settled();
    let newest = trawl_query::tokens::transfers::of_address(address, &all, &newest, None, MAX_NEWEST);
    let settled = counters::transfers(address, &blocks.settled);
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest_rows(app, &newest))?;
    let settled = settled.iter().flat_map(Batch::rows).next().map_or(0, |sums| sums.transfers);
    Ok(newest.map(|newest| settled + newest.iter().map(|batch| batch.len() as u64).sum::<u64>()))
}

/// The rows of the newest blocks; `None` if there are more than [`MAX_NEWEST`].
async fn newest_rows<R: Columns>(app: &App, statement: &Statement<R>) -> Result<Option<Vec<Batch<R>>>, Problem> {
    let rows = app.reader().all(statement).await?;
    let count: u64 = rows.iter().map(|batch| batch.len() as u64).sum();
    Ok((count < MAX_NEWEST).then_some(rows))
}
