//! `/api/v2/blocks` and `/api/v2/blocks/{id}/withdrawals`.

use std::collections::{BTreeSet, HashMap};

use axum::extract::State;
use axum::response::Response;

use super::withdrawals::withdrawals_page;
use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{BlockPath, Parameters, query_parameters};
use crate::http::query::{BlockId, Kind, PAGE_SIZE};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::require_part;
use crate::rest::cursor::{BlockCursor, Cursor, TransactionCursor, WithdrawalCursor};
use crate::rest::list::ListItems;
use crate::rest::page::{NO_CURSOR, Page, empty_page};
use crate::rest::transactions::items::TransactionItems;
use crate::rest::transactions::sorted;
use trawl_chains::Family;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, TransactionPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{BlockPart, BlockRow, Column, Columns, Reward, UncleRow};
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};
use trawl_json::addresses::address::Addresses;
use trawl_json::blocks::withdrawals::Scope;
use trawl_json::blocks::{BlockExtras, BlockKind, write_rest_block, write_rest_uncle};
use trawl_json::list::write_page;
use trawl_json::{Array, JsonWriter};
use trawl_query::blocks::{BlockFrame, BlockFrames};

query_parameters! {
    pub(crate) BlockListParameters: [&[("type", KINDS)], BlockCursor::PARAMETERS, PAGE_SIZE];
}

/// Kinds of blocks. Clients of Blockscout's first pages of documentation write them all, and get blocks of the chain.
const KINDS: Kind = Kind::Name(&["block", "uncle", "reorg", "block | uncle | reorg", "block|uncle|reorg"]);

/// Blocks, uncles or reorganised blocks from the highest down (docs/reference/http-contract.md#blocks).
pub(in crate::rest) async fn list(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<BlockListParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let before = BlockCursor::read(&query)?.map(|cursor| cursor.block_number);
    match query.name("type") {
        Some("uncle") => siblings::<UncleRow>(&app, &head, before, query.page_size()).await,
        Some("reorg") => siblings::<BlockRow>(&app, &head, before, query.page_size()).await,
        _ => blocks(&app, &head, before, query.page_size()).await,
    }
}

/// The readable blocks strictly below `before`.
pub(in crate::rest) fn below(head: &Head, before: Option<BlockNumber>) -> Span {
    let last = match before {
        Some(before) => before.checked_sub(1),
        None => head.number(),
    };
    last.and_then(|last| BlockRange::new(0, last)).map_or_else(Span::default, |range| head.blocks.within(range))
}

async fn blocks(app: &App, head: &Head, before: Option<BlockNumber>, size: u64) -> Result<Response, Problem> {
    let span = below(head, before);
    if span.is_empty() {
        return Ok(empty_page());
    }
    let batches = app.rows_of(head, &trawl_query::blocks::newest(&span, size + 1)).await?;
    let page = Page::cut(&batches, size);
    let cursor = page.more.then(|| page.last(|batch, row| batch.view().block_number[row])).flatten();
    let next = cursor.map(|block_number| BlockCursor { block_number }.writer(page.count));
    let items = BlockItems::load(app, head, &batches, &page).await?;
    let policy = CachePolicy::of_page(head, &head.blocks, before);
    Ok(policy.mark(json(write_page(|list| items.write(list), next))))
}

/// Blocks of a page, with what is shown beside their rows.
pub(in crate::rest) struct BlockItems<'p> {
    page: &'p Page<'p, BlockRow>,
    facts: Addresses,
    extras: HashMap<BlockNumber, BlockExtras>,
    family: Option<&'static Family>,
}

impl<'p> BlockItems<'p> {
    /// Reads what is shown beside the rows of a page of `batches`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn load(
        app: &App,
        head: &Head,
        batches: &[Batch<BlockRow>],
        page: &'p Page<'p, BlockRow>,
    ) -> Result<Self, Problem> {
        // Of all rows that were read: the same ones of settled blocks, whatever part of them the newest leave on the
        // page.
        let all = Page::cut(batches, u64::MAX);
        let (facts, extras) = tokio::try_join!(app.addresses(miners(page), head), extras(app, head, &all))?;
        Ok(Self { page, facts, extras, family: app.family(head) })
    }

    /// Writes them in order.
    pub fn write(&self, items: &mut Array<'_>) {
        let unknown = BlockExtras { family: self.family, ..BlockExtras::default() };
        self.page.rows(|batch, row| {
            let view = batch.view();
            let extras = self.extras.get(&view.block_number[row]).unwrap_or(&unknown);
            write_rest_block(items.item(), BlockKind::Block, &view, row, &self.facts, extras);
        });
    }
}

