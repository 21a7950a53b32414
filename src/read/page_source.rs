//! What can be read page by page along a key: the reads of each kind of rows, as [`RowStream`] needs them.
//!
//! [`RowStream`]: super::log_stream::RowStream

use crate::app::App;
use crate::error::Problem;
use crate::read::range::readable;
use trawl_core::primitives::{LogPosition, Position, Readable, Span};
use trawl_core::schema::{Columns, LogRow, LogView};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_query::logs::{LogPage, LogPlan, ends};
use trawl_query::scan::{ScanPage, Scanned};
use trawl_query::topics::{self, Search};

/// A page of rows of the chain, ascending.
pub(crate) trait Paged: Clone + Send + Sync + 'static {
    /// What a row is.
    type Row: Columns + 'static;
    /// The place of a row, behind which the next page begins.
    type Position: Position;

    /// The blocks whose rows of this kind are readable.
    fn readable(head: &Head) -> &Readable;
    /// The blocks that are read.
    fn blocks(&self) -> &Span;
    /// The same page of the same blocks where they are now.
    #[must_use]
    fn over(self, now: Span) -> Self;
    /// Most rows.
    fn limit(&self) -> u64;
    /// Sets how many rows there may be.
    fn set_limit(&mut self, limit: u64);
    /// Begins behind a place.
    fn set_after(&mut self, after: Option<Self::Position>);
    /// The read.
    fn statement(&self) -> Statement<Self::Row>;
    /// Which table is read, and how much of it, in one line.
    fn plan(&self) -> String;
    /// The part of the read that is done next, and the place behind it if it ends before the whole does. `places` is how
    /// many places may be looked up for it.
    fn part(
        &self,
        _app: &App,
        _places: u64,
    ) -> impl Future<Output = Result<(Self, Option<Self::Position>), Problem>> + Send {
        std::future::ready(Ok((self.clone(), None)))
    }
    /// Where a row is.
    fn position(rows: &<Self::Row as Columns>::View<'_>, row: usize) -> Self::Position;
}

impl Paged for LogPage {
    type Row = LogRow;
    type Position = LogPosition;

    fn readable(head: &Head) -> &Readable {
        &head.receipts
    }

    fn blocks(&self) -> &Span {
        self.blocks()
    }

    fn over(self, now: Span) -> Self {
        self.over(now)
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    fn set_after(&mut self, after: Option<LogPosition>) {
        self.after = after;
    }

    fn statement(&self) -> Statement<LogRow> {
        self.statement()
    }

    fn plan(&self) -> String {
        let (table, addresses) = match &self.plan {
            LogPlan::ByAddress { addresses, .. } => ("logs".to_owned(), addresses),
            LogPlan::ByBlock { addresses, .. } => ("logs_by_block".to_owned(), addresses),
            LogPlan::ByTopic { key, addresses, .. } => {
                (format!("log_topics,logs_by_block topic{}={}", key.position, key.topics.len()), addresses)
            }
        };
        format!("table={table} addresses={} {}", addresses.len(), ranges(self.blocks()))
    }

    /// The logs at the next places of its rarest topic, if topics are all it has; else all of it.
    async fn part(&self, app: &App, places: u64) -> Result<(Self, Option<LogPosition>), Problem> {
        let (keys, settled) = (self.keys(), ends(&self.blocks().settled));
        let (Some(blocks), true) = (settled.filter(|_| !keys.is_empty()), app.head()?.log_topics) else {
            return Ok((self.clone(), None));
        };
        let found = app.reader().rows(&topics::places(&keys, blocks, self.after, places)).await?;
        let search = Search::choose(&keys, &found, places);
        let behind = match &search {
            // All of that block's logs are fetched, also those at places behind the window.
            Search::At { blocks: Some(blocks), is_last: false, .. } => {
                Some(LogPosition { block_number: blocks.last(), log_index: u32::MAX.into() })
            }
            _ => None,
        };
        Ok((self.clone().found_by(&search), behind))
    }

    fn position(logs: &LogView<'_>, row: usize) -> LogPosition {
        LogPosition { block_number: logs.block_number[row], log_index: logs.log_index[row].into() }
    }
}

impl<S: Scanned> Paged for ScanPage<S> {
    type Row = S::Row;
    type Position = S::Position;

    fn readable(head: &Head) -> &Readable {
        readable(head, S::PART)
    }

    fn blocks(&self) -> &Span {
        &self.blocks
    }

    fn over(self, now: Span) -> Self {
        Self { blocks: now, ..self }
    }

    fn limit(&self) -> u64 {
        self.limit
    }

    fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    fn set_after(&mut self, after: Option<S::Position>) {
        self.after = after;
    }

    fn plan(&self) -> String {
        let addresses: Vec<String> = self.scan.lists().iter().map(|list| list.len().to_string()).collect();
        format!("table={} addresses={} {}", self.scan.table(), addresses.join(","), ranges(&self.blocks))
    }

    async fn part(&self, _: &App, places: u64) -> Result<(Self, Option<S::Position>), Problem> {
        Ok(self.part(places))
    }

    fn statement(&self) -> Statement<S::Row> {
        self.statement()
    }

    fn position(rows: &<S::Row as Columns>::View<'_>, row: usize) -> S::Position {
        S::position(rows, row)
    }
}

fn ranges(blocks: &Span) -> String {
    let settled: Vec<String> = blocks.settled.iter().map(ToString::to_string).collect();
    let hot: Vec<String> = blocks.hot.iter().map(|range| range.blocks.to_string()).collect();
    format!("settled={} hot={}", settled.join(","), hot.join(","))
}
