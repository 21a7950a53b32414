//! The rows of a table, some at a time, and of them only the columns that are read.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use arrow::array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use super::column::Column;
use super::error::{ExportError, Location};

/// How a table is read.
pub(super) struct TableForm {
    /// The name of the table.
    pub table: &'static str,
    /// The columns that are read, where the file has them.
    pub columns: &'static [&'static str],
    /// Rows held at a time.
    pub rows: usize,
}

/// Some consecutive rows of a table.
pub(super) struct Batch<'f> {
    table: &'static str,
    file: &'f Path,
    rows: RecordBatch,
}

impl Batch<'_> {
    pub fn len(&self) -> usize {
        self.rows.num_rows()
    }

    pub fn file(&self) -> &Path {
        self.file
    }

    /// A column that every known version of the export has.
    pub fn column(&self, name: &'static str) -> Result<Column<'_>, ExportError> {
        self.optional(name).ok_or_else(|| ExportError::Column { at: Box::new(self.location(name)) })
    }

    /// A column that some versions of the export have.
    pub fn optional(&self, name: &'static str) -> Option<Column<'_>> {
        Some(Column { array: self.rows.column_by_name(name)?, table: self.table, name, file: self.file })
    }

    fn location(&self, column: &'static str) -> Location {
        Location { file: self.file.into(), table: self.table, column }
    }
}

impl TableForm {
    /// Hands on the rows of the files.
    pub fn read<'f>(
        &self,
        files: impl Iterator<Item = &'f Path>,
        mut each: impl FnMut(&Batch<'f>) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        for file in files {
            tracing::debug!(file = %file.display(), "reading");
            let mut reader = self.open(file)?;
            while let Some(rows) = guarded(file, || reader.next())? {
                let rows = rows.map_err(|error| ExportError::malformed(file, error))?;
                each(&Batch { table: self.table, file, rows })?;
            }
        }
        Ok(())
    }

    fn open(&self, file: &Path) -> Result<ParquetRecordBatchReader, ExportError> {
        let opened = File::open(file).map_err(|source| ExportError::File { file: file.into(), source })?;
        let reader = guarded(file, || {
            // The writer's own idea of Arrow types would bring variants of text and bytes that mean the same.
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options)?;
            let mask = ProjectionMask::columns(builder.parquet_schema(), self.columns.iter().copied());
            builder.with_projection(mask).with_batch_size(self.rows).build()
        })?;
        reader.map_err(|error| ExportError::malformed(file, error))
    }
}

/// A damaged file may bring the decoder to a panic; here it is one more way of being malformed.
fn guarded<T>(file: &Path, read: impl FnOnce() -> T) -> Result<T, ExportError> {
    catch_unwind(AssertUnwindSafe(read))
        .map_err(|_| ExportError::malformed(file, "damaged beyond what its decoder can name"))
}
