//! Rows of any number, read along the key. What is one range of it is one statement, whose rows stream as they are read;
//! what must be merged is read page by page, so that the database holds no more than a page.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::error::Problem;
use crate::read::page_source::Paged;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, HotRange, Readable, Span};
use trawl_core::store::{Batch, Head, Rows};
use trawl_query::blocks::hashes;
use trawl_query::logs::LogPage;
use trawl_query::topics::{FIRST_PLACES, MOST_PLACES};

/// Rows of the first page of what is merged: they come soon.
const FIRST_PAGE: u64 = 5_000;
/// Rows of such a page, at most.
const MOST: u64 = 1_000_000;
/// Rows of a page of one range: as many as there are.
pub(crate) const ALL: u64 = i64::MAX as u64;
/// A page that took less is followed by one four times as long, and one that took longer than [`SLOW`] by a quarter of
/// it: a client that reads slowly gets short pages, so that few statements run into their limit of time because of it.
const QUICK: Duration = Duration::from_secs(2);
const SLOW: Duration = Duration::from_secs(8);

/// A read of logs that goes on where a page ends.
pub(crate) type LogStream = RowStream<LogPage>;

/// A read of rows that goes on where a page ends.
pub(crate) struct RowStream<P: Paged> {
    app: App,
    rows: Rows<P::Row>,
    /// What is read page by page: all that was asked for, or first its settled blocks.
    whole: P,
    /// The blocks above the settled ones, which are read behind them.
    rest: Option<P>,
    /// The part of it that is read now.
    page: P,
    /// Places that are looked up for the next page.
    places: u64,
    /// Behind the page, where it ends before what was asked for does.
    behind: Option<P::Position>,
    /// Rows that may still come; `None` for all there are.
    left: Option<u64>,
    /// Rows of the page so far, and when it was begun.
    of_page: (u64, Instant),
    last: Option<P::Position>,
    /// For several pages: the highest block that is not settled. Its hash names the whole branch.
    tip: Option<(BlockNumber, B256)>,
    /// A page that was read whole before any of it is handed on.
    held: VecDeque<Batch<P::Row>>,
    ended: bool,
}

impl<P: Paged> RowStream<P> {
    /// Begins to read `page`, of which the limit is not looked at: at most `left` rows come.
    pub async fn open(app: &App, mut whole: P, left: Option<u64>) -> Result<Self, Problem> {
        let is_one_page = left.is_some_and(|left| left <= FIRST_PAGE);
        let rest = if is_one_page { None } else { split(&mut whole) };
        let first = if is_stream(&whole) { ALL } else { FIRST_PAGE };
        whole.set_limit(left.map_or(first, |left| left.min(first)));
        let (page, behind) = whole.part(app, FIRST_PLACES).await?;
        let tip =
            if is_one_page && behind.is_none() { None } else { tip(app, rest.as_ref().unwrap_or(&whole)).await? };
        let rows = app.reader().stream(&page.statement()).await?;
        let mut stream = Self {
            app: app.clone(),
            rows,
            whole,
            rest,
            page,
            places: FIRST_PLACES * 4,
            behind,
            left,
            of_page: (0, Instant::now()),
            last: None,
            tip,
            held: VecDeque::new(),
            ended: left == Some(0),
        };
        stream.gather().await?;
        Ok(stream)
    }

