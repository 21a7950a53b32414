//! Lists over all blocks, newest first: transactions, token transfers, call frames, withdrawals.

use axum::extract::State;
use axum::response::Response;

use super::cursor::{
    ChainWithdrawalCursor, Cursor, FrameCursor, OF_PENDING, TransactionCursor, TransferCursor, require_block,
};
use super::list::list_page;
use super::page::{Page, empty_page};
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::withdrawals::withdrawal_sums;
use crate::read::completeness::require_part;
use crate::rest::blocks::withdrawals;
use trawl_core::primitives::BlockRange;
use trawl_core::schema::{BlockPart, OptionalTable};
use trawl_core::store::Head;
use trawl_json::blocks::withdrawals::{Scope, write_counters};
use trawl_query::tokens::transfers::of_standards;
use trawl_query::transactions::internal::{of_all, of_all_searched, of_transaction_down};
use trawl_query::transactions::of_blobs;
use trawl_query::walk::{Order, Walk};

query_parameters! {
    pub(crate) TransactionsParameters: [
        &[("filter", STATES), ("type", TYPES)],
        TransactionCursor::PARAMETERS,
        OF_PENDING,
        PAGE_SIZE,
    ];
}

/// What the transactions of the list of all are. Clients of Blockscout's first pages of documentation write both.
const STATES: Kind = Kind::Name(&[
    "validated",
    "pending",
    "pending | validated",
    "validated | pending",
    "pending|validated",
    "validated|pending",
]);

/// The type of transactions that the list of all can be of.
const TYPES: Kind = Kind::Name(&["blob_transaction"]);

/// All transactions, newest first (docs/reference/http-contract.md#lists-of-everything).
pub(super) async fn transactions(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<TransactionsParameters>,
) -> Result<Response, Problem> {
    let beyond = TransactionCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    if query.name("filter") == Some("pending") {
        return Ok(empty_page());
    }
    require_block(&query)?;
    let walk = Walk { order: Order::NewestFirst, beyond, limit: size + 1 };
    let plan = if query.name("type").is_some() { of_blobs } else { trawl_query::transactions::of_all };
    list_page(&app, &head, &plan(&head.blocks.span(), walk), size).await
}

query_parameters! {
    pub(crate) TokenTransfersParameters:
        [&[("type", Kind::Standards), ("limit", Kind::Count)], TransferCursor::PARAMETERS, PAGE_SIZE];
}

/// All token transfers, newest first (docs/reference/http-contract.md#lists-of-everything).
pub(super) async fn token_transfers(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<TokenTransfersParameters>,
) -> Result<Response, Problem> {
    let before = TransferCursor::read(&query)?.map(|cursor| cursor.position);
    let (head, size) = (head.get()?, query.page_size());
    let statement = of_standards(&query.standards("type"), &head.receipts.span(), before, size + 1);
    let policy = CachePolicy::of_page(&head, &head.receipts, query.height("block_number"));
    Ok(policy.mark(list_page(&app, &head, &statement, size).await?))
}

query_parameters! {
    pub(crate) InternalTransactionsParameters:
        [&[("transaction_hash", Kind::Hash), ("limit", Kind::Count)], FrameCursor::PARAMETERS, PAGE_SIZE];
}

/// All listed call frames, or those of one transaction, newest first
/// (docs/reference/http-contract.md#lists-of-everything).
pub(super) async fn internal_transactions(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<InternalTransactionsParameters>,
) -> Result<Response, Problem> {
    let before = FrameCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let statement = match query.hash("transaction_hash") {
        None => {
            let plan =
                if head.tables.has(OptionalTable::ListedInternalTransactions) { of_all } else { of_all_searched };
            plan(&head.traces.span(), before, size + 1)
        }
        Some(hash) => {
            let Some((batch, row)) = app.transaction(&hash, &head).await? else { return Ok(empty_page()) };
            let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
            require_part(&head, BlockPart::Traces, block)?;
            of_transaction_down(&head.traces.at(block), index, before, size + 1)
        }
    };
    let policy = CachePolicy::of_page(&head, &head.traces, query.height("block_number"));
    Ok(policy.mark(list_page(&app, &head, &statement, size).await?))
}

query_parameters! {
    pub(crate) WithdrawalsParameters: [ChainWithdrawalCursor::PARAMETERS, PAGE_SIZE];
}

/// All withdrawals, newest first (docs/reference/http-contract.md#lists-of-everything).
pub(super) async fn withdrawals(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<WithdrawalsParameters>,
) -> Result<Response, Problem> {
    let cursor = ChainWithdrawalCursor::read(&query)?;
    let (head, size) = (head.get()?, query.page_size());
    let statement = match cursor {
        Some(ChainWithdrawalCursor { block_number: None, index }) => {
            trawl_query::blocks::withdrawals::below_index(&head.withdrawals.span(), index, size + 1)
        }
        cursor => {
            let before = cursor.and_then(|cursor| Some((cursor.block_number?, cursor.index)));
            trawl_query::blocks::withdrawals::of_all(&head.withdrawals.span(), before, size + 1)
        }
    };
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let position = |block_number, index| ChainWithdrawalCursor { block_number: Some(block_number), index };
    let last = page
        .more
        .then(|| page.last(|batch, row| position(batch.view().block_number[row], batch.view().withdrawal_index[row])));
    let next = last.flatten().map(|cursor| cursor.writer(page.count));
    let policy = CachePolicy::of_page(&head, &head.withdrawals, query.height("block_number"));
    Ok(policy.mark(withdrawals::write(&app, &head, &page, Scope::Address, next).await?))
}

/// How many withdrawals there are and what they add up to (docs/reference/http-contract.md#lists-of-everything).
pub(super) async fn withdrawal_counters(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let count = withdrawals_count(&app, &head).await?;
    let sums = match count {
        Some(_) => match withdrawal_sums(&app, &head).await {
            // Of a chain of which a part is loaded, it is a sum of that part, and not worth a failure.
            Err(Problem::TooExpensive) => None,
            sums => sums?,
        },
        None => None,
    };
    let sum = sums.filter(|sums| Some(sums.withdrawals) == count).map(|sums| sums.amount);
    Ok(json(write_counters(count, sum)))
}

/// The number of withdrawals of the chain, whose indexes count from 0 without a gap: known where every block from that
/// of the newest one to the head is loaded.
async fn withdrawals_count(app: &App, head: &Head) -> Result<Option<u64>, Problem> {
    let Some(number) = head.number() else { return Ok(None) };
    let newest = trawl_query::blocks::withdrawals::of_all(&head.withdrawals.span(), None, 1);
    let newest = app.values_of(head, &newest).await?.into_iter().next();
    let first = newest.as_ref().map_or(1, |newest| newest.block_number);
    let is_complete = BlockRange::new(first, number).is_none_or(|above| head.withdrawals.missing(above).is_empty());
    Ok(is_complete.then(|| newest.map_or(0, |newest| newest.withdrawal_index + 1)))
}
