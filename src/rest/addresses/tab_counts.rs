//! `/api/v2/addresses/{address}/tabs-counters`.

use axum::extract::State;
use axum::response::Response;

use super::mined_blocks;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use crate::read::tokens::held_tokens::first_tokens;
use trawl_core::readable::Readable;
use trawl_core::schema::{Columns, OptionalTable, TransactionRow};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::addresses::tab_counts::AddressCounts;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::walk::Walk;

/// Rows that are counted at most: clients show more as "50+".
const MAX_COUNT: u64 = 51;

/// How long the lists of an address are, at most [`MAX_COUNT`] (docs/reference/http-contract.md#address-pages).
pub(in crate::rest) async fn tabs(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (blocks, receipts) = (head.blocks.span(), head.receipts.span());
    let (traces, withdrawals) = (head.traces.span(), head.withdrawals.span());
    let all = TransferFilter { direction: None, token: None, types: Vec::new() };
    let of_address =
        trawl_query::transactions::of_address::<TransactionRow>(&address, None, &blocks, Walk::newest(MAX_COUNT));
    let transactions = async {
        if !head.tables.has(OptionalTable::TransactionsByAddress) {
            return Ok(None);
        }
        count(&app, &head, &head.blocks, of_address).await
    };
    let transfers = trawl_query::tokens::transfers::of_address(&address, &all, &receipts, None, MAX_COUNT);
    let frames = trawl_query::transactions::internal::of_address(&address, None, &traces, None, MAX_COUNT);
    let withdrawn = trawl_query::blocks::withdrawals::of_address(&address, &withdrawals, None, MAX_COUNT);
    let (transactions, token_transfers, token_balances, logs, internal_transactions, withdrawals, validations) = tokio::try_join!(
        transactions,
        count(&app, &head, &head.receipts, transfers),
        first_tokens(&app, &head, &address, MAX_COUNT),
        count(&app, &head, &head.receipts, trawl_query::addresses::page::logs(&address, &receipts, MAX_COUNT)),
        count(&app, &head, &head.traces, frames),
        count(&app, &head, &head.withdrawals, withdrawn),
        mined_blocks::count(&app, &head, &address, MAX_COUNT)
    )?;
    let token_balances = token_balances.map(|held| held.len() as u64);
    let counts = AddressCounts {
        transactions,
        token_transfers,
        token_balances,
        logs,
        internal_transactions,
        withdrawals,
        validations,
    };
    let mut writer = JsonWriter::new();
    counts.write(&mut writer);
    Ok(json(writer.into_bytes()))
}

/// How many rows a statement finds; unknown if that is below its limit while some blocks of its `part` are not
/// readable.
async fn count<R: Columns>(
    app: &App,
    head: &Head,
    part: &Readable,
    statement: Statement<R>,
) -> Result<Option<u64>, Problem> {
    let batches = app.reader().all(&statement).await?;
    let found: u64 = batches.iter().map(|batch| batch.len() as u64).sum();
    Ok((found >= MAX_COUNT || is_complete(head, part)).then_some(found.min(MAX_COUNT)))
}
