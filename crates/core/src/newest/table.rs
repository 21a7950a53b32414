//! The rows that a block has in one table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;

use super::column::StoredColumn;
use super::layout::Layout;

/// Rows of one table.
#[derive(Debug)]
pub(super) struct TableRows {
    layout: Arc<Layout>,
    columns: Vec<StoredColumn>,
    rows: u32,
}

impl TableRows {
    /// Stores the rows of a table; at least one.
    pub fn of(table: &'static str, batch: &RecordBatch) -> Result<Self, ArrowError> {
        let columns = batch.columns().iter().map(StoredColumn::of).collect::<Result<_, _>>()?;
        let rows = u32::try_from(batch.num_rows())
            .map_err(|_| ArrowError::InvalidArgumentError("more rows than a block can have".into()))?;
        Ok(Self { layout: Layout::shared(table, &batch.schema()), columns, rows })
    }

    /// How many rows.
    pub fn len(&self) -> u32 {
        self.rows
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&StoredColumn> {
        self.columns.get(self.layout.position(name)?)
    }

    /// The rows that have these bytes in these columns, ascending.
    pub fn find(&self, values: &[(&str, &[u8])]) -> Vec<usize> {
        let column = |(name, value): &(&str, _)| Some((self.column(name)?, *value));
        let columns: Option<Vec<(&StoredColumn, &[u8])>> = values.iter().map(column).collect();
        let columns = columns.unwrap_or_default();
        let Some(((first, value), others)) = columns.split_first() else { return Vec::new() };
        let has_others = |row: &usize| others.iter().all(|(column, value)| column.bytes(*row) == Some(*value));
        first.rows_with(value, self.rows as usize).filter(has_others).collect()
    }

    /// Columns of some rows. A column whose name is the first of `instead` takes the values of the second where that
    /// has one.
    pub fn project(
        &self,
        names: &[&'static str],
        instead: Option<(&str, &str)>,
        rows: &[u32],
    ) -> Result<RecordBatch, ArrowError> {
        let mut fields: Vec<Arc<Field>> = Vec::with_capacity(names.len());
        let mut arrays = Vec::with_capacity(names.len());
        for name in names {
            let position = self.layout.require(name)?;
            let mut array = self.columns[position].take(rows)?;
            if let Some((_, other)) = instead.filter(|(own, _)| own == name) {
                let other = self.columns[self.layout.require(other)?].take(rows)?;
                array = arrow::compute::kernels::zip::zip(&arrow::compute::is_not_null(&other)?, &other, &array)?;
            }
            fields.push(Arc::clone(self.layout.field(position)));
            arrays.push(array);
        }
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }

    /// Bytes in memory.
    pub fn size(&self) -> usize {
        self.columns.iter().map(StoredColumn::size).sum()
    }
}
