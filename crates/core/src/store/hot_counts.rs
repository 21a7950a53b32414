//! How many rows the newest blocks have in each table, for the commit that settles them.

use super::{Reader, StoreError};
use crate::primitives::HotRange;
use crate::schema::columns::columns;
use crate::schema::hot::hot_name;
use crate::schema::{BLOCK_TABLES, TableRows};
use crate::statement::Statement;

columns! {
    /// The rows that belong to a block of a generation.
    pub struct HotCount / HotCountView {
        /// Height.
        block_number: u64,
        /// Its generation.
        generation: u64,
        /// Rows by table, as they will be settled.
        rows: Vec<TableRows>,
    }
}

/// The condition for rows of given heights and generations.
fn named(column: &str) -> String {
    format!(
        "arrayExists(range -> {column} BETWEEN range.1 AND range.2 AND generation = range.3, {{generations:Array(Tuple(UInt64, UInt64, UInt64))}})"
    )
}

impl Reader {
    /// How many rows the blocks of `ranges` have in each table; counted from the hot tables, which are small.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn hot_counts(&self, ranges: &[HotRange]) -> Result<Vec<HotCount>, StoreError> {
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let count = |table: &str, hot: String, column: &str, rows: &str| {
            let of_block =
                format!("SELECT {column} AS block_number, generation, '{table}' AS name, toUInt64({rows}) AS rows");
            format!("{of_block}\nFROM {hot}\nWHERE {}\nGROUP BY 1, 2", named(column))
        };
        let mut counts: Vec<String> =
            BLOCK_TABLES.iter().map(|(table, column)| count(table, hot_name(table), column, "count()")).collect();
        counts.push(count("log_topics", hot_name("logs"), "block_number", "sum(topics_count)"));
        let sql = format!(
            "SELECT block_number, generation, groupArray((name, rows))::Array(Tuple(name String, rows UInt64)) AS rows\nFROM\n(\n{}\n)\nGROUP BY block_number, generation",
            counts.join("\nUNION ALL\n")
        );
        self.rows(&Statement::<HotCount>::page(sql).with("generations", ranges)).await
    }
}
