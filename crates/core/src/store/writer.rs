//! Writes: inserts batches and deletes ranges. Only ingest has a writer; the API has none.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow::array::{Array as _, ArrayRef, RecordBatch};
use clickhouse::Client;
use clickhouse_ext_arrow::ArrowClientExt;

use super::client::connection::bind;
use super::client::timeout::within;
use super::error::UNKNOWN_TABLE;
use super::{StoreAddress, StoreError};
use crate::primitives::BlockRange;
use crate::statement::{Parameter, Workload};

/// Writes on behalf of one run of a program.
#[derive(Clone)]
pub struct Writer {
    pub(super) address: StoreAddress,
    client: Client,
    run: String,
    /// A node of each shard of a cluster; empty where the tables are of one server.
    pub(super) nodes: Arc<[String]>,
    /// All further replicas of these nodes.
    pub(super) replicas: Arc<[String]>,
    /// How many replicas a shard has, where tables replicate; known once the cluster was checked.
    pub(super) quorum: Arc<OnceLock<u64>>,
}

impl Writer {
    /// A writer whose statements carry `run` in their `log_comment`.
    #[must_use]
    pub fn new(address: &StoreAddress, run: &str) -> Self {
        let client = address
            .client()
            // The default since 26.x buffers inserts on the server and would acknowledge a batch before it is a part.
            .with_setting("async_insert", "0")
            // A repeated insert resumes: only views that lack its rows are written again.
            .with_setting("deduplicate_blocks_in_dependent_materialized_views", "1")
            // On a cluster an insert ends when its rows are on their shards, and one that selects gives its rows to the
            // server it was sent to.
            .with_setting("distributed_foreground_insert", "1")
            .with_setting("parallel_distributed_insert_select", "0")
            .with_setting("output_format_arrow_string_as_string", "0")
            .with_setting("workload", Workload::Ingest.name())
            .with_setting("log_comment", format!("{COMMENT}{run}"));
        let (nodes, replicas, quorum) = (Arc::default(), Arc::default(), Arc::default());
        Self { address: address.clone(), client, run: run.into(), nodes, replicas, quorum }
    }

    /// A writer of the same database, on the same nodes, for another run.
    #[must_use]
    pub fn for_run(&self, run: &str) -> Self {
        let (nodes, replicas, quorum) = (self.nodes.clone(), self.replicas.clone(), self.quorum.clone());
        Self { nodes, replicas, quorum, ..Self::new(&self.address, run) }
    }

    /// A writer of another database of a node, for the same run.
    pub(super) fn at(&self, url: &str, database: &str) -> Self {
        let address = StoreAddress { url: url.into(), database: database.into(), ..self.address.clone() };
        Self { quorum: self.quorum.clone(), ..Self::new(&address, &self.run) }
    }

    /// The run this writer works for.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Writes `batch` to `table` once: a repetition with the same `token` changes nothing.
    ///
    /// A table stores the tokens of its last 1,000 inserts, also after their rows are deleted, so a token contains its
    /// run. <https://clickhouse.com/docs/operations/settings/settings#insert_deduplication_token>
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn insert(&self, table: &str, batch: &RecordBatch, token: &str) -> Result<(), StoreError> {
        let client = self.client().with_setting("insert_deduplication_token", token);
        let insert = async {
            let mut insert = client.insert_arrow(table)?;
            let rows = rows_at_once(batch);
            for first in (0..batch.num_rows()).step_by(rows) {
                insert.write(&batch.slice(first, rows.min(batch.num_rows() - first))).await?;
            }
            Ok::<_, StoreError>(insert.end().await?)
        };
        let started = Instant::now();
        within(INSERT_TIMEOUT, insert).await??;
        metrics::histogram!("trawl_ingest_insert_duration_seconds").record(started.elapsed());
        let table = table.to_owned();
        metrics::counter!("trawl_ingest_rows_total", "table" => table.clone()).increment(batch.num_rows() as u64);
        metrics::counter!("trawl_ingest_written_bytes_total", "table" => table).increment(size_bytes(batch));
        Ok(())
    }