/// Sums over the call frames of the blocks of a page, for blocks whose frames are readable.
pub(in crate::rest) async fn extras(
    app: &App,
    head: &Head,
    page: &Page<'_, BlockRow>,
) -> Result<HashMap<BlockNumber, BlockExtras>, Problem> {
    let mut numbers = Vec::new();
    page.rows(|batch, row| numbers.push(batch.view().block_number[row]));
    extras_of(app, head, numbers).await
}

/// The same of blocks by their heights.
pub(super) async fn extras_of(
    app: &App,
    head: &Head,
    mut numbers: Vec<BlockNumber>,
) -> Result<HashMap<BlockNumber, BlockExtras>, Problem> {
    numbers.retain(|number| head.traces.contains(*number));
    if numbers.is_empty() {
        return Ok(HashMap::new());
    }
    let traced = head.traces.span();
    let rows = app.values_of(head, &trawl_query::blocks::frames(&numbers, &traced)).await?;
    let newest = app.reader().rows(&trawl_query::blocks::newest_frames(&numbers, &traced)).await?;
    let family = app.family(head);
    // A block without frames has no row.
    let mut extras: HashMap<BlockNumber, BlockExtras> = numbers
        .into_iter()
        .map(|number| (number, BlockExtras { internal_transactions: Some(0), family, ..BlockExtras::default() }))
        .collect();
    let sums = rows.into_iter().chain(sums(newest));
    for row in sums {
        let rewards = if head.rewards.contains(row.block_number) { row.rewards } else { Vec::new() };
        let block = BlockExtras {
            internal_transactions: Some(row.internal_transactions),
            rewards,
            family,
            ..BlockExtras::default()
        };
        extras.insert(row.block_number, block);
    }
    Ok(extras)
}

/// The sums over the frames of blocks, which `sql/queries/block_frames.sql` makes of blocks in tables.
fn sums(frames: Vec<BlockFrame>) -> impl Iterator<Item = BlockFrames> {
    let mut sums: HashMap<BlockNumber, BlockFrames> = HashMap::new();
    for frame in frames {
        let empty = || BlockFrames { block_number: frame.block_number, internal_transactions: 0, rewards: Vec::new() };
        let sum = sums.entry(frame.block_number).or_insert_with(empty);
        match (frame.frame_type.as_str(), frame.to_address) {
            ("reward", Some(receiver)) => {
                sum.rewards.push(Reward { kind: frame.call_type, receiver, amount: frame.value });
            }
            ("reward", None) => {}
            (kind, _) => sum.internal_transactions += u64::from(frame.frame_index > 0 || kind != "call"),
        }
    }
    sums.into_values()
}

/// The miners of the blocks of a page.
fn miners<R: NonCanonicalBlocks>(page: &Page<'_, R>) -> Vec<Address> {
    let mut miners = Vec::new();
    page.rows(|batch, row| miners.push(R::miner(batch, row)));
    miners
}

/// The blocks that pay for those of pages, each once.
fn nephews<R: NonCanonicalBlocks>(pages: &[&Page<'_, R>]) -> Vec<BlockNumber> {
    let mut nephews = BTreeSet::new();
    pages.iter().for_each(|page| page.rows(|batch, row| nephews.extend(R::nephew(batch, row))));
    nephews.into_iter().collect()
}

/// A page of blocks of which several may have the same height. The cursor is only a height, so a page that would end
/// between blocks of one height takes all of them: it is longer than its size, and no block is lost.
async fn siblings<R: NonCanonicalBlocks>(
    app: &App,
    head: &Head,
    before: Option<BlockNumber>,
    size: u64,
) -> Result<Response, Problem> {
    let before = before.unwrap_or(BlockNumber::MAX);
    let batches = app.reader().all(&R::newest(head, before, size + 1)).await?;
    let page = Page::cut(&batches, size);
    let (Some(last), Some(after)) = (page.last(R::height), page.after(R::height)) else {
        let (facts, extras) =
            tokio::try_join!(app.addresses(miners(&page), head), extras_of(app, head, nephews(&[&page])))?;
        let write = |items: &mut Array<'_>| page.rows(|batch, row| R::write(items.item(), batch, row, &facts, &extras));
        return Ok(json(write_page(write, NO_CURSOR)));
    };
    let same_height = if last == after { app.reader().all(&R::at(head, last)).await? } else { Vec::new() };
    let count =
        if same_height.is_empty() { page.count } else { page.count_while(|batch, row| R::height(batch, row) > last) };
    let page = page.shortened(count);
    let same_height = Page::cut(&same_height, u64::MAX);
    let more = last != after || !app.reader().all(&R::newest(head, last, 1)).await?.is_empty();
    let next = more.then(|| BlockCursor { block_number: last }.writer(page.count + same_height.count));
    let miners = miners(&page).into_iter().chain(miners(&same_height));
    let nephews = nephews(&[&page, &same_height]);
    let (facts, extras) = tokio::try_join!(app.addresses(miners, head), extras_of(app, head, nephews))?;
    let write = |items: &mut Array<'_>| {
        page.rows(|batch, row| R::write(items.item(), batch, row, &facts, &extras));
        same_height.rows(|batch, row| R::write(items.item(), batch, row, &facts, &extras));
    };
    Ok(json(write_page(write, next)))
}

