//! `/api/v2/transactions/{hash}/…`.

use axum::extract::State;
use axum::response::Response;

use super::failures::reasons_of_calls;
use super::frame_items::has_failed_calls;
use super::items::TransactionItems;
use super::log_items::LogItems;
use super::transfer_items::first_transfers;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, TransactionPath, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_part;
use crate::read::transactions::authority_nonces::authority_nonces;
use crate::rest::cursor::{Cursor, LogCursor};
use crate::rest::list::ListItems;
use crate::rest::page::Page;
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::{BlockPart, Column, TransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_json::list::write_page_with;
use trawl_json::transactions::raw_trace::write_frame;
use trawl_json::{JsonWriter, Object};

query_parameters! {
    pub(crate) LogsParameters: [&[("proof", Kind::Name(&["0", "1"]))], LogCursor::PARAMETERS, PAGE_SIZE];
}

query_parameters! {
    pub(crate) RawTraceParameters: [&[("reasons", Kind::Name(&["0", "1"]))]];
}

/// The transaction with a hash, as a batch and a row of it.
///
/// # Errors
///
/// [`Problem::NotFound`] without such a transaction, [`Problem::PartMissing`] if the named part of its block is not
/// readable; or when the store fails.
pub(in crate::rest) async fn with_part(
    app: &App,
    hash: &B256,
    head: &Head,
    part: BlockPart,
) -> Result<(Batch<TransactionRow>, usize), Problem> {
    let (batch, row) = app.transaction(hash, head).await?.ok_or(Problem::NotFound)?;
    let block = batch.view().block_number[row];
    require_part(head, part, block)?;
    Ok((batch, row))
}

/// One transaction (docs/reference/http-contract.md#transactions).
pub(in crate::rest) async fn transaction(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (batch, row) = app.transaction(&hash, &head).await?.ok_or(Problem::NotFound)?;
    let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
    let (mut items, transfers, has_failed_calls, authority_nonces) = tokio::try_join!(
        TransactionItems::load(&app, &head, vec![(&batch, row)]),
        first_transfers(&app, &head, block, index),
        has_failed_calls(&app, &head, block, index),
        authority_nonces(&app, &head, &batch, row)
    )?;
    if let Some(facts) = items.facts.first_mut() {
        facts.token_transfers = transfers;
        facts.has_failed_calls = has_failed_calls;
        facts.authority_nonces = authority_nonces;
    }
    Ok(json(items.write_first()))
}

/// The logs of one transaction, ascending (docs/reference/http-contract.md#logs).
pub(in crate::rest) async fn logs(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    query: Parameters<LogsParameters>,
) -> Result<Response, Problem> {
    let cursor = LogCursor::read(&query)?;
    let head = head.get()?;
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Receipts).await?;
    let transaction = batch.view();
    let block = transaction.block_number[row];
    let recipient = Option::<Address>::get(&transaction.to_address, row);
    let after = cursor.and_then(|cursor| cursor.log_index);
    let size = query.page_size();
    let statement = trawl_query::logs::of_transaction(
        &head.receipts.at(block),
        transaction.transaction_index[row],
        after,
        size + 1,
    );
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let last = page.more.then(|| page.last(|batch, row| batch.view().log_index[row])).flatten();
    let next = last.map(|index| LogCursor { block_number: block, log_index: Some(index.into()) }.writer(page.count));
    let items = LogItems::with_recipients(&app, &head, page.items(), |_| recipient).await?;
    let index = transaction.transaction_index[row];
    let proof = match query.name("proof") {
        Some("1") => Some(app.receipt_proof(&head, block, index).await?),
        _ => None,
    };
    let with_proof = |page: &mut Object<'_>| {
        if let Some(proof) = &proof {
            proof.write_rest(page.key("proof"));
        }
    };
    let page = write_page_with(|list| items.write(list), next, with_proof);
    Ok(CachePolicy::of_block(&head, block).mark(json(page)))
}

/// The call frames of one transaction, in order of execution, in Parity's shape
/// (docs/reference/http-contract.md#raw-traces).
pub(in crate::rest) async fn raw_trace(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    query: Parameters<RawTraceParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Traces).await?;
    let transaction = batch.view();
    let block = transaction.block_number[row];
    let statement =
        trawl_query::transactions::internal::of_transaction(&head.traces.at(block), transaction.transaction_index[row]);
    let batches = app.rows_of(&head, &statement).await?;
    let reasons = match query.name("reasons") {
        Some("1") => Some(reasons_of_calls(&app, &head, &batches).await?),
        _ => None,
    };
    let mut writer = JsonWriter::new();
    writer.array(|frames| {
        for batch in batches.iter() {
            let view = batch.view();
            (0..batch.len()).for_each(|row| write_frame(frames.item(), &view, row, reasons.as_ref()));
        }
    });
    // What reads a reason may be loaded later.
    let policy = if reasons.is_some() { CachePolicy::of_block } else { CachePolicy::of_block_alone };
    Ok(policy(&head, block).mark(json(writer.into_bytes())))
}
