//! The parts of the settled tables, and their merges.

use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError, Writer};

columns! {
    /// A part of a table.
    pub struct TablePart / TablePartView {
        /// Name of the table without its database.
        name: String,
        /// The shard that has it; 1 on one server.
        shard: u32,
        /// Bytes of the part on disk.
        bytes: u64,
    }
}

impl Reader {
    /// The parts of all tables but the hot ones and those of heads, each behind those that were written before it:
    /// ClickHouse merges neighbours.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn settled_parts(&self) -> Result<Vec<TablePart>, StoreError> {
        self.rows_of_every_shard(Statement::page(include_str!("../../../../../sql/queries/settled_parts.sql"))).await
    }
}

impl Writer {
    /// Merges some parts of a table, the cheapest ones, or none if nothing can be merged. Changes no row.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn merge_some(&self, table: &str) -> Result<(), StoreError> {
        self.execute_on_shards(table, "OPTIMIZE TABLE {table:Identifier}", &[("table", table.into())]).await
    }
}
