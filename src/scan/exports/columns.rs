//! Rows of an export with other columns than those of the scans.

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use crate::error::Problem;
use crate::scan::layout::{Layout, View};
use trawl_core::primitives::B256;
use trawl_core::schema;
use trawl_core::store::Batch;
use trawl_json::JsonWriter;

/// Other columns of a kind of rows.
pub(super) trait Columns: Send + Sync + 'static {
    /// Columns that the statement of the scan returns.
    type Row: schema::Columns + 'static;
    /// The header line.
    const HEADER: &'static str;

    /// Reads what some rows of a batch need from elsewhere.
    ///
    /// # Errors
    ///
    /// When the store fails.
    fn look_up(
        &mut self,
        _batch: &Batch<Self::Row>,
        _rows: Range<usize>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        std::future::ready(Ok(()))
    }

    /// Writes one of those rows as a line.
    fn write(
        &self,
        out: &mut JsonWriter,
        rows: &<Self::Row as schema::Columns>::View<'_>,
        row: usize,
        block_hash: B256,
    );
}

/// A layout whose CSV has other columns.
pub(super) struct Export<L, C> {
    pub layout: L,
    pub columns: C,
}

impl<L: Layout, C: Columns<Row = L::Row>> Layout for Export<L, C> {
    type Row = L::Row;

    fn stem(&self) -> &'static str {
        self.layout.stem()
    }

    fn prepare(&mut self, batch: &Batch<L::Row>) -> impl Future<Output = Result<(), Problem>> + Send {
        self.layout.prepare(batch)
    }

    fn prepare_rows(
        &mut self,
        batch: &Batch<L::Row>,
        rows: Range<usize>,
    ) -> impl Future<Output = Result<(), Problem>> + Send {
        self.columns.look_up(batch, rows)
    }

    fn block_hash(&self, rows: &View<'_, Self>, row: usize) -> B256 {
        self.layout.block_hash(rows, row)
    }

    fn write_json(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize) {
        self.layout.write_json(out, rows, row);
    }

    fn csv_header(&self) -> String {
        C::HEADER.into()
    }

    fn write_csv(&self, out: &mut JsonWriter, rows: &View<'_, Self>, row: usize) {
        self.columns.write(out, rows, row, self.layout.block_hash(rows, row));
    }

    fn schema(&self) -> SchemaRef {
        self.layout.schema()
    }

    fn columns(&self, batch: &Batch<L::Row>, rows: Range<usize>) -> Result<RecordBatch, Problem> {
        self.layout.columns(batch, rows)
    }
}
