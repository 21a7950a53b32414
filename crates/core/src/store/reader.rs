//! Reads: sends a statement and streams back record batches.

use std::sync::Arc;
use std::time::Duration;

use clickhouse::Client;

use super::client::addresses::Endpoint;
use super::client::coalescer::PageCoalescer;
use super::client::connection::{Batch, Connection};
use super::client::failover::{EndpointStatus, Failover};
use super::client::rows;
use super::client::rows::{Rows, Tables};
use super::client::timeout::within;
use super::cluster::ClusterName;
use super::schema::version::{MigrateError, require_schema};
use super::{StoreAddress, StoreError};
use crate::schema::Columns;
use crate::statement::Statement;

/// Added to the time limit of a statement for the timeout on this side, so that the server reports its limit first: its
/// error has more detail.
const DELIVERY_MARGIN: Duration = Duration::from_secs(3);

/// Reads and cannot write: every statement runs read-only and with limits.
#[derive(Clone)]
pub struct Reader {
    pub(super) database: String,
    pub(super) failover: Failover,
    timeout: Duration,
    pub(super) cluster: Arc<ClusterName>,
    coalescer: Arc<PageCoalescer>,
}

impl Reader {
    /// A reader whose statements may run for `time_limit` and use `memory_limit` bytes on the server.
    #[must_use]
    pub fn new(address: &StoreAddress, time_limit: Duration, memory_limit: u64) -> Self {
        Self::of_several(std::slice::from_ref(address), time_limit, memory_limit)
    }

    /// A reader over one or more addresses of the same database: it uses the first, and another one when that is
    /// gone.
    #[must_use]
    pub fn of_several(addresses: &[StoreAddress], time_limit: Duration, memory_limit: u64) -> Self {
        let timeout = time_limit + DELIVERY_MARGIN;
        let candidate = |address| {
            let client = Self::client(address, time_limit, memory_limit);
            Endpoint::new(address, Connection { client, timeout })
        };
        let database = addresses.first().map(|address| address.database.clone()).unwrap_or_default();
        let failover = Failover::new(addresses.iter().map(candidate).collect());
        Self { database, failover, timeout, cluster: Arc::default(), coalescer: Arc::new(PageCoalescer::new(1)) }
    }

    /// The same reader, which reads up to so many pages of addresses by one statement while others are read; 1 reads
    /// each alone.
    #[must_use]
    pub fn with_coalesced_pages(self, max_pages: usize) -> Self {
        Self { coalescer: Arc::new(PageCoalescer::new(max_pages)), ..self }
    }

    fn client(address: &StoreAddress, time_limit: Duration, memory_limit: u64) -> Client {
        address
            .client()
            .with_setting("readonly", "2")
            // On a cluster, shards that a condition on the sharding key excludes are not queried.
            .with_setting("optimize_skip_unused_shards", "1")
            .with_setting("max_execution_time", time_limit.as_secs().max(1).to_string())
            .with_setting("max_memory_usage", memory_limit.to_string())
            .with_setting("cancel_http_readonly_queries_on_client_close", "1")
            // Compression, where enabled, is that of the connection.
            .with_setting("output_format_arrow_compression_method", "none")
            .with_setting("output_format_arrow_string_as_string", "0")
            .with_setting("output_format_arrow_low_cardinality_as_dictionary", "0")
    }

    /// Sends `statement` and waits for its first rows, so that a failure is known before a response begins.
    ///
    /// Dropping the rows before their end closes the connection, which cancels the statement.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stream<R: Columns>(&self, statement: &Statement<R>) -> Result<Rows<R>, StoreError> {
        let tables = Tables { failover: &self.failover, coalescer: &self.coalescer };
        match statement.for_shards() {
            Some(other) if Box::pin(self.cluster()).await?.is_some() => rows::open(tables, &other).await,
            _ => rows::open(tables, statement).await,
        }
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

impl Reader {
    /// Checks that the database has exactly the schema that this program needs.
    ///
    /// # Errors
    ///
    /// If the schema has another version, or ClickHouse cannot be read.
    pub async fn require_schema(&self) -> Result<(), MigrateError> {
        let checked = self.failover.run(|connection| async move {
            match within(self.timeout, require_schema(&connection.client, &self.database)).await? {
                Err(MigrateError::Store(error)) => Err(error),
                checked => Ok(checked),
            }
        });
        checked.await?
    }

    /// How many times another address came into use.
    pub(super) fn turn(&self) -> u64 {
        self.failover.in_use().turn
    }

    /// The states of the addresses that are not in use.
    pub async fn endpoint_statuses(&self) -> Vec<(StoreAddress, EndpointStatus)> {
        self.failover.statuses().await
    }
}
