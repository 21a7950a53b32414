//! Corrects comments of existing tables to those of this release.

use std::collections::{BTreeMap, HashMap};

use super::expected_schema::statements;
use crate::schema::comments::{TableComments, comments};
use crate::store::{StoreError, Writer};

/// Comments that differ, of one table.
#[derive(Debug, Default, PartialEq, Eq)]
struct Corrections {
    table: Option<String>,
    columns: Vec<(String, String)>,
}

impl Writer {
    /// Replaces comments of tables and columns that differ from those of this release. Only metadata changes.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses a statement.
    pub(crate) async fn correct_comments(&self) -> Result<(), StoreError> {
        for (node, sql) in self.comment_corrections().await? {
            node.execute(&sql, &[]).await?;
        }
        Ok(())
    }

    /// The statements for this, each with a writer of the database that it runs in.
    pub(crate) async fn comment_corrections(&self) -> Result<Vec<(Self, String)>, StoreError> {
        let expected = expected_comments();
        let mut statements = Vec::new();
        for node in self.with_local_databases() {
            let found = node.comments().await?;
            let of_node = corrections(&expected, &found);
            statements.extend(of_node.iter().map(|(table, corrections)| (node.clone(), corrections.statement(table))));
        }
        Ok(statements)
    }

    /// The comments of the tables of this database: of columns, and by an empty name of the table.
    async fn comments(&self) -> Result<HashMap<(String, String), String>, StoreError> {
        let query = self.address.client().query_raw(include_str!("../../../../../sql/queries/comments.sql"));
        let rows: Vec<(String, String, String)> = query.fetch_all().await?;
        Ok(rows.into_iter().map(|(table, column, comment)| ((table, column), comment)).collect())
    }
}

impl Corrections {
    /// The statement that applies them. Names and comments are those of `sql/`.
    fn statement(&self, table: &str) -> String {
        let of_columns = self.columns.iter();
        let of_columns = of_columns.map(|(column, comment)| format!("COMMENT COLUMN {column} {}", literal(comment)));
        let of_table = self.table.iter().map(|comment| format!("MODIFY COMMENT {}", literal(comment)));
        let changes: Vec<String> = of_columns.chain(of_table).collect();
        format!("ALTER TABLE {table} {}", changes.join(", "))
    }
}

/// The comments of every table of this release, by its name.
fn expected_comments() -> BTreeMap<String, TableComments> {
    let of_all = statements().map(|(table, create)| (table, comments(&create)));
    of_all.filter(|(_, comments)| !comments.columns.is_empty()).collect()
}

/// The differences of existing tables and columns: optional tables may be missing.
fn corrections(
    expected: &BTreeMap<String, TableComments>,
    found: &HashMap<(String, String), String>,
) -> Vec<(String, Corrections)> {
    let differs = |table: &str, column: &str, comment: &str| {
        found.get(&(table.to_owned(), column.to_owned())).is_some_and(|found| found != comment)
    };
    let of = |(table, expected): (&String, &TableComments)| {
        let columns = expected.columns.iter().filter(|(column, comment)| differs(table, column, comment));
        let corrections = Corrections {
            table: differs(table, "", &expected.table).then(|| expected.table.clone()),
            columns: columns.cloned().collect(),
        };
        (corrections != Corrections::default()).then(|| (table.clone(), corrections))
    };
    expected.iter().filter_map(of).collect()
}

/// A string of SQL (<https://clickhouse.com/docs/sql-reference/syntax#string>).
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}
