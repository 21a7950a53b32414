//! Any number of rows, read along the key of a table. A read of one key range is one statement whose rows stream as
//! they arrive; a read that the database has to merge goes page by page, so that the database buffers no more than a
//! page.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::error::Problem;
use crate::read::page_source::PageSource;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, HotRange};
use trawl_core::readable::{Readable, Span};
use trawl_core::statement::Workload;
use trawl_core::store::{Batch, Head, Rows};
use trawl_query::blocks::hashes;
use trawl_query::logs::LogPage;
use trawl_query::logs::topics::{FIRST_POSITIONS, MAX_POSITIONS};

/// Rows of the first page of a merged read: few, so that they arrive soon.
const FIRST_PAGE_ROWS: u64 = 5_000;
/// Most rows of a page of a merged read.
const MAX_PAGE_ROWS: u64 = 1_000_000;
/// The row limit of a read of one key range: none.
pub(crate) const UNLIMITED_ROWS: u64 = i64::MAX as u64;
/// A page that took less time is followed by one with four times the rows.
const FAST_PAGE: Duration = Duration::from_secs(2);
/// A page that took more time is followed by one with a quarter of the rows: a client that reads slowly gets short
/// pages, so that few statements run into their time limit because of it.
const SLOW_PAGE: Duration = Duration::from_secs(8);

/// A read of logs across pages.
pub(crate) type LogStream = RowStream<LogPage>;

/// A read of rows across pages.
pub(crate) struct RowStream<P: PageSource> {
    app: App,
    rows: Rows<P::Row>,
    /// The read whose pages come now: of all blocks of the request, or of its settled blocks first.
    whole: P,
    /// The read of the blocks that are not settled, which follows that of the settled ones.
    newest_blocks: Option<P>,
    /// The page of `whole` that is read now.
    page: P,
    /// How many positions are looked up for the next page.
    positions: u64,
    /// What the reads are for: a page, or one of any length.
    workload: Workload,
    /// Where the next page begins, if this one ends before `whole` does.
    resume_after: Option<P::Position>,
    /// Rows that may still be returned; `None` without a limit.
    remaining: Option<u64>,
    /// Rows of the page so far, and when its read began.
    page_progress: (u64, Instant),
    /// The position of the last row that was returned.
    last: Option<P::Position>,
    /// For several pages: the highest block that is not settled. Its hash names the whole branch.
    tip: Option<(BlockNumber, B256)>,
    /// A page that was read whole before its first row is returned.
    buffered: VecDeque<Batch<P::Row>>,
    ended: bool,
}

impl<P: PageSource> RowStream<P> {
    /// Begins the read of `whole`, whose own limit is ignored: at most `remaining` rows are returned.
    ///
    /// # Errors
    ///
    /// When the store fails, or when the blocks of a page kept moving while it was read.
    pub async fn open(app: &App, mut whole: P, remaining: Option<u64>) -> Result<Self, Problem> {
        let is_one_page = remaining.is_some_and(|remaining| remaining <= FIRST_PAGE_ROWS);
        let newest_blocks = if is_one_page { None } else { split(&mut whole) };
        let first = if is_stream(&whole) { UNLIMITED_ROWS } else { FIRST_PAGE_ROWS };
        whole.set_limit(remaining.map_or(first, |remaining| remaining.min(first)));
        let (page, resume_after) = whole.part(app, FIRST_POSITIONS).await?;
        let tip = if is_one_page && resume_after.is_none() {
            None
        } else {
            tip(app, newest_blocks.as_ref().unwrap_or(&whole)).await?
        };
        let workload = if is_one_page { Workload::Short } else { Workload::Scan };
        let rows = app.reader().stream(&page.statement().on_behalf_of(workload)).await?;
        let mut stream = Self {
            app: app.clone(),
            rows,
            whole,
            newest_blocks,
            page,
            positions: FIRST_POSITIONS * 4,
            workload,
            resume_after,
            remaining,
            page_progress: (0, Instant::now()),
            last: None,
            tip,
            buffered: VecDeque::new(),
            ended: remaining == Some(0),
        };
        stream.buffer_page().await?;
        Ok(stream)
    }