/// Blocks that share their height with a block of the chain: uncles and reorganised blocks.
pub(super) trait NonCanonicalBlocks: Columns {
    /// Reads those strictly below a height, from the highest down.
    fn newest(head: &Head, before: BlockNumber, limit: u64) -> Statement<Self>;
    /// Reads those at a height.
    fn at(head: &Head, number: BlockNumber) -> Statement<Self>;
    fn height(batch: &Batch<Self>, row: usize) -> BlockNumber;
    fn miner(batch: &Batch<Self>, row: usize) -> Address;
    /// The block that names it, of an uncle.
    fn nephew(batch: &Batch<Self>, row: usize) -> Option<BlockNumber>;
    /// Writes it with what is known of addresses, and of blocks that name uncles.
    fn write(
        writer: &mut JsonWriter,
        batch: &Batch<Self>,
        row: usize,
        facts: &Addresses,
        extras: &HashMap<BlockNumber, BlockExtras>,
    );
}

impl NonCanonicalBlocks for UncleRow {
    fn newest(head: &Head, before: BlockNumber, limit: u64) -> Statement<Self> {
        trawl_query::blocks::uncles::newest(&head.uncles.span(), before, limit)
    }
    fn at(head: &Head, number: BlockNumber) -> Statement<Self> {
        trawl_query::blocks::uncles::at(&head.uncles.span(), number)
    }
    fn height(batch: &Batch<Self>, row: usize) -> BlockNumber {
        batch.view().block_number[row]
    }
    fn miner(batch: &Batch<Self>, row: usize) -> Address {
        Address::get(&batch.view().miner, row)
    }
    fn nephew(batch: &Batch<Self>, row: usize) -> Option<BlockNumber> {
        Some(batch.view().nephew_block_number[row])
    }
    fn write(
        writer: &mut JsonWriter,
        batch: &Batch<Self>,
        row: usize,
        facts: &Addresses,
        extras: &HashMap<BlockNumber, BlockExtras>,
    ) {
        let paid = extras.get(&batch.view().nephew_block_number[row]);
        write_rest_uncle(writer, &batch.view(), row, facts, paid.map_or(&[], |extras| &extras.rewards));
    }
}

/// Blocks that were replaced by another branch.
impl NonCanonicalBlocks for BlockRow {
    fn newest(head: &Head, before: BlockNumber, limit: u64) -> Statement<Self> {
        trawl_query::blocks::reorged::newest(&head.blocks.span(), before, limit)
    }
    fn at(head: &Head, number: BlockNumber) -> Statement<Self> {
        trawl_query::blocks::reorged::at(&head.blocks.span(), number)
    }
    fn height(batch: &Batch<Self>, row: usize) -> BlockNumber {
        batch.view().block_number[row]
    }
    fn miner(batch: &Batch<Self>, row: usize) -> Address {
        Address::get(&batch.view().producer, row)
    }
    fn nephew(_: &Batch<Self>, _: usize) -> Option<BlockNumber> {
        None
    }
    fn write(
        writer: &mut JsonWriter,
        batch: &Batch<Self>,
        row: usize,
        facts: &Addresses,
        _: &HashMap<BlockNumber, BlockExtras>,
    ) {
        // The call frames of a reorganised block are not stored.
        write_rest_block(writer, BlockKind::Reorged, &batch.view(), row, facts, &BlockExtras::default());
    }
}