    /// Removes the rows of `table` whose `column` lies in `range`; when this returns no reader sees them.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn delete(&self, table: &str, column: &str, range: BlockRange) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {table} WHERE {column} BETWEEN {{first:UInt64}} AND {{last:UInt64}}");
        let parameters = [("first", range.first().into()), ("last", range.last().into())];
        self.execute_on_shards(table, &sql, &parameters).await
    }

    /// [`Writer::delete`] for a table that may be left out.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn delete_if_there(&self, table: &str, column: &str, range: BlockRange) -> Result<(), StoreError> {
        match self.delete(table, column, range).await {
            Err(StoreError::Refused { code: UNKNOWN_TABLE, .. }) => Ok(()),
            other => other,
        }
    }

    /// Removes the intents of `runs` that lie in `range`, once they need no further work.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn forget_intents(&self, runs: &[String], range: BlockRange) -> Result<(), StoreError> {
        let sql = "DELETE FROM ingest_intents WHERE run IN {runs:Array(String)} \
                   AND first_block >= {first:UInt64} AND last_block <= {last:UInt64}";
        let parameters = [("runs", runs.into()), ("first", range.first().into()), ("last", range.last().into())];
        self.execute(sql, &parameters).await
    }

    /// Runs an INSERT … SELECT once: a repetition with the same `token` changes nothing. The SELECT must give the same
    /// rows in the same order each time, so it ends with ORDER BY ALL.
    pub(super) async fn execute_once(
        &self,
        sql: &str,
        parameters: &[(&str, Parameter)],
        token: &str,
    ) -> Result<(), StoreError> {
        let client = self
            .client
            .clone()
            .with_setting("insert_deduplication_token", token)
            .with_setting("deduplicate_insert_select", "force_enable")
            .with_setting("max_insert_threads", "1");
        Self { client, ..self.clone() }.execute(sql, parameters).await
    }

    /// Runs a statement without a result, with a timeout of an hour.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn execute(&self, sql: &str, parameters: &[(&str, Parameter)]) -> Result<(), StoreError> {
        within(STATEMENT_TIMEOUT, self.send(sql, parameters)).await?
    }

    /// [`Writer::execute`] for a step of a migration, which may fill a table.
    pub(super) async fn execute_step(&self, sql: &str) -> Result<(), StoreError> {
        within(STEP_TIMEOUT, self.send(sql, &[])).await?
    }

    /// [`Writer::execute`] for statements that a working server completes at once.
    pub(super) async fn execute_promptly(&self, sql: &str, parameters: &[(&str, Parameter)]) -> Result<(), StoreError> {
        within(PROMPT_TIMEOUT, self.send(sql, parameters)).await?
    }

    /// The client, whose writes count once all replicas have them: rows are on each before their commit is.
    /// <https://clickhouse.com/docs/operations/settings/settings#insert_quorum>
    fn client(&self) -> Client {
        let client = self.client.clone();
        match self.quorum.get() {
            None => client,
            Some(replicas) => client
                .with_setting("insert_quorum", replicas.to_string())
                .with_setting("mutations_sync", "2")
                .with_setting("alter_sync", "2"),
        }
    }

    async fn send(&self, sql: &str, parameters: &[(&str, Parameter)]) -> Result<(), StoreError> {
        let mut query = self.client().query_raw(sql);
        for (name, value) in parameters {
            query = bind(query, name, value);
        }
        Ok(query.execute().await?)
    }
}

/// Bytes of the columns of a batch.
fn size_bytes(batch: &RecordBatch) -> u64 {
    // Of a slice its own part is counted, where the array can say it, and not what it was cut from.
    let column = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(column.get_array_memory_size());
    batch.columns().iter().map(column).sum::<usize>() as u64
}

/// Bytes of a batch that are encoded at once: the encoded form exists beside the batch until it is sent.
const PIECE_BYTES: usize = 4 << 20;

/// How many rows of a batch are encoded at once. The server joins the pieces to one part.
fn rows_at_once(batch: &RecordBatch) -> usize {
    let pieces = batch.get_array_memory_size() / PIECE_BYTES + 1;
    batch.num_rows().div_ceil(pieces).max(1)
}

/// How long an insert may take; a batch that takes longer is sent again with the same token.
const INSERT_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// How long a step of a migration may take: the longest ones write some 100,000 rows a second.
const STEP_TIMEOUT: Duration = Duration::from_secs(48 * 60 * 60);
/// How long a delete may take, which may rewrite tables.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long an insert of one row may take.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(30);

/// How statements of ingest are recognised in `system.processes`.
pub(super) const COMMENT: &str = "trawl-ingest ";
