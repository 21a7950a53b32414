//! `/api/v2/transactions/{hash}/token-transfers`, `…/internal-transactions` and `…/blobs`.

use axum::extract::State;
use axum::response::Response;

use super::transaction::with_part;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, TransactionPath, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::cursor::{Cursor, FrameCursor, TransferCursor};
use crate::rest::list::list_page;
use trawl_core::schema::BlockPart;
use trawl_json::transactions::write_blobs;

query_parameters! {
    pub(crate) TokenTransfersParameters: [&[("type", Kind::Standards)], TransferCursor::PARAMETERS, PAGE_SIZE];
}

/// The token transfers of one transaction, in order (docs/reference/http-contract.md#token-transfers).
pub(in crate::rest) async fn token_transfers(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    query: Parameters<TokenTransfersParameters>,
) -> Result<Response, Problem> {
    // A page that ended after a whole log has no index in a batch.
    let is_complete = query.integer("index_in_batch").is_none();
    let after = TransferCursor::read(&query)?.map(|cursor| {
        let batch_index = if is_complete { u64::MAX } else { cursor.position.batch_index };
        (cursor.position.log_index, batch_index)
    });
    let (head, size) = (head.get()?, query.page_size());
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Receipts).await?;
    let transaction = batch.view();
    let block = transaction.block_number[row];
    let statement = trawl_query::tokens::transfers::of_transaction_after(
        &head.receipts.at(block),
        transaction.transaction_index[row],
        &query.standards("type"),
        after,
        size + 1,
    );
    Ok(CachePolicy::of_block(&head, block).mark(list_page(&app, &head, &statement, size).await?))
}

query_parameters! {
    pub(crate) InternalTransactionsParameters: [FrameCursor::PARAMETERS, PAGE_SIZE];
}

/// The call frames of one transaction, in order of execution, those that the list of an address has
/// (docs/reference/http-contract.md#internal-transactions).
pub(in crate::rest) async fn frames(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    query: Parameters<InternalTransactionsParameters>,
) -> Result<Response, Problem> {
    // A negative index is the position before the first frame.
    let after = FrameCursor::read(&query)?.and_then(|_| query.height("index"));
    let (head, size) = (head.get()?, query.page_size());
    let (batch, row) = with_part(&app, &hash, &head, BlockPart::Traces).await?;
    let transaction = batch.view();
    let (block, index) = (transaction.block_number[row], transaction.transaction_index[row]);
    let statement =
        trawl_query::transactions::internal::listed_of_transaction(&head.traces.at(block), index, after, size + 1);
    Ok(CachePolicy::of_block(&head, block).mark(list_page(&app, &head, &statement, size).await?))
}

/// The blobs of one transaction, by their hashes; of other transactions none.
pub(in crate::rest) async fn blobs(
    State(app): State<App>,
    head: RequestHead,
    TransactionPath(hash): TransactionPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (batch, row) = app.transaction(&hash, &head).await?.ok_or(Problem::NotFound)?;
    let transaction = batch.view();
    let block = transaction.block_number[row];
    if transaction.lacking.items::<String>(row).any(|column| column == "blob_versioned_hashes") {
        let columns = vec!["blob_versioned_hashes".into()];
        return Err(Problem::ColumnsMissing { what: format!("transaction {hash}"), columns });
    }
    Ok(CachePolicy::of_block(&head, block).mark(json(write_blobs(&transaction, row))))
}
