//! Parts of tables that cannot be trusted: those that the engine set aside when it loaded them, and those whose small files are
//! not as they were written.
//!
//! libchdb says nothing about either. Of a part that it set aside the table lacks the rows; it stays in the table's `detached`
//! folder until somebody removes or restores it, so it is found at every start. And it loads a part whose number of rows or
//! whose columns were altered, and answers by them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::chdb::connection::Connection;
use crate::codec::part_checksums::altered_file;
use crate::exception::Exception;

/// The parts of a table that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenParts {
    /// The table, with its database.
    pub table: String,
    /// Names of the parts, with what is wrong.
    pub parts: Vec<String>,
}

impl std::fmt::Display for BrokenParts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.table, self.parts.join(", "))
    }
}

/// Parts that were set aside.
const SET_ASIDE: &str =
    "SELECT database, table, name FROM system.detached_parts WHERE startsWith(reason, 'broken') ORDER BY ALL";
/// Parts in use, and where their files are.
const IN_USE: &str = "SELECT database, table, name, path FROM system.parts WHERE active ORDER BY ALL";
/// Columns of parts that their tables do not have so. What a part lacks is a column that was added since, and an enumeration
/// grows without its parts.
const STRANGE_COLUMNS: &str = "\
WITH if(position(type, 'Enum') > 0, 'Enum', type) AS kind
SELECT DISTINCT database, table, name, column FROM system.parts_columns
WHERE active AND (database, table, column, kind) NOT IN (SELECT database, table, name, kind FROM system.columns)
  AND (database, table) NOT IN (SELECT database, table FROM system.mutations WHERE NOT is_done) ORDER BY ALL";

/// The tables with such parts, by name. Asking loads every table, also those that would be loaded when they are used.
pub(super) fn broken_parts(connection: &mut Connection) -> Result<Vec<BrokenParts>, Exception> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |row: &[String], what: String| {
        tables.entry(format!("{}.{}", row[0], row[1])).or_default().push(what);
    };
    rows(connection, SET_ASIDE, 3)?.iter().for_each(|row| add(row, row[2].clone()));
    for row in rows(connection, STRANGE_COLUMNS, 4)? {
        add(&row, format!("{}: its column `{}` is none of the table's", row[2], row[3]));
    }
    for row in rows(connection, IN_USE, 4)? {
        match altered_file(Path::new(&row[3])) {
            Ok(None) => {}
            Ok(Some(file)) => add(&row, format!("{}: {file} is not as it was written", row[2])),
            Err(error) => add(&row, format!("{}: {error}", row[2])),
        }
    }
    Ok(tables.into_iter().map(|(table, parts)| BrokenParts { table, parts }).collect())
}

fn rows(connection: &mut Connection, text: &str, columns: usize) -> Result<Vec<Vec<String>>, Exception> {
    let split = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
    Ok(connection.text(text)?.lines().map(split).filter(|row| row.len() == columns).collect())
}
