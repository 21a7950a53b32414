//! What the sources did not have, counted over the tables.

use super::{Reader, StoreError};
use crate::schema::Column;
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// A column that some rows lack.
    pub struct LackingColumn / LackingColumnView {
        /// Its table and name, joined with a dot.
        column: String,
        /// Lowest block of such a row.
        first_block: u64,
        /// Highest block of such a row.
        last_block: u64,
        /// How many rows.
        rows: u64,
    }
}

impl Reader {
    /// The columns that rows of `blocks` and `transactions` lack, in order of their names. Reads one column of each
    /// table whole.
    pub async fn lacking(&self) -> Result<Vec<LackingColumn>, StoreError> {
        let statement = Statement::<LackingColumn>::page(include_str!("../../sql/queries/lacking.sql"));
        let mut columns = Vec::new();
        for batch in self.all(&statement).await? {
            let view = batch.view();
            columns.extend((0..batch.len()).map(|row| LackingColumn {
                column: String::get(&view.column, row).into(),
                first_block: view.first_block[row],
                last_block: view.last_block[row],
                rows: view.rows[row],
            }));
        }
        Ok(columns)
    }
}