    /// The next rows, ascending; `None` behind the last.
    pub async fn next(&mut self) -> Result<Option<Batch<P::Row>>, Problem> {
        while !self.ended {
            let batch = match self.held.pop_front() {
                Some(batch) => Ok(Some(batch)),
                None => self.rows.next().await,
            };
            match batch {
                Ok(Some(batch)) => {
                    self.last = Some(P::position(&batch.view(), batch.len() - 1));
                    self.of_page.0 += batch.len() as u64;
                    return Ok(Some(batch));
                }
                Ok(None) if self.of_page.0 == self.page.limit() => self.turn(self.last).await?,
                Ok(None) => self.turn(self.behind).await?,
                // A client that reads slowly outlives a statement. What came of it stands, and the rest is asked anew.
                Err(error) if self.of_page.0 > 0 && (error.is_transient() || error.is_time_limit()) => {
                    tracing::debug!(cause = trawl_core::chain(&error), "a read goes on behind its last row");
                    self.turn(self.last).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// The page is read: begins the next one behind a place, if there is one, or the blocks that are not settled.
    async fn turn(&mut self, after: Option<P::Position>) -> Result<(), Problem> {
        let (count, since) = self.of_page;
        self.left = self.left.map(|left| left.saturating_sub(count));
        match (after, self.rest.take_if(|_| after.is_none())) {
            (Some(after), _) => self.whole.set_after(Some(after)),
            (None, Some(rest)) => {
                self.whole = rest;
                // Where no row came so far, it begins behind the place that all of it begins behind.
                if self.last.is_some() {
                    self.whole.set_after(self.last);
                }
            }
            (None, None) => self.ended = true,
        }
        self.ended |= self.left == Some(0);
        if self.ended {
            return Ok(());
        }
        let next = match since.elapsed() {
            quick if quick < QUICK => self.whole.limit().saturating_mul(4),
            slow if slow > SLOW => self.whole.limit() / 4,
            _ => self.whole.limit(),
        };
        let page = if !self.whole.blocks().hot.is_empty() {
            // It is held, so it stays short.
            FIRST_PAGE
        } else if is_stream(&self.whole) {
            ALL
        } else {
            next.clamp(FIRST_PAGE, MOST)
        };
        self.whole.set_limit(self.left.map_or(page, |left| left.min(page)));
        self.of_page = (0, Instant::now());
        (self.page, self.behind) = self.whole.part(&self.app, self.places).await?;
        self.places = self.places.saturating_mul(4).min(MOST_PLACES);
        self.rows = self.app.reader().stream(&self.page.statement()).await?;
        self.gather().await
    }

    /// A page that reaches into blocks which are not settled is read whole before any of it is handed on: their rows are
    /// removed some time after they were settled, so what was read counts only if they are where they were. If they
    /// moved, the page is read again where they are now, provided that the branch is the same.
    async fn gather(&mut self) -> Result<(), Problem> {
        let Some((number, hash)) = self.tip.filter(|_| !self.page.blocks().hot.is_empty()) else { return Ok(()) };
        for _ in 0..ATTEMPTS {
            self.held.clear();
            while let Some(batch) = self.rows.next().await? {
                self.held.push_back(batch);
            }
            let now = Head::load(self.app.reader()).await?;
            if are_there(&self.page.blocks().hot, P::readable(&now)) {
                return Ok(());
            }
            if hash_of(&self.app, &now.blocks.at(number)).await? != Some(hash) {
                return Err(Problem::Busy);
            }
            let blocks = self.whole.blocks();
            let first = blocks.settled.first().map(|range| range.first());
            let first_hot = blocks.hot.first().map(|range| range.blocks.first());
            let lowest = first.into_iter().chain(first_hot).min().unwrap_or(number);
            let moved =
                BlockRange::new(lowest, number).map(|range| P::readable(&now).within(range)).unwrap_or_default();
            self.whole = self.whole.clone().over(moved);
            (self.page, self.behind) = self.whole.part(&self.app, self.places).await?;
            self.rows = self.app.reader().stream(&self.page.statement()).await?;
        }
        Err(Problem::Busy)
    }
}

/// Takes the blocks that are not settled out of a page, if they lie above all the others, as they do on a chain that is
/// followed: what is settled never moves, so it can be handed on as it is read.
fn split<P: Paged>(page: &mut P) -> Option<P> {
    let Span { settled, hot } = page.blocks().clone();
    let (below, above) = (settled.last()?.last(), hot.first()?.blocks.first());
    if below >= above {
        return None;
    }
    let rest = page.clone().over(Span { settled: Vec::new(), hot });
    *page = page.clone().over(Span { settled, hot: Vec::new() });
    Some(rest)
}

/// Whether rows come as they are read, and all of them stay where they are.
fn is_stream<P: Paged>(page: &P) -> bool {
    page.statement().is_one_range && page.blocks().hot.is_empty()
}

/// How often a page is read whose blocks move meanwhile.
const ATTEMPTS: u32 = 5;

/// Whether blocks are still in the tables of those that are not settled.
fn are_there(hot: &[HotRange], now: &Readable) -> bool {
    hot.iter().all(|range| {
        let mut numbers = range.blocks.first()..=range.blocks.last();
        numbers.all(|number| now.generation(number) == Some(range.generation))
    })
}

/// The hash of the block of a span of one.
async fn hash_of(app: &App, block: &Span) -> Result<Option<B256>, Problem> {
    Ok(app.reader().rows(&hashes(block)).await?.pop().map(|block| block.hash))
}

/// The highest block of a page that is not settled, with its hash; `None` if there is none.
async fn tip<P: Paged>(app: &App, page: &P) -> Result<Option<(BlockNumber, B256)>, Problem> {
    let Some(range) = page.blocks().hot.last() else { return Ok(None) };
    let top = HotRange { blocks: BlockRange::single(range.blocks.last()), ..*range };
    let span = Span { settled: Vec::new(), hot: vec![top] };
    let hash = hash_of(app, &span).await?.ok_or(Problem::Busy)?;
    Ok(Some((range.blocks.last(), hash)))
}
