//! Counts over the tables: columns that the sources did not have, and verdicts of blocks.

use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

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

columns! {
    /// How many blocks have a verdict.
    pub struct VerdictCount / VerdictCountView {
        /// `verified`, `partial`, `refused` or `unverified`.
        verdict: String,
        /// How many blocks.
        blocks: u64,
    }
}

impl Reader {
    /// How many blocks have which verdict, by the latest verdict of each block; in order of their names.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn verdicts(&self) -> Result<Vec<VerdictCount>, StoreError> {
        let statement = Statement::<VerdictCount>::scan(include_str!("../../../../../sql/queries/verdicts.sql"));
        self.rows(&statement).await
    }

    /// The columns that rows of `blocks` and `transactions` lack, in order of their names. Reads one column of each
    /// table whole.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn lacking(&self) -> Result<Vec<LackingColumn>, StoreError> {
        let statement = Statement::<LackingColumn>::scan(include_str!("../../../../../sql/queries/lacking.sql"));
        self.rows(&statement).await
    }
}
