//! The layout of the rows of a scan in each format: one layout for each kind of rows.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use bytes::Bytes;

use super::{columns, metadata};
use crate::error::Problem;
use crate::read::blocks::hashes::BlockHashes;
use trawl_core::primitives::{B256, Position};
use trawl_core::schema::{Columns, LogRow, LogView, Table};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::logs::{CSV_HEADER, write_csv_log, write_rpc_log};
use trawl_json::scan_rows::{ScanRow, csv_header, write_csv, write_item};
use trawl_query::scan::ScanSpec;

/// The columns of a row's kind.
pub(super) type View<'a, L> = <<L as Layout>::Row as Columns>::View<'a>;

/// The layout of one kind of rows.
pub(super) trait Layout: Send + Sync + 'static {
    /// Columns that the statement of the scan returns.
    type Row: Columns + 'static;

    /// The name of a file of them, without its extension.
    fn stem(&self) -> &'static str;
    /// Reads the data that the rows of a batch need from elsewhere.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn prepare(&mut self, _batch: &Batch<Self::Row>) -> impl Future<Output = Result<(), Problem>> + Send {
        std::future::ready(Ok(()))
    }
    /// The same for some rows of it, just before they are written.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn prepare_rows(
        &mut self,
        _batch: &Batch<Self::Row>,
        _rows: Range<usize>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        std::future::ready(Ok(()))
    }
    /// The hash of a row's block.
    fn block_hash(&self, rows: &View<'_, Self>, row: usize) -> B256;
    /// Writes a row as JSON.
    fn write_json(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize);
    /// The header line of CSV.
    fn csv_header(&self) -> String;
    /// Writes a row as a line of CSV.
    fn write_csv(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize);
    /// The schema of Arrow and Parquet.
    fn schema(&self) -> SchemaRef;
    /// Some rows in the columns of the schema.
    ///
    /// # Errors
    ///
    /// When the columns do not have the types of the schema.
    fn columns(&self, batch: &Batch<Self::Row>, rows: Range<usize>) -> Result<RecordBatch, Problem>;
    /// All rows of a batch as a message of an Arrow stream, if the database sent them in the columns of the schema.
    fn message(&self, _batch: &Batch<Self::Row>) -> Option<Bytes> {
        None
    }
}

/// Logs, in the shape of `eth_getLogs` and of the table.
pub(super) struct Logs;

/// The columns of logs, made once: each batch is compared with them.
static COLUMNS_OF_LOGS: LazyLock<SchemaRef> = LazyLock::new(|| {
    let columns = LogRow::finish(<LogRow as Table>::Builder::default()).schema();
    Arc::new(Schema::new(columns.fields().iter().map(|field| metadata::of_type(field)).collect::<Vec<_>>()))
});

impl Layout for Logs {
    type Row = LogRow;

    fn stem(&self) -> &'static str {
        "logs"
    }

    fn block_hash(&self, logs: &LogView<'_>, row: usize) -> B256 {
        logs.block_hash.bytes(row).into()
    }

    fn write_json(&self, out: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
        write_rpc_log(out, logs, row);
    }

    fn csv_header(&self) -> String {
        CSV_HEADER.into()
    }

    fn write_csv(&self, out: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
        write_csv_log(out, logs, row);
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&COLUMNS_OF_LOGS)
    }

    /// With the schema of this layout: that of the database may have other metadata.
    fn columns(&self, batch: &Batch<LogRow>, rows: Range<usize>) -> Result<RecordBatch, Problem> {
        let part = batch.record_batch().slice(rows.start, rows.len());
        RecordBatch::try_new(self.schema(), part.columns().to_vec()).map_err(|error| Problem::not_encoded(&error))
    }

    fn message(&self, batch: &Batch<LogRow>) -> Option<Bytes> {
        let theirs = batch.record_batch().schema_ref();
        let own = COLUMNS_OF_LOGS.fields().iter().map(|field| field.data_type());
        own.eq(theirs.fields().iter().map(|field| field.data_type())).then(|| batch.message().cloned()).flatten()
    }
}

/// Rows whose type lists its fields.
pub(super) struct Listing<S> {
    stem: &'static str,
    schema: SchemaRef,
    /// Hashes of blocks, for rows without the hash of their block.
    hashes: Option<BlockHashes>,
    scan: PhantomData<fn() -> S>,
}

impl<S: ScanSpec<Row: ScanRow>> Listing<S> {
    /// A layout; rows without the hash of their block need `hashes`.
    pub fn new(stem: &'static str, hashes: Option<BlockHashes>) -> Self {
        Self { stem, schema: columns::schema(S::Row::FIELDS), hashes, scan: PhantomData }
    }
}

impl<S: ScanSpec<Row: ScanRow>> Layout for Listing<S> {
    type Row = S::Row;

    fn stem(&self) -> &'static str {
        self.stem
    }

    async fn prepare(&mut self, batch: &Batch<S::Row>) -> Result<(), Problem> {
        let Some(hashes) = &mut self.hashes else { return Ok(()) };
        let numbers: Vec<u64> = {
            let rows = batch.view();
            (0..batch.len()).map(|row| S::position(&rows, row).block_number()).collect()
        };
        hashes.look_up(numbers.into_iter()).await
    }

    fn block_hash(&self, rows: &View<'_, Self>, row: usize) -> B256 {
        let looked_up = || self.hashes.as_ref().map(|hashes| hashes.of(S::position(rows, row).block_number()));
        S::Row::block_hash(rows, row).or_else(looked_up).unwrap_or_default()
    }

    fn write_json(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize) {
        write_item::<S::Row>(out, rows, row, self.block_hash(rows, row));
    }

    fn csv_header(&self) -> String {
        csv_header::<S::Row>()
    }

    fn write_csv(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize) {
        write_csv::<S::Row>(out, rows, row, self.block_hash(rows, row));
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn columns(&self, batch: &Batch<S::Row>, rows: Range<usize>) -> Result<RecordBatch, Problem> {
        let view = batch.view();
        let mut builders = columns::Builders::new(S::Row::FIELDS);
        for row in rows {
            S::Row::values(&view, row, self.block_hash(&view, row), &mut |value| builders.push(value));
        }
        builders.finish(self.schema())
    }
}
