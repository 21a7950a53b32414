//! Logs that any of several filters finds, in the order of the chain, each once.

use std::collections::VecDeque;

use crate::app::App;
use crate::error::Problem;
use crate::read::row_stream::LogStream;
use trawl_core::primitives::{LogFilter, LogPosition};
use trawl_core::readable::Span;
use trawl_core::schema::LogRow;
use trawl_core::store::Batch;
use trawl_query::logs::LogPage;

/// A log: the batch that it came in, and its row.
pub(super) type Log = (Batch<LogRow>, usize);

/// Logs that a read of one of several filters has at most: so many of each are held.
const LOGS_OF_READ: u64 = 5_000;

/// One filter's logs.
struct Source {
    read: Read,
    /// Batches that were read and not looked at yet.
    batches: VecDeque<Batch<LogRow>>,
    batch: Option<Batch<LogRow>>,
    row: usize,
}

/// How the logs of a filter are read.
enum Read {
    /// As they arrive: those of the only filter.
    Stream(Box<LogStream>),
    /// In reads that end one after the other. A statement that waits until those of other filters have been read would
    /// keep its slot in the database meanwhile.
    Parts(Box<LogPage>),
    /// To the end.
    Over,
}

impl Source {
    fn position(&self) -> Option<LogPosition> {
        let view = self.batch.as_ref()?.view();
        Some(LogPosition { block_number: view.block_number[self.row], log_index: view.log_index[self.row].into() })
    }

    async fn step(&mut self, app: &App) -> Result<(), Problem> {
        let last = self.position();
        self.row += 1;
        if self.batch.as_ref().is_none_or(|batch| self.row >= batch.len()) {
            self.batch = self.next_batch(app, last).await?;
            self.row = 0;
        }
        Ok(())
    }

    /// The next batch, of logs after the last one.
    async fn next_batch(&mut self, app: &App, last: Option<LogPosition>) -> Result<Option<Batch<LogRow>>, Problem> {
        if let Some(batch) = self.batches.pop_front() {
            return Ok(Some(batch));
        }
        match &mut self.read {
            Read::Stream(stream) => return stream.next().await,
            Read::Parts(page) => {
                let part = page.as_ref().clone().after(last);
                let mut stream = LogStream::open(app, part, Some(LOGS_OF_READ)).await?;
                while let Some(batch) = stream.next().await? {
                    self.batches.push_back(batch);
                }
            }
            Read::Over => {}
        }
        let count: u64 = self.batches.iter().map(|batch| batch.len() as u64).sum();
        if count < LOGS_OF_READ {
            self.read = Read::Over;
        }
        Ok(self.batches.pop_front())
    }
}

/// The logs of some filters, merged by their positions.
pub(super) struct LogUnion {
    app: App,
    sources: Vec<Source>,
    remaining: u64,
}

impl LogUnion {
    /// Begins a read for each filter, along a key; at most `limit` logs come.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn open(app: &App, filters: Vec<LogFilter>, blocks: &Span, limit: u64) -> Result<Self, Problem> {
        let is_alone = filters.len() == 1;
        let mut sources = Vec::new();
        for filter in filters {
            let page = LogPage::new(filter, blocks.clone(), 0);
            let read = match is_alone {
                true => Read::Stream(Box::new(LogStream::open(app, page, Some(limit)).await?)),
                false => Read::Parts(Box::new(page)),
            };
            let mut source = Source { read, batches: VecDeque::new(), batch: None, row: 0 };
            source.batch = source.next_batch(app, None).await?;
            sources.push(source);
        }
        Ok(Self { app: app.clone(), sources, remaining: limit })
    }

    /// Whether no log is left.
    pub fn is_empty(&self) -> bool {
        self.first().is_none()
    }

    /// Passes over so many logs.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn skip(&mut self, logs: u64) -> Result<(), Problem> {
        for _ in 0..logs {
            match self.first() {
                Some(first) => self.step_over(first).await?,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The next logs, at most `most`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn next(&mut self, most: u64) -> Result<Vec<Log>, Problem> {
        let mut logs = Vec::new();
        while let Some(first) = self.first().filter(|_| (logs.len() as u64) < most) {
            let found = self.sources.iter().find(|source| source.position() == Some(first));
            logs.extend(found.and_then(|source| Some((source.batch.clone()?, source.row))));
            self.step_over(first).await?;
        }
        Ok(logs)
    }

    /// The position of the first log that is left.
    fn first(&self) -> Option<LogPosition> {
        self.sources.iter().filter_map(Source::position).min().filter(|_| self.remaining > 0)
    }

    /// Steps over a log wherever it was found.
    async fn step_over(&mut self, position: LogPosition) -> Result<(), Problem> {
        for source in self.sources.iter_mut().filter(|source| source.position() == Some(position)) {
            source.step(&self.app).await?;
        }
        self.remaining -= 1;
        Ok(())
    }
}
