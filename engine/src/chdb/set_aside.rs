//! Parts that the engine set aside as broken when it loaded their table (`system.detached_parts`), and whether rows are
//! gone with them.
//!
//! A kill, or a power failure, may leave a broken part of which no row is missing: one that a merge or a mutation has
//! replaced and that was about to be removed, or the result of a merge whose sources are still there and are used
//! instead.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::chdb::connection::{Connection, quoted_identifier};
use crate::chdb::parameters::escaped;
use crate::exception::Exception;

/// A part that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DetachedPart {
    /// Database of its table.
    pub database: String,
    /// Table that it was a part of.
    pub table: String,
    /// Its name in the `detached` folder.
    pub name: String,
}

/// What was set aside.
#[derive(Debug, Default)]
pub(super) struct SetAside {
    /// Rows of these are missing, as far as can be known.
    pub lost: Vec<DetachedPart>,
    /// All rows of these are in other parts.
    pub replaced: Vec<DetachedPart>,
}

/// Numbers of the inserts whose rows a part has: both ends are of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InsertSpan {
    first: u64,
    last: u64,
}

/// Another part of the same partition.
#[derive(Debug, Clone, Copy)]
struct OtherPart {
    span: InsertSpan,
    /// Whether it is in use; else another has its rows.
    is_active: bool,
    /// When it was made, in seconds since 1970.
    made: i64,
}

const SET_ASIDE: &str = "\
SELECT database, table, name, path, partition_id, min_block_number, max_block_number
FROM system.detached_parts WHERE startsWith(reason, 'broken') ORDER BY ALL";
const OTHERS: &str = "\
SELECT database, table, partition_id, min_block_number, max_block_number, active, toUnixTimestamp(modification_time)
FROM system.parts WHERE (database, table) IN (
    SELECT database, table FROM system.detached_parts WHERE startsWith(reason, 'broken'))
ORDER BY ALL";
/// Codes of a table or database that was dropped meanwhile.
const GONE: [i32; 3] = [60, 81, 218];
const TABLES: &str = "SELECT database, name FROM system.tables WHERE endsWith(engine, 'MergeTree') ORDER BY ALL";

/// The broken parts that were set aside. Parts that others have replaced are loaded in the background; this waits for
/// it, so that a broken one of them is judged while what replaced it can still be seen.
pub(super) fn set_aside(connection: &mut Connection) -> Result<SetAside, Exception> {
    for table in connection.rows(TABLES, 2)? {
        let (database, table) = (quoted_identifier(&table[0]), quoted_identifier(&table[1]));
        match connection.text(&format!("SYSTEM WAIT LOADING PARTS {database}.{table}")) {
            // A materialized view that is refreshed replaces its table, from the start of the engine on.
            Err(error) if GONE.contains(&error.code) => {}
            waited => drop(waited?),
        }
    }
    let set_aside = connection.rows(SET_ASIDE, 7)?;
    if set_aside.is_empty() {
        return Ok(SetAside::default());
    }
    let others = connection.rows(OTHERS, 7)?;
    let is_lost = |part: &Vec<String>| {
        let Some(span) = InsertSpan::read(&part[5], &part[6]) else { return true };
        let same_partition = others.iter().filter(|row| row[..2] == part[..2] && row[2] == part[4]);
        let others: Vec<OtherPart> = same_partition.filter_map(|row| OtherPart::read(row)).collect();
        is_lost(span, set_aside_at(Path::new(&part[3])), &others)
    };
    let (lost, replaced): (Vec<_>, Vec<_>) = set_aside.iter().partition(|part| is_lost(part));
    let parts = |rows: Vec<&Vec<String>>| rows.into_iter().map(|row| DetachedPart::read(row)).collect();
    Ok(SetAside { lost: parts(lost), replaced: parts(replaced) })
}

