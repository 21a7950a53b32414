//! Parts of tables that cannot be trusted: those that the engine set aside when it loaded them and whose rows are gone
//! with them, and those whose small files are not as they were written.
//!
//! libchdb says nothing about either. Of a part that it set aside the table lacks the rows, unless other parts have
//! them; it stays in the table's `detached` folder until somebody removes or restores it, so it is found at every
//! start. And it loads a part whose number of rows or whose columns were altered, and answers by them.
//!
//! Nothing is held against the table's definition but types that one altered bit makes of each other, of data that was
//! written since the table was last altered: columns come and go by ALTER, and parts have columns of the engine's own
//! (`_row_exists` of a DELETE, `_block_number`, `_block_offset`).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::chdb::connection::{Connection, quoted_identifier};
use crate::chdb::set_aside;
use crate::codec::part_checksums::altered_file;
use crate::codec::part_columns::{altered_column, written_at};
use crate::exception::Exception;

/// The parts of a table that cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenParts {
    /// The table, with its database.
    pub table: String,
    /// Names of the parts, with their damage.
    pub parts: Vec<String>,
}

impl std::fmt::Display for BrokenParts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.table, self.parts.join(", "))
    }
}

/// A part in use that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct AlteredPart {
    database: String,
    table: String,
    name: String,
    folder: PathBuf,
    reason: String,
}

/// Parts in use, and where their files are.
const IN_USE: &str = "SELECT database, table, name, path FROM system.parts WHERE active ORDER BY ALL";
/// Types of columns that their tables have otherwise, and the files of the tables' definitions. While a mutation is
/// going on, parts have their old types.
const OTHER_TYPES: &str = "\
SELECT parts.database, parts.table, parts.name, parts.path, parts.column, parts.type, columns.type,
    (SELECT disks.path FROM system.disks AS disks WHERE disks.name = 'default') || tables.metadata_path
FROM system.parts_columns AS parts
JOIN system.columns AS columns
    ON columns.database = parts.database AND columns.table = parts.table AND columns.name = parts.column
JOIN system.tables AS tables ON tables.database = parts.database AND tables.name = parts.table
WHERE parts.active AND parts.type != columns.type
  AND (parts.database, parts.table) NOT IN (SELECT database, table FROM system.mutations WHERE NOT is_done)
ORDER BY ALL";

/// The tables with such parts, by name. Asking loads every table, also those that would be loaded when they are used,
/// and removes what was set aside without a loss.
pub(super) fn broken_parts(connection: &mut Connection) -> Result<Vec<BrokenParts>, Exception> {
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let set_aside = set_aside::set_aside(connection)?;
    set_aside::remove_replaced(connection, &set_aside.replaced)?;
    for part in set_aside.lost {
        tables.entry(format!("{}.{}", part.database, part.table)).or_default().push(part.name);
    }
    for part in altered_parts(connection)? {
        tables
            .entry(format!("{}.{}", part.database, part.table))
            .or_default()
            .push(format!("{}: {}", part.name, part.reason));
    }
    Ok(tables.into_iter().map(|(table, parts)| BrokenParts { table, parts }).collect())
}

/// Sets parts in use that are not as they were written aside, as the engine does with those that it cannot read: what
/// is missing can be loaded again, and what is altered would be answered.
pub(super) fn detach_altered_parts(connection: &mut Connection) -> Result<(), Exception> {
    for part in altered_parts(connection)? {
        let (database, table) = (quoted_identifier(&part.database), quoted_identifier(&part.table));
        connection.text(&format!("ALTER TABLE {database}.{table} DETACH PART '{}'", part.name))?;
        if let Err(error) = mark_broken(&part) {
            let (table, name) = (&part.table, &part.name);
            tracing::warn!(%error, table, name, "a broken part could not be marked as broken in the `detached` folder \
                                                 of its table");
        }
    }
    Ok(())
}

/// Gives a detached part the name by which ClickHouse knows broken ones.
fn mark_broken(part: &AlteredPart) -> io::Result<()> {
    let detached = part.folder.parent().unwrap_or(&part.folder).join("detached");
    fs::rename(detached.join(&part.name), detached.join(format!("broken_{}", part.name)))
}

fn altered_parts(connection: &mut Connection) -> Result<Vec<AlteredPart>, Exception> {
    let mut found: BTreeMap<PathBuf, AlteredPart> = BTreeMap::new();
    let mut add = |row: &[String], reason: String| {
        let [database, table, name, folder] = [0, 1, 2, 3].map(|column| row[column].clone());
        let folder = PathBuf::from(folder);
        found.entry(folder.clone()).or_insert(AlteredPart { database, table, name, folder, reason });
    };
    for row in connection.rows(OTHER_TYPES, 8)? {
        let (folder, definition) = (Path::new(&row[3]), Path::new(&row[7]));
        if is_one_bit_apart(&row[5], &row[6]) && !is_older(folder, &row[4], definition) {
            add(&row, format!("its column `{}` is {} and not {}", row[4], row[5], row[6]));
        }
    }
    for row in connection.rows(IN_USE, 4)? {
        if let Some(reason) = altered(Path::new(&row[3])) {
            add(&row, reason);
        }
    }
    Ok(found.into_values().collect())
}

/// The damage to the small files of the part in `folder`.
fn altered(folder: &Path) -> Option<String> {
    let column = altered_column(folder)
        .map(|found| found.map(|name| format!("its column `{name}` is only in one of its lists")));
    let file = || altered_file(folder).map(|found| found.map(|name| format!("{name} is not as it was written")));
    column
        .and_then(|found| if found.is_some() { Ok(found) } else { file() })
        .unwrap_or_else(|error| Some(error.to_string()))
}

/// Whether one altered bit makes `right` of `left`: a changed scale or length.
fn is_one_bit_apart(left: &str, right: &str) -> bool {
    let bits = left.bytes().zip(right.bytes()).map(|(left, right)| (left ^ right).count_ones()).sum::<u32>();
    left.len() == right.len() && bits == 1
}

/// Whether the data of `column` in the part in `folder` is older than the table's `definition`, or as old: file systems
/// count in milliseconds or more. ALTER makes such types too (`Enum8('a' = 1)` and `Enum8('c' = 1)`), and leaves the
/// parts as they are until they are merged.
fn is_older(folder: &Path, column: &str, definition: &Path) -> bool {
    let defined = definition.metadata().and_then(|file| file.modified());
    written_at(folder, column).is_some_and(|written| defined.is_ok_and(|defined| written <= defined))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_one_bit_apart_differ_from_those_of_most_alters() {
        assert!(is_one_bit_apart("DateTime64(6, 'UTC')", "DateTime64(7, 'UTC')"));
        assert!(is_one_bit_apart("FixedString(20)", "FixedString(21)"));
        assert!(!is_one_bit_apart("DateTime64(3, 'UTC')", "DateTime64(6, 'UTC')"));
        assert!(!is_one_bit_apart("Enum8('a' = 1)", "Enum8('a' = 1, 'b' = 2)"));
        assert!(!is_one_bit_apart("UInt32", "DateTime"));
        assert!(!is_one_bit_apart("UInt8", "UInt8"));
    }
}