/// The types by which a list of transactions can be filtered.
const TYPES: &[&str] =
    &["blob_transaction", "coin_transfer", "contract_call", "contract_creation", "token_transfer", "token_creation"];

query_parameters! {
    pub(crate) TransactionsParameters:
        [&[("type", Kind::Name(TYPES))], sorted::PARAMETERS, TransactionCursor::PARAMETERS, PAGE_SIZE];
}

/// The transactions of one block, in order or by what they sent or paid
/// (docs/reference/http-contract.md#blocks-in-paths); of a type those of the page alone.
pub(in crate::rest) async fn transactions(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    query: Parameters<TransactionsParameters>,
) -> Result<Response, Problem> {
    if let Some(sorted) = sorted::sorted_list(&query, None) {
        let head = head.get()?;
        let number = readable(&app, &head, id).await?;
        return sorted::page_of_block(&app, &head, number, &query, sorted).await;
    }
    if query.name("order") == Some("desc") {
        return Err(Problem::invalid_parameter(
            "order",
            "is only allowed with sort=value or sort=fee: otherwise a block has one order",
        ));
    }
    // A negative index is the position before the first transaction.
    let after = TransactionCursor::read(&query)?.and_then(|_| query.height("index"));
    let (head, size) = (head.get()?, query.page_size());
    let number = readable(&app, &head, id).await?;
    let statement = trawl_query::transactions::in_block_after(&head.blocks.at(number), after, size + 1);
    let batches = app.reader().all(&statement).await?;
    let page = Page::cut(&batches, size);
    let mut items = TransactionItems::load(&app, &head, page.items()).await?;
    if let Some(kind) = query.name("type") {
        items.retain(kind);
    }
    let last = page.more.then(|| page.last(|batch, row| batch.view().transaction_index[row])).flatten();
    let cursor =
        |index: u32| TransactionCursor(TransactionPosition { block_number: number, transaction_index: index.into() });
    let next = last.map(|index| cursor(index).writer(page.count));
    Ok(json(write_page(|list| items.write(list), next)))
}

/// The height of a readable block of the chain.
///
/// # Errors
///
/// [`Problem::NotFound`] without such a block, [`Problem::LostConsensus`] if a block that another replaced is all there
/// is at a height.
pub(in crate::rest) async fn readable(app: &App, head: &Head, id: BlockId) -> Result<BlockNumber, Problem> {
    let number = match id {
        BlockId::Number(number) => Some(number),
        BlockId::Hash(hash) => app.block_with_hash(&hash, head).await?,
    };
    let number = number.ok_or(Problem::NotFound)?;
    if head.blocks.contains(number) {
        return Ok(number);
    }
    let reorged = app.reader().rows(&trawl_query::blocks::reorged::at(&head.blocks.span(), number)).await?;
    Err(reorged.first().map_or(Problem::NotFound, |block| Problem::LostConsensus(block.hash)))
}

query_parameters! {
    pub(crate) WithdrawalsParameters: [WithdrawalCursor::PARAMETERS, PAGE_SIZE];
}

/// The withdrawals of one block (docs/reference/http-contract.md#blocks-in-paths).
pub(in crate::rest) async fn withdrawals(
    State(app): State<App>,
    head: RequestHead,
    BlockPath(id): BlockPath,
    query: Parameters<WithdrawalsParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let number = match id {
        BlockId::Number(number) => Some(number),
        BlockId::Hash(hash) => match app.block_with_hash(&hash, &head).await? {
            None if !app.reader().all(&trawl_query::blocks::reorged::by_hash(&hash)).await?.is_empty() => {
                let statement = |before, limit| trawl_query::blocks::reorged::withdrawals(&hash, before, limit);
                return withdrawals_page(&app, &head, &query, Scope::Block, statement).await;
            }
            number => number,
        },
    };
    let number = readable(&app, &head, BlockId::Number(number.ok_or(Problem::NotFound)?)).await?;
    require_part(&head, BlockPart::Withdrawals, number)?;
    let block = head.withdrawals.at(number);
    let statement = |before, limit| trawl_query::blocks::withdrawals::of_block(&block, before, limit);
    let page = withdrawals_page(&app, &head, &query, Scope::Block, statement).await?;
    Ok(CachePolicy::of_block(&head, number).mark(page))
}