    /// The next rows, ascending; `None` after the last.
    ///
    /// # Errors
    ///
    /// When the store fails before the first row of a page, or when the blocks of a page kept moving while it was read.
    pub async fn next(&mut self) -> Result<Option<Batch<P::Row>>, Problem> {
        while !self.ended {
            let batch = match self.buffered.pop_front() {
                Some(batch) => Ok(Some(batch)),
                None => self.rows.next().await,
            };
            match batch {
                Ok(Some(batch)) => {
                    self.last = Some(P::position(&batch.view(), batch.len() - 1));
                    self.page_progress.0 += batch.len() as u64;
                    return Ok(Some(batch));
                }
                Ok(None) if self.page_progress.0 == self.page.limit() => self.next_page(self.last).await?,
                Ok(None) => self.next_page(self.resume_after).await?,
                // A client that reads slowly outlives a statement. The rows so far count; the rest is requested again.
                Err(error) if self.page_progress.0 > 0 && (error.is_transient() || error.is_time_limit()) => {
                    tracing::debug!(cause = trawl_core::error_chain(&error), "resuming a read after its last row");
                    self.next_page(self.last).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Ends the page and begins the next one: after a position if there is one, else with the blocks that are not
    /// settled.
    async fn next_page(&mut self, after: Option<P::Position>) -> Result<(), Problem> {
        let (count, since) = self.page_progress;
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(count));
        match (after, self.newest_blocks.take_if(|_| after.is_none())) {
            (Some(after), _) => self.whole.set_after(Some(after)),
            (None, Some(newest_blocks)) => {
                self.whole = newest_blocks;
                // Without a row so far, the read of the newest blocks starts where the whole read starts.
                if self.last.is_some() {
                    self.whole.set_after(self.last);
                }
            }
            (None, None) => self.ended = true,
        }
        self.ended |= self.remaining == Some(0);
        if self.ended {
            return Ok(());
        }
        let next = match since.elapsed() {
            elapsed if elapsed < FAST_PAGE => self.whole.limit().saturating_mul(4),
            elapsed if elapsed > SLOW_PAGE => self.whole.limit() / 4,
            _ => self.whole.limit(),
        };
        let page = if !self.whole.blocks().hot.is_empty() {
            // This page is buffered, so it stays short.
            FIRST_PAGE_ROWS
        } else if is_stream(&self.whole) {
            UNLIMITED_ROWS
        } else {
            next.clamp(FIRST_PAGE_ROWS, MAX_PAGE_ROWS)
        };
        self.whole.set_limit(self.remaining.map_or(page, |remaining| remaining.min(page)));
        self.page_progress = (0, Instant::now());
        (self.page, self.resume_after) = self.whole.part(&self.app, self.positions).await?;
        self.positions = self.positions.saturating_mul(4).min(MAX_POSITIONS);
        self.rows = self.app.reader().stream(&self.page.statement().on_behalf_of(self.workload)).await?;
        self.buffer_page().await
    }

    /// Reads a page that includes blocks which are not settled whole before its first row is returned. The rows of such
    /// blocks are removed some time after the blocks are settled, so a read counts only if they are still in the same
    /// position. If they moved, the page is read again from their new position, provided that the branch is the same.
    async fn buffer_page(&mut self) -> Result<(), Problem> {
        let Some((number, hash)) = self.tip.filter(|_| !self.page.blocks().hot.is_empty()) else { return Ok(()) };
        for _ in 0..MAX_PAGE_READS {
            self.buffered.clear();
            while let Some(batch) = self.rows.next().await? {
                self.buffered.push_back(batch);
            }
            let now = Head::load(self.app.reader()).await?;
            if are_there(&self.page.blocks().hot, P::readable(&now)) {
                return Ok(());
            }
            if hash_of(&self.app, &now.blocks.at(number)).await? != Some(hash) {
                return Err(Problem::Reorganised);
            }
            let blocks = self.whole.blocks();
            let lowest = blocks.lowest().unwrap_or(number);
            let moved =
                BlockRange::new(lowest, number).map(|range| P::readable(&now).within(range)).unwrap_or_default();
            self.whole = self.whole.clone().over(moved);
            (self.page, self.resume_after) = self.whole.part(&self.app, self.positions).await?;
            self.rows = self.app.reader().stream(&self.page.statement().on_behalf_of(self.workload)).await?;
        }
        Err(Problem::Reorganised)
    }
}

/// Takes the blocks that are not settled out of a page, if they lie above all the others, as they do on a chain that is
/// followed: rows of settled blocks never move, so they can be returned as they arrive.
fn split<P: PageSource>(page: &mut P) -> Option<P> {
    let blocks = page.blocks().clone();
    let (below, above) = (blocks.settled.last()?.last(), blocks.hot.first()?.blocks.first());
    if below >= above {
        return None;
    }
    let newest_blocks = page.clone().over(blocks.without_settled());
    *page = page.clone().over(blocks.only_settled());
    Some(newest_blocks)
}

/// Whether the rows of a page can be returned as they arrive: one key range, and none of its rows will move.
fn is_stream<P: PageSource>(page: &P) -> bool {
    page.statement().is_one_range && page.blocks().hot.is_empty()
}

/// Most reads of one page whose blocks move while it is read.
const MAX_PAGE_READS: u32 = 5;

/// Whether all blocks of `hot` are still in the tables of blocks that are not settled.
fn are_there(hot: &[HotRange], now: &Readable) -> bool {
    hot.iter().all(|range| {
        let mut numbers = range.blocks.first()..=range.blocks.last();
        numbers.all(|number| now.generation(number) == Some(range.generation))
    })
}

/// The hash of the block in a span of one block.
async fn hash_of(app: &App, block: &Span) -> Result<Option<B256>, Problem> {
    Ok(app.reader().rows(&hashes(block)).await?.pop().map(|block| block.hash))
}

/// The highest block of a page that is not settled, with its hash; `None` if all are settled.
async fn tip<P: PageSource>(app: &App, page: &P) -> Result<Option<(BlockNumber, B256)>, Problem> {
    let Some(range) = page.blocks().hot.last() else { return Ok(None) };
    let top = HotRange { blocks: BlockRange::single(range.blocks.last()), ..*range };
    let span = Span { hot: vec![top], ..Span::default() };
    let hash = hash_of(app, &span).await?.ok_or(Problem::Reorganised)?;
    Ok(Some((range.blocks.last(), hash)))
}
