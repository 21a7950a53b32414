//! What the sources did not have, counted over the tables.

use super::{Reader, StoreError};
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
        let statement = Statement::<LackingColumn>::scan(include_str!("../../sql/queries/lacking.sql"));
        self.rows(&statement).await
    }
}
