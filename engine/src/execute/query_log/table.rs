//! The table `system.query_log`: its columns are a server's, as far as they mean something here.

use crate::chdb::connection::Connection;
use crate::chdb::engine::Engine;
use crate::exception::Exception;

/// Columns without the bound. What follows from others is not stored: each column of a write takes 4 KB at least.
const CREATE: &str = "\
CREATE TABLE system.query_log (
  type Enum8('QueryStart' = 1, 'QueryFinish' = 2, 'ExceptionBeforeStart' = 3, 'ExceptionWhileProcessing' = 4)
    COMMENT 'How it ended. There is one row per statement, and none is QueryStart',
  query_start_time_microseconds DateTime64(6, 'UTC') COMMENT 'Time of its request',
  event_time_microseconds DateTime64(6, 'UTC') COMMENT 'Time when it ended',
  read_rows UInt64 COMMENT 'Rows read; for a failed statement as sampled at most a second before',
  read_bytes UInt64 COMMENT 'Bytes read, uncompressed; for a failed statement like read_rows',
  written_rows UInt64 COMMENT 'Rows written, including those of materialized views',
  written_bytes UInt64 COMMENT 'Bytes written, uncompressed',
  result_rows UInt64 COMMENT 'Rows of the result',
  result_bytes UInt64 COMMENT 'Bytes of the result in memory',
  memory_usage UInt64 COMMENT 'Peak memory in bytes, sampled once a second; 0 if shorter than a second or two',
  current_database String COMMENT 'Database of its request',
  query String COMMENT 'Its text, the first 8 KiB, without the data of an INSERT',
  query_kind String COMMENT 'Its first word: Select, Insert, Create',
  exception_code Int32 COMMENT 'Code of its error, or 0',
  exception String COMMENT 'Text of its error, the first KiB',
  user String COMMENT 'User who sent it',
  query_id String COMMENT 'Query id, from the client or generated',
  http_method UInt8 COMMENT '1: GET, 2: POST',
  http_user_agent String COMMENT 'User-Agent header of its request',
  log_comment String COMMENT 'Setting log_comment of its request',
  Settings Map(String, String) COMMENT 'Settings of its request; for a reader also those in its SETTINGS clause',
  workload String COMMENT 'Workload whose slots it ran in',
  event_date Date ALIAS toDate(event_time_microseconds),
  event_time DateTime ALIAS toDateTime(event_time_microseconds),
  query_start_time DateTime ALIAS toDateTime(query_start_time_microseconds),
  query_duration_ms UInt64 ALIAS dateDiff('millisecond', query_start_time_microseconds, event_time_microseconds),
  normalized_query_hash UInt64 ALIAS normalizedQueryHash(query),
  is_initial_query UInt8 ALIAS 1,
  initial_user String ALIAS user,
  initial_query_id String ALIAS query_id,
  interface UInt8 ALIAS 2
)";

/// Long-running statements, by the numbers in their comments.
const LONG: &str = "\
SELECT extract(Settings['log_comment'], '^trawl-engine:([0-9]+)'), toUInt64(elapsed * 1000), peak_memory_usage, read_rows, read_bytes
FROM system.processes WHERE startsWith(Settings['log_comment'], 'trawl-engine:') AND elapsed > 0.5";

/// The table, and a connection that writes to it.
#[derive(Debug)]
pub(super) struct Table(Connection);

impl Table {
    /// Creates it; it retains the newest `bytes` of rows, and ends with the process.
    pub(super) fn make(engine: &Engine, bytes: u64) -> Result<Self, Exception> {
        let mut connection = engine.connect(&[])?;
        let engine = format!("ENGINE = Memory SETTINGS max_bytes_to_keep = {bytes}, compress = 1");
        let comment = "COMMENT 'What ran: a row a statement, the newest, since the start of the engine'";
        connection.query(format!("{CREATE} {engine} {comment}").as_bytes(), "Null", &[])?;
        Ok(Self(connection))
    }

    /// Adds rows in the format `RowBinary`.
    pub(super) fn insert(&mut self, rows: &[u8]) -> Result<(), Exception> {
        let mut insert = self.0.insert(b"INSERT INTO system.query_log", "RowBinary", &[])?;
        // What it refuses, the end tells.
        let _ = insert.append(rows);
        insert.finish().map(drop)
    }

    /// Number, milliseconds so far, most memory, rows and bytes read of each statement that takes long.
    pub(super) fn long(&mut self) -> Result<Vec<[u64; 5]>, Exception> {
        let text = self.0.text(LONG)?;
        let row = |line: &str| {
            let mut values = line.split('\t').map(str::parse);
            let row = std::array::from_fn(|_| values.next().and_then(Result::ok));
            row.iter().all(Option::is_some).then(|| row.map(Option::unwrap_or_default))
        };
        Ok(text.lines().filter_map(row).collect())
    }
}
