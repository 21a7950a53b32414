//! `/api/v2/main-page/…`: the newest blocks and transactions, and how much of the chain is loaded.

use axum::extract::State;
use axum::response::Response;

use super::page::Page;
use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::rest::blocks::list::BlockItems;
use crate::rest::list::ListItems;
use crate::rest::transactions::items::TransactionItems;
use trawl_core::primitives::BlockRange;
use trawl_core::readable::Readable;
use trawl_json::JsonWriter;
use trawl_json::stats::indexing_status::IndexingStatus;
use trawl_query::walk::Walk;

/// Blocks and transactions that the page shows.
const BLOCKS: u64 = 4;
const TRANSACTIONS: u64 = 6;

/// The newest blocks, as in their list.
pub(super) async fn blocks(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let batches = app.rows_of(&head, &trawl_query::blocks::newest(&head.blocks.span(), BLOCKS)).await?;
    let page = Page::cut(&batches, BLOCKS);
    let items = BlockItems::load(&app, &head, &batches, &page).await?;
    let mut writer = JsonWriter::new();
    writer.array(|list| items.write(list));
    Ok(json(writer.into_bytes()))
}

/// The newest transactions, as in their list.
pub(super) async fn transactions(
    State(app): State<App>,
    head: RequestHead,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let newest = trawl_query::transactions::of_all(&head.blocks.span(), Walk::newest(TRANSACTIONS));
    let batches = app.rows_of(&head, &newest).await?;
    let items = TransactionItems::load(&app, &head, Page::cut(&batches, TRANSACTIONS).items()).await?;
    let mut writer = JsonWriter::new();
    writer.array(|list| items.write(list));
    Ok(json(writer.into_bytes()))
}

/// How much of the chain up to the head is loaded (docs/reference/rest.md#blocks-transactions-addresses).
pub(super) async fn indexing_status(head: RequestHead, _: Parameters<NoParameters>) -> Result<Response, Problem> {
    let head = head.get()?;
    let number = head.number().unwrap_or_default();
    // Whether there are call frames is seen above the genesis, which has none.
    let has_traces = head.traces.ranges().iter().any(|range| range.last() > 0);
    let status = IndexingStatus {
        blocks: share(&head.blocks, BlockRange::new(0, number)),
        traces: has_traces.then(|| share(&head.traces, BlockRange::new(1, number))),
    };
    Ok(json(status.write()))
}

/// The share of the blocks of `whole` of which a part is readable.
fn share(part: &Readable, whole: Option<BlockRange>) -> f64 {
    let Some(whole) = whole else { return 1.0 };
    let missing: u64 = part.missing(whole).into_iter().map(BlockRange::count).sum();
    if missing == 0 { 1.0 } else { 1.0 - missing as f64 / whole.count() as f64 }
}
