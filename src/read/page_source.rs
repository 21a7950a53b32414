//! Reads that go page by page along a key: one for each kind of rows, as [`RowStream`] needs them.
//!
//! [`RowStream`]: super::row_stream::RowStream

use crate::app::App;
use crate::error::Problem;
use crate::read::range::readable;
use trawl_core::primitives::{LogPosition, Position};
use trawl_core::readable::{Readable, Span};
use trawl_core::schema::{Columns, LogRow, LogView, OptionalTable};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_query::logs::topics::{Search, TopicKey};
use trawl_query::logs::{LogPage, LogPlan, ends, topics};
use trawl_query::scan::{ScanPage, ScanSpec};

/// A page of rows of the chain, ascending.
pub(crate) trait PageSource: Clone + Send + Sync + 'static {
    /// Columns that the statement of a page returns.
    type Row: Columns + 'static;
    /// The position of a row, after which the next page begins.
    type Position: Position;

    /// The blocks whose rows of this kind are readable.
    fn readable(head: &Head) -> &Readable;
    /// The blocks that are read.
    fn blocks(&self) -> &Span;
    /// The same page of the same blocks, at the positions where they are `now`.
    #[must_use]
    fn over(self, now: Span) -> Self;
    /// The most rows of the page.
    fn limit(&self) -> u64;
    /// Sets the most rows of the page.
    fn set_limit(&mut self, limit: u64);
    /// Sets the position after which the page begins.
    fn set_after(&mut self, after: Option<Self::Position>);
    /// The statement that reads the page.
    fn statement(&self) -> Statement<Self::Row>;
    /// The plan in one line: the table, the number of addresses and the block ranges.
    fn plan(&self) -> String;
    /// The next part of the read, and the position to resume after if the part ends before the page does. At most
    /// `positions` positions are looked up for it.
    ///
    /// # Errors
    ///
    /// When the lookup of positions fails.
    fn part(
        &self,
        _app: &App,
        _positions: u64,
    ) -> impl Future<Output = Result<(Self, Option<Self::Position>), Problem>> + Send {
        std::future::ready(Ok((self.clone(), None)))
    }
    /// The position of a row.
    fn position(rows: &<Self::Row as Columns>::View<'_>, row: usize) -> Self::Position;
}

impl PageSource for LogPage {
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
            LogPlan::ByPaddedAddress { key, addresses, .. } => {
                (format!("logs_by_topic topic{}=1", key.position), addresses)
            }
            LogPlan::ByTopic { key, addresses, .. } => {
                (format!("log_topics,logs_by_block topic{}={}", key.position, key.topics.len()), addresses)
            }
        };
        format!("table={table} addresses={} {}", addresses.len(), ranges(self.blocks()))
    }

    /// The logs at the next positions of the filter's rarest topic, if it has only topics; else the whole page.
    async fn part(&self, app: &App, positions: u64) -> Result<(Self, Option<LogPosition>), Problem> {
        let (keys, settled) = (self.keys(), ends(&self.blocks().settled));
        let Some(blocks) = settled.filter(|_| !keys.is_empty()) else { return Ok((self.clone(), None)) };
        // The newest head decides, not that of the request: a table may be dropped while a long scan is read.
        let head = app.head()?;
        let in_order = |key: &&TopicKey| head.tables.has(OptionalTable::LogsByTopic) && key.is_padded_address();
        match (keys.iter().find(in_order), head.tables.has(OptionalTable::LogTopics)) {
            (Some(key), true) if keys.len() == 1 => return Ok((self.clone().in_order_of(key), None)),
            (Some(key), false) => return Ok((self.clone().in_order_of(key), None)),
            (None, false) => return Ok((self.clone(), None)),
            (_, true) => {}
        }
        let found = app.reader().rows(&topics::positions(&keys, blocks, self.after, positions)).await?;
        if let Some((_, key)) = topics::rarest(&keys, &found).filter(|(_, key)| in_order(key)) {
            return Ok((self.clone().in_order_of(key), None));
        }
        let search = Search::choose(&keys, &found, positions);
        let resume_after = match &search {
            // All logs of the last block are fetched, also those at positions after the window.
            Search::At { blocks: Some(blocks), is_last: false, .. } => {
                Some(LogPosition { block_number: blocks.last(), log_index: u32::MAX.into() })
            }
            _ => None,
        };
        Ok((self.clone().found_by(&search), resume_after))
    }

    fn position(logs: &LogView<'_>, row: usize) -> LogPosition {
        LogPosition { block_number: logs.block_number[row], log_index: logs.log_index[row].into() }
    }
}

impl<S: ScanSpec> PageSource for ScanPage<S> {
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

    async fn part(&self, _: &App, positions: u64) -> Result<(Self, Option<S::Position>), Problem> {
        Ok(self.part(positions))
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
    let unsettled = blocks.newest.ranges().iter().copied().chain(blocks.hot.iter().map(|range| range.blocks));
    let unsettled: Vec<String> = unsettled.map(|range| range.to_string()).collect();
    format!("settled={} hot={}", settled.join(","), unsettled.join(","))
}
