//! One connection to ClickHouse: sends the text of a statement, and receives its rows.

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use bytes::Bytes;
use clickhouse::Client;
use clickhouse::query::Query;

use super::messages::Messages;
use super::origin::{log_if_slow, with_log_comment};
use super::timeout::within;
use crate::schema::Columns;
use crate::statement::{Parameter, Statement};
use crate::store::StoreError;

/// Where statements go.
#[derive(Clone)]
pub(crate) struct Connection {
    pub client: Client,
    /// Longest wait for the next bytes. The server's limits do not help against a server that hangs.
    pub timeout: Duration,
}

impl Connection {
    /// Sends the text of a statement, with another limit on its rows if one is given.
    pub async fn send<R: Columns>(
        &self,
        statement: &Statement<R>,
        limit: Option<u64>,
    ) -> Result<EngineRows<R>, StoreError> {
        let workload = statement.workload.name();
        let mut query = with_log_comment(self.client.query_raw(&statement.sql)).with_setting("workload", workload);
        for (name, value) in statement.workload.settings().iter().chain(statement.settings) {
            query = query.with_setting(*name, *value);
        }
        for (name, value) in &statement.parameters {
            query = match limit.filter(|_| name == "limit") {
                Some(limit) => query.param(name, limit),
                None => bind(query, name, value),
            };
        }
        let messages = Messages::new(query.fetch_bytes("ArrowStream")?);
        let timeout = statement.timeout.unwrap_or(self.timeout);
        let mut rows = EngineRows { messages: Some(messages), ready: VecDeque::new(), timeout, columns: PhantomData };
        let started = Instant::now();
        let first = rows.fetch().await;
        let outcome = if first.is_ok() { "ok" } else { "failed" };
        let elapsed = started.elapsed();
        metrics::histogram!("trawl_statement_duration_seconds", "workload" => workload, "outcome" => outcome)
            .record(elapsed);
        log_if_slow(&statement.sql, workload, elapsed);
        rows.ready.extend(first?);
        Ok(rows)
    }
}

/// Adds a parameter to a statement.
pub(crate) fn bind(query: Query, name: &str, value: &Parameter) -> Query {
    match value.escaped() {
        // The client would escape it once more.
        Some(escaped) => query.with_setting(format!("param_{name}"), escaped),
        None => query.param(name, value),
    }
}

/// Batches of rows as they arrive from the engine. Holds one batch at a time.
pub(crate) struct EngineRows<R> {
    /// None of rows that have all arrived.
    messages: Option<Messages>,
    ready: VecDeque<Batch<R>>,
    timeout: Duration,
    columns: PhantomData<fn() -> R>,
}

impl<R: Columns> EngineRows<R> {
    /// Rows that have all arrived.
    ///
    /// # Errors
    ///
    /// If the columns are not those of `R`.
    pub fn of(batches: Vec<RecordBatch>) -> Result<Self, StoreError> {
        let ready = batches.into_iter().map(Batch::of).collect::<Result<_, _>>()?;
        Ok(Self { messages: None, ready, timeout: Duration::ZERO, columns: PhantomData })
    }

    /// The next batch that has rows; `None` at the end. After a cancelled call the rows must not be used again.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn next(&mut self) -> Result<Option<Batch<R>>, StoreError> {
        match self.ready.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.fetch().await,
        }
    }

    async fn fetch(&mut self) -> Result<Option<Batch<R>>, StoreError> {
        let Some(messages) = &mut self.messages else { return Ok(None) };
        while let Some((batch, message)) = within(self.timeout, messages.next()).await?? {
            if batch.num_rows() > 0 {
                R::view(&batch)?;
                return Ok(Some(Batch { batch, message: Some(message), columns: PhantomData }));
            }
        }
        Ok(None)
    }
}

/// Some rows of a result, with columns that were checked on arrival.
pub struct Batch<R> {
    batch: RecordBatch,
    message: Option<Bytes>,
    columns: PhantomData<fn() -> R>,
}

impl<R> Clone for Batch<R> {
    /// The same rows, which are shared.
    fn clone(&self) -> Self {
        Self { batch: self.batch.clone(), message: self.message.clone(), columns: PhantomData }
    }
}

impl<R: Columns> Batch<R> {
    /// Rows that were made here.
    ///
    /// # Errors
    ///
    /// If the columns are not those of `R`.
    pub(crate) fn of(batch: RecordBatch) -> Result<Self, StoreError> {
        R::view(&batch)?;
        Ok(Self { batch, message: None, columns: PhantomData })
    }

    /// The rows as values of their own, for results that are small or needed whole.
    pub fn rows(&self) -> impl Iterator<Item = R> + '_ {
        let view = self.view();
        (0..self.len()).map(move |row| R::row(&view, row))
    }

    /// The columns as the engine sent them.
    #[must_use]
    pub fn record_batch(&self) -> &RecordBatch {
        &self.batch
    }

    /// Its message of the Arrow stream, uncompressed and without the schema, if the engine sent it.
    #[must_use]
    pub fn message(&self) -> Option<&Bytes> {
        self.message.as_ref()
    }

    /// Bytes in memory.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.message.as_ref().map_or_else(|| self.batch.get_array_memory_size(), Bytes::len)
    }

    /// The columns of the batch, borrowed and with their types.
    pub fn view(&self) -> R::View<'_> {
        R::view(&self.batch).expect("checked on arrival")
    }

    /// How many rows; at least one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batch.num_rows()
    }

    /// Always false: batches without rows are skipped.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batch.num_rows() == 0
    }
}
