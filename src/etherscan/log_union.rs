//! Logs that any of several filters finds, in the order of the chain, each once.

use std::collections::VecDeque;

use crate::app::App;
use crate::error::Problem;
use crate::read::row_stream::LogStream;
use trawl_core::primitives::LogFilter;
use trawl_core::readable::Span;
use trawl_core::schema::LogRow;
use trawl_core::store::Batch;
use trawl_query::logs::LogPage;

/// A log: the batch that it came in, and its row.
pub(super) type Log = (Batch<LogRow>, usize);

/// Height and index of a log.
type Place = (u64, u32);

/// One filter's logs, of which a batch is held.
struct Source {
    stream: LogStream,
    /// Batches that were read before they are needed.
    read: VecDeque<Batch<LogRow>>,
    batch: Option<Batch<LogRow>>,
    row: usize,
}

impl Source {
    fn place(&self) -> Option<Place> {
        let view = self.batch.as_ref()?.view();
        Some((view.block_number[self.row], view.log_index[self.row]))
    }

    async fn step(&mut self) -> Result<(), Problem> {
        self.row += 1;
        if self.batch.as_ref().is_none_or(|batch| self.row >= batch.len()) {
            self.batch = match self.read.pop_front() {
                Some(batch) => Some(batch),
                None => self.stream.next().await?,
            };
            self.row = 0;
        }
        Ok(())
    }
}

/// The logs of some filters, merged by their places.
pub(super) struct LogUnion {
    sources: Vec<Source>,
    remaining: u64,
}

impl LogUnion {
    /// Begins a read for each filter, along a key; at most `limit` logs come. Several reads end one after the other before
    /// this returns: a statement that waits until others have been read would keep its place in the database meanwhile.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn open(app: &App, filters: Vec<LogFilter>, blocks: &Span, limit: u64) -> Result<Self, Problem> {
        let is_alone = filters.len() == 1;
        let mut sources = Vec::new();
        for filter in filters {
            let mut stream = LogStream::open(app, LogPage::new(filter, blocks.clone(), 0), Some(limit)).await?;
            let batch = stream.next().await?;
            let mut read = VecDeque::new();
            while !is_alone && let Some(batch) = stream.next().await? {
                read.push_back(batch);
            }
            sources.push(Source { stream, read, batch, row: 0 });
        }
        Ok(Self { sources, remaining: limit })
    }

    /// Whether no log is left.
    pub fn is_empty(&self) -> bool {
        self.remaining == 0 || self.sources.iter().all(|source| source.batch.is_none())
    }

    /// The next logs, at most `most`.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn next(&mut self, most: u64) -> Result<Vec<Log>, Problem> {
        let mut logs = Vec::new();
        while self.remaining > 0 && (logs.len() as u64) < most {
            let Some(first) = self.sources.iter().filter_map(Source::place).min() else { break };
            let mut is_taken = false;
            for source in self.sources.iter_mut().filter(|source| source.place() == Some(first)) {
                if let Some(batch) = source.batch.as_ref().filter(|_| !is_taken) {
                    logs.push((batch.clone(), source.row));
                    is_taken = true;
                }
                source.step().await?;
            }
            self.remaining -= 1;
        }
        Ok(logs)
    }
}
