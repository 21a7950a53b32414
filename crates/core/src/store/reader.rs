//! Reads: sends a statement and streams back record batches.

use std::marker::PhantomData;
use std::time::Duration;

use arrow::array::RecordBatch;
use bytes::Bytes;
use clickhouse::Client;

use super::messages::Messages;
use super::schema_version::{MigrateError, require_schema};
use super::timeout::within;
use super::{StoreAddress, StoreError};
use crate::schema::Columns;
use crate::statement::Statement;

/// Added to the time limit of a statement for the timeout on this side, so that the server reports its limit first: its
/// error has more detail.
const DELIVERY_MARGIN: Duration = Duration::from_secs(3);

/// Reads and cannot write: every statement runs read-only and with limits.
#[derive(Clone)]
pub struct Reader {
    client: Client,
    /// Longest wait for the next bytes. The server's limits do not help against a server that hangs.
    timeout: Duration,
}

impl Reader {
    /// A reader whose statements may run for `time_limit` and use `memory_limit` bytes on the server.
    #[must_use]
    pub fn new(address: &StoreAddress, time_limit: Duration, memory_limit: u64) -> Self {
        let client = address
            .client()
            .with_setting("readonly", "2")
            .with_setting("max_execution_time", time_limit.as_secs().max(1).to_string())
            .with_setting("max_memory_usage", memory_limit.to_string())
            .with_setting("cancel_http_readonly_queries_on_client_close", "1")
            // Compression, where enabled, is that of the connection.
            .with_setting("output_format_arrow_compression_method", "none")
            .with_setting("output_format_arrow_string_as_string", "0")
            .with_setting("output_format_arrow_low_cardinality_as_dictionary", "0");
        Self { client, timeout: time_limit + DELIVERY_MARGIN }
    }

    /// Sends `statement` and waits for its first rows, so that a failure is known before a response begins.
    ///
    /// Dropping the rows before their end closes the connection, which cancels the statement.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stream<R: Columns>(&self, statement: &Statement<R>) -> Result<Rows<R>, StoreError> {
        let mut query = self.client.query_raw(&statement.sql).with_setting("workload", statement.workload.name());
        for (name, value) in statement.settings {
            query = query.with_setting(*name, *value);
        }
        for (name, value) in &statement.parameters {
            query = query.param(name, value);
        }
        let messages = Messages::new(query.fetch_bytes("ArrowStream")?);
        let timeout = statement.timeout.unwrap_or(self.timeout);
        let mut rows = Rows { messages, first: None, timeout, columns: PhantomData };
        rows.first = rows.fetch().await?;
        Ok(rows)
    }

    /// All rows of a statement whose result is small.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn all<R: Columns>(&self, statement: &Statement<R>) -> Result<Vec<Batch<R>>, StoreError> {
        let mut rows = self.stream(statement).await?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.next().await? {
            batches.push(batch);
        }
        Ok(batches)
    }
}

impl Reader {
    /// All rows of a statement whose result is small, as values of their own.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn rows<R: Columns>(&self, statement: &Statement<R>) -> Result<Vec<R>, StoreError> {
        Ok(self.all(statement).await?.iter().flat_map(Batch::rows).collect())
    }
}

/// Batches of rows as they arrive. Holds one batch at a time.
pub struct Rows<R> {
    messages: Messages,
    first: Option<Batch<R>>,
    timeout: Duration,
    columns: PhantomData<fn() -> R>,
}

impl<R: Columns> Rows<R> {
    /// The next batch that has rows; `None` at the end. After a cancelled call the rows must not be used again.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn next(&mut self) -> Result<Option<Batch<R>>, StoreError> {
        match self.first.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.fetch().await,
        }
    }

    async fn fetch(&mut self) -> Result<Option<Batch<R>>, StoreError> {
        while let Some((batch, message)) = within(self.timeout, self.messages.next()).await?? {
            if batch.num_rows() > 0 {
                R::view(&batch)?;
                return Ok(Some(Batch { batch, message, columns: PhantomData }));
            }
        }
        Ok(None)
    }
}

/// Some rows of a result, with columns that were checked on arrival.
pub struct Batch<R> {
    batch: RecordBatch,
    message: Bytes,
    columns: PhantomData<fn() -> R>,
}

impl<R: Columns> Batch<R> {
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

    /// Its message of the Arrow stream, uncompressed and without the schema.
    #[must_use]
    pub fn message(&self) -> &Bytes {
        &self.message
    }

    /// The columns.
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

impl Reader {
    /// Checks that the database has exactly the schema that this program needs.
    ///
    /// # Errors
    ///
    /// If the schema has another version, or ClickHouse cannot be read.
    pub async fn require_schema(&self) -> Result<(), MigrateError> {
        let database = self.client.database().unwrap_or_default();
        within(self.timeout, require_schema(&self.client, database)).await?
    }
}