/// Removes parts that others have replaced, as the engine would have done had they not been broken.
pub(super) fn remove_replaced(connection: &mut Connection, parts: &[DetachedPart]) -> Result<(), Exception> {
    for part in parts {
        let (database, table) = (quoted_identifier(&part.database), quoted_identifier(&part.table));
        let drop = format!(
            "ALTER TABLE {database}.{table} DROP DETACHED PART {{part:String}} SETTINGS allow_drop_detached = 1"
        );
        connection.query(drop.as_bytes(), "Null", &[("part".into(), escaped(&part.name))])?;
        tracing::info!(table = part.table, part = part.name, "removed a broken part: other parts have its rows");
    }
    Ok(())
}

impl DetachedPart {
    fn read(row: &[String]) -> Self {
        let [database, table, name] = [0, 1, 2].map(|column| row[column].clone());
        Self { database, table, name }
    }
}

impl OtherPart {
    fn read(row: &[String]) -> Option<Self> {
        let span = InsertSpan::read(&row[3], &row[4])?;
        Some(Self { span, is_active: row[5] == "1", made: row[6].parse().ok()? })
    }
}

impl InsertSpan {
    fn read(first: &str, last: &str) -> Option<Self> {
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()? })
    }

    fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

/// When the folder of a part was moved, in seconds since 1970: renaming changes nothing else of it.
fn set_aside_at(folder: &Path) -> Option<i64> {
    Some(folder.metadata().ok()?.ctime())
}

/// Whether rows of `span` may be missing from the parts of its partition, which are in order.
///
/// A larger part that was made before this one was set aside has its rows, or had them and was replaced since: merges
/// read what they replace. One that was made later may be a merge of its neighbours without it.
fn is_lost(span: InsertSpan, set_aside_at: Option<i64>, others: &[OtherPart]) -> bool {
    let replaces = |part: &OtherPart| {
        part.span != span && part.span.covers(span) && set_aside_at.is_some_and(|time| part.made < time)
    };
    !others.iter().any(replaces) && !is_tiled(span, others)
}

/// Whether the parts in use inside of `span` have every insert of it: they are its sources, or what became of them.
fn is_tiled(span: InsertSpan, others: &[OtherPart]) -> bool {
    let mut next = span.first;
    for part in others.iter().filter(|part| part.is_active && span.covers(part.span)) {
        if part.span.first != next {
            return false;
        }
        next = part.span.last + 1;
    }
    next == span.last + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u64, last: u64, made: i64) -> OtherPart {
        OtherPart { span: InsertSpan { first, last }, is_active: true, made }
    }

    fn inactive(part: OtherPart) -> OtherPart {
        OtherPart { is_active: false, ..part }
    }

    const LOST: InsertSpan = InsertSpan { first: 2, last: 3 };

    #[test]
    fn a_part_that_was_replaced_before_is_not_missed() {
        assert!(!is_lost(LOST, Some(100), &[part(1, 4, 90)]));
        assert!(!is_lost(LOST, Some(100), &[inactive(part(1, 4, 90)), part(1, 4, 110)]), "mutated since");
        assert!(is_lost(LOST, Some(100), &[part(1, 4, 110)]), "a merge of 1 and 4 without it");
        assert!(is_lost(LOST, None, &[part(1, 4, 90)]), "it is not known when it was set aside");
        assert!(is_lost(LOST, Some(100), &[part(3, 4, 90)]) && is_lost(LOST, Some(100), &[]));
    }

    #[test]
    fn a_part_whose_sources_are_used_is_not_missed() {
        assert!(!is_lost(LOST, Some(100), &[part(1, 1, 1), part(2, 2, 1), part(3, 3, 1), part(4, 4, 1)]));
        assert!(!is_lost(LOST, Some(100), &[part(2, 3, 110)]), "mutated since");
        assert!(is_lost(LOST, Some(100), &[part(1, 1, 1), part(3, 3, 1)]));
        assert!(is_lost(LOST, Some(100), &[part(2, 2, 1)]));
        assert!(is_lost(LOST, Some(100), &[inactive(part(2, 3, 1))]), "its own older version, which nothing replaced");
    }
}
