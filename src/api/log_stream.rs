//! Logs of any number, read page by page along the key: neither this server nor the database holds more than one page.

use std::time::{Duration, Instant};

use super::{App, Problem};
use crate::primitives::{HotRange, LogPosition};
use crate::query::logs::LogPage;
use crate::schema::LogRow;
use crate::store::{Batch, Head, Rows};

/// Logs of the first page: they come soon.
const FIRST_PAGE: u64 = 5_000;
/// Logs of a page, at most.
const MOST: u64 = 1_000_000;
/// A page that took less is followed by one four times as long. A client that reads slowly keeps its pages short, so
/// that no statement runs into its limit of time because of it.
const QUICK: Duration = Duration::from_secs(2);

/// A read of logs that goes on where a page ends.
pub(super) struct LogStream {
    app: App,
    rows: Rows<LogRow>,
    page: LogPage,
    /// Logs that may still come; `None` for all there are.
    left: Option<u64>,
    /// Logs of the page so far, and when it was begun.
    of_page: (u64, Instant),
    last: Option<LogPosition>,
    ended: bool,
}

impl LogStream {
    /// Begins to read `page`, of which `limit` is not looked at: at most `left` logs come.
    pub async fn open(app: &App, mut page: LogPage, left: Option<u64>) -> Result<Self, Problem> {
        page.limit = left.map_or(FIRST_PAGE, |left| left.min(FIRST_PAGE));
        let rows = app.reader().stream(&page.statement()).await?;
        let of_page = (0, Instant::now());
        Ok(Self { app: app.clone(), rows, page, left, of_page, last: None, ended: left == Some(0) })
    }

    /// The next logs, ascending; `None` behind the last.
    pub async fn next(&mut self) -> Result<Option<Batch<LogRow>>, Problem> {
        while !self.ended {
            if let Some(batch) = self.rows.next().await? {
                let view = batch.view();
                let row = batch.len() - 1;
                let place = LogPosition { block_number: view.block_number[row], log_index: view.log_index[row].into() };
                self.last = Some(place);
                self.of_page.0 += batch.len() as u64;
                return Ok(Some(batch));
            }
            self.turn().await?;
        }
        Ok(None)
    }

    /// The page is read: begins the next one, if there may be one.
    async fn turn(&mut self) -> Result<(), Problem> {
        let (count, since) = self.of_page;
        let is_full = count == self.page.limit;
        self.left = self.left.map(|left| left.saturating_sub(count));
        self.ended = !is_full || self.left == Some(0);
        let is_only_one = self.ended && self.page.after.is_none();
        let hot = &self.page.blocks().hot;
        if !is_only_one && !hot.is_empty() {
            require_unchanged(&self.app, hot).await?;
        }
        if self.ended {
            return Ok(());
        }
        let longer = if since.elapsed() < QUICK { self.page.limit.saturating_mul(4) } else { self.page.limit };
        self.page.after = self.last;
        self.page.limit = longer.clamp(1, MOST).min(self.left.unwrap_or(MOST));
        self.of_page = (0, Instant::now());
        self.rows = self.app.reader().stream(&self.page.statement()).await?;
        Ok(())
    }
}

/// Rows of blocks that are not settled are removed some time after they have been, so the pages of an answer are held
/// against what is readable behind each: if a block has moved meanwhile, some of its rows may be missing.
async fn require_unchanged(app: &App, hot: &[HotRange]) -> Result<(), Problem> {
    let now = Head::load(app.reader()).await?;
    let is_there = |range: &HotRange| {
        let mut numbers = range.blocks.first()..=range.blocks.last();
        numbers.all(|number| now.receipts.generation(number) == Some(range.generation))
    };
    if hot.iter().all(is_there) { Ok(()) } else { Err(Problem::Busy) }
}
