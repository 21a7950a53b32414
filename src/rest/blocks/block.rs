//! `/api/v2/blocks/{id}`: one block; its call frames; and how long until there is one.

use axum::extract::State;
use axum::response::Response;

use super::list::{NonCanonicalBlocks as _, extras, extras_of, readable};
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::{InvalidParameter, Problem};
use crate::http::parameters::{BlockPath, NoParameters, Parameters, query_parameters};
use crate::http::query::{BlockId, Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::blob_price::blob_price;
use crate::read::blocks::recent::{block_time, recent};
use crate::read::completeness::require_part;
use crate::rest::cursor::{BlockFrameCursor, Cursor};
use crate::rest::list::ListItems;
use crate::rest::page::Page;
use crate::rest::transactions::frame_items::{FrameItems, position};
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::{BlockPart, BlockRow, Column, UncleRow};
use trawl_core::store::{Batch, Head};
use trawl_json::JsonWriter;
use trawl_json::blocks::countdown::BlockCountdown;
use trawl_json::blocks::{BlockExtras, BlockKind, write_rest_block};
use trawl_json::list::write_page;
use trawl_query::transactions::internal::FrameFilter;

/// One block, as in the list; by its hash also one that another replaced, or an uncle
/// (docs/reference/http-contract.md#blocks-in-paths).
pub(in crate::rest) async fn block(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let number = match id {
        BlockId::Number(number) => Some(number),
        BlockId::Hash(hash) => match app.block_with_hash(&hash, &head).await? {
            None => return sibling(&app, &head, &hash).await,
            number => number,
        },
    };
    let number = readable(&app, &head, BlockId::Number(number.ok_or(Problem::NotFound)?)).await?;
    let batches = app.rows_of(&head, &trawl_query::blocks::at(&head.blocks.at(number))).await?;
    let page = Page::cut(&batches, 1);
    let has_blob_gas =
        page.last(|batch, row| Option::<u64>::get(&batch.view().excess_blob_gas, row)).flatten().is_some();
    let mut known = extras(&app, &head, &page).await?;
    let mut extras =
        known.remove(&number).unwrap_or_else(|| BlockExtras { family: app.family(&head), ..BlockExtras::default() });
    if has_blob_gas {
        extras.blob_price = blob_price(&app, &head, number).await?;
    }
    write(&app, &head, page.items().first().copied(), BlockKind::Block, &extras).await
}

/// The block with a hash that another branch replaced, whose call frames are not stored, or the uncle.
async fn sibling(app: &App, head: &Head, hash: &B256) -> Result<Response, Problem> {
    let heights = app.reader().rows(&trawl_query::blocks::reorged::by_hash(hash)).await?;
    let Some(number) = heights.first().map(|height| height.block_number) else { return uncle(app, head, hash).await };
    let batches = app.reader().all(&trawl_query::blocks::reorged::at(&head.blocks.span(), number)).await?;
    let has_hash = |batch: &Batch<BlockRow>, row: usize| batch.view().hash.bytes(row).as_slice() == hash.as_slice();
    let mut found = Page::cut(&batches, u64::MAX).items();
    found.retain(|(batch, row)| has_hash(batch, *row));
    write(
        app,
        head,
        found.first().copied(),
        BlockKind::Reorged,
        &BlockExtras { family: app.family(head), ..BlockExtras::default() },
    )
    .await
}

/// The uncle with a hash.
async fn uncle(app: &App, head: &Head, hash: &B256) -> Result<Response, Problem> {
    let batches = app.reader().all(&trawl_query::blocks::uncles::by_hash(hash, &head.uncles.span())).await?;
    let (batch, row) = Page::cut(&batches, 1).items().first().copied().ok_or(Problem::NotFound)?;
    let view = batch.view();
    let nephew = vec![view.nephew_block_number[row]];
    let (facts, extras) =
        tokio::try_join!(app.addresses([Address::get(&view.miner, row)], head), extras_of(app, head, nephew))?;
    let mut writer = JsonWriter::new();
    UncleRow::write(&mut writer, batch, row, &facts, &extras);
    Ok(json(writer.into_bytes()))
}

/// The block that was found, if one was.
async fn write(
    app: &App,
    head: &Head,
    found: Option<(&Batch<BlockRow>, usize)>,
    kind: BlockKind,
    extras: &BlockExtras,
) -> Result<Response, Problem> {
    let (batch, row) = found.ok_or(Problem::NotFound)?;
    let view = batch.view();
    let facts = app.addresses([Address::get(&view.producer, row)], head).await?;
    let mut writer = JsonWriter::new();
    write_rest_block(&mut writer, kind, &view, row, &facts, extras);
    Ok(json(writer.into_bytes()))
}

query_parameters! {
    pub(crate) InternalTransactionsParameters: [
        &[
            ("internal_type", Kind::Name(&["call", "create", "create2", "reward", "selfdestruct", "stop"])),
            ("call_type", Kind::Name(&["call", "callcode", "delegatecall", "staticcall"])),
        ],
        BlockFrameCursor::PARAMETERS,
        PAGE_SIZE,
    ];
}

/// The call frames of one block, in order of execution, those that the list of an address has
/// (docs/reference/http-contract.md#internal-transactions).
pub(in crate::rest) async fn internal_transactions(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    query: Parameters<InternalTransactionsParameters>,
) -> Result<Response, Problem> {
    let after = BlockFrameCursor::read(&query)?;
    let after = after.map(|cursor| (cursor.transaction_index, cursor.frame_index));
    let filter = FrameFilter { kind: query.name("internal_type"), call_type: query.name("call_type") };
    let (head, size) = (head.get()?, query.page_size());
    let block = readable(&app, &head, id).await?;
    require_part(&head, BlockPart::Traces, block)?;
    let span = head.traces.at(block);
    let statement = trawl_query::transactions::internal::listed_of_block(&span, filter, after, size + 1);
    let batches = app.rows_of(&head, &statement).await?;
    let page = Page::cut(&batches, size);
    let items = FrameItems::load(&app, &head, page.items()).await?;
    let last = page.more.then(|| page.last(position)).flatten();
    let next = last.map(|last| {
        BlockFrameCursor { transaction_index: last.transaction_index, frame_index: last.frame_index }.writer(page.count)
    });
    Ok(CachePolicy::of_block(&head, block).mark(json(write_page(|list| items.write(list), next))))
}

/// How long until there is a block, at the pace of the newest ones; blocks that are there are not found.
pub(in crate::rest) async fn countdown(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let BlockId::Number(block) = id else {
        let (name, detail) = ("block_number_param".into(), "Invalid integer. Got: string".into());
        return Err(Problem::Invalid(vec![InvalidParameter { name, detail }]));
    };
    let head = head.get()?;
    let current = head.number().ok_or(Problem::NothingLoaded)?;
    let remaining = block.checked_sub(current).filter(|blocks| *blocks > 0).ok_or(Problem::NotFound)?;
    let block_time = block_time(&recent(&app, &head).await?);
    let countdown = BlockCountdown { current, block, remaining, block_time };
    Ok(json(countdown.write()))
}
