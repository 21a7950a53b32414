//! `/api/v2/addresses/{address}/blocks-validated`, and how many blocks an address made.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, Parameters, query_parameters};
use crate::http::query::PAGE_SIZE;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::miners::require_miners;
use crate::rest::blocks::list::{BlockItems, below};
use crate::rest::cursor::{BlockCursor, Cursor};
use crate::rest::page::{Page, empty_page};
use trawl_core::primitives::{Address, BlockRange};
use trawl_core::schema::OptionalTable;
use trawl_core::store::{Batch, Head};
use trawl_json::list::write_page;
use trawl_query::addresses::mined_blocks;
use trawl_query::walk::Order;

/// Most of the newest blocks that are added to the sum of settled ones; with more, the sum is not known.
const MAX_NEWEST: u64 = 10_000;

query_parameters! {
    pub(crate) BlocksValidatedParameters: [BlockCursor::PARAMETERS, PAGE_SIZE];
}

/// The blocks that an address made, from the highest down (docs/reference/http-contract.md#blocks).
pub(in crate::rest) async fn blocks_validated(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    query: Parameters<BlocksValidatedParameters>,
) -> Result<Response, Problem> {
    let before = BlockCursor::read(&query)?.map(|cursor| cursor.block_number);
    let (head, size) = (head.get()?, query.page_size());
    let span = below(&head, before);
    let blocks = mined_blocks::blocks(&address, &span, size + 1);
    let ((), batches) = tokio::try_join!(require_miners(&app, &head), app.rows_of(&head, &blocks))?;
    if span.is_empty() {
        return Ok(empty_page());
    }
    let page = Page::cut(&batches, size);
    let cursor = page.more.then(|| page.last(|batch, row| batch.view().block_number[row])).flatten();
    let next = cursor.map(|block_number| BlockCursor { block_number }.writer(page.count));
    let items = BlockItems::load(&app, &head, &batches, &page).await?;
    let policy = CachePolicy::of_page(&head, &head.blocks, before);
    Ok(policy.mark(json(write_page(|list| items.write(list), next))))
}

/// Whether it is known of every block up to the head who made it.
async fn is_known(app: &App, head: &Head) -> Result<bool, Problem> {
    let all = head.number().and_then(|number| BlockRange::new(0, number));
    if all.is_none_or(|all| !head.blocks.missing(all).is_empty()) {
        return Ok(false);
    }
    match require_miners(app, head).await {
        Ok(()) => Ok(true),
        Err(Problem::LeftOut(_) | Problem::ColumnsMissing { .. }) => Ok(false),
        Err(problem) => Err(problem),
    }
}

/// How many blocks an address made; `None` if that is not known.
pub(in crate::rest) async fn total(app: &App, head: &Head, address: &Address) -> Result<Option<u64>, Problem> {
    if !is_known(app, head).await? {
        return Ok(None);
    }
    let blocks = head.blocks.span();
    let newest = mined_blocks::newest_heights(address, &blocks, Order::NewestFirst, MAX_NEWEST);
    let settled = mined_blocks::total(address, &blocks.settled);
    let newest = async { Ok(app.reader().rows(&newest).await?) };
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest)?;
    let settled = settled.iter().flat_map(Batch::rows).next().map_or(0, |sum| sum.blocks);
    let newest = newest.len() as u64;
    Ok((newest < MAX_NEWEST).then_some(settled + newest))
}

/// How many blocks an address made, counted up to `most`; `None` if there are fewer and it is not known of all blocks
/// who made them.
pub(in crate::rest) async fn count(
    app: &App,
    head: &Head,
    address: &Address,
    most: u64,
) -> Result<Option<u64>, Problem> {
    if !head.tables.has(OptionalTable::BlocksByMiner) {
        return Ok(None);
    }
    let blocks = head.blocks.span();
    let newest = mined_blocks::newest_heights(address, &blocks, Order::NewestFirst, most);
    let settled = mined_blocks::heights(address, &blocks.settled, Order::NewestFirst, most);
    let newest = async { Ok(app.reader().rows(&newest).await?) };
    let (settled, newest) = tokio::try_join!(app.rows_of(head, &settled), newest)?;
    let settled: u64 = settled.iter().map(|batch| batch.len() as u64).sum();
    let found = most.min(settled + newest.len() as u64);
    Ok((found == most || is_known(app, head).await?).then_some(found))
}
