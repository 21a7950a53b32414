//! Columns that the source of a row did not have: members derived from them are null.

use crate::{JsonWriter, Object};

/// The missing columns of a row.
pub(crate) struct MissingColumns<'a>(Vec<&'a str>);

impl<'a> MissingColumns<'a> {
    /// The columns that a row names in `lacking`.
    pub(crate) fn new(columns: impl Iterator<Item = &'a str>) -> Self {
        Self(columns.collect())
    }

    /// Whether the source had a column.
    pub(crate) fn has(&self, column: &str) -> bool {
        !self.0.contains(&column)
    }

    /// Writes a member, or null if one of its columns is missing.
    pub(crate) fn known(
        &self,
        object: &mut Object<'_>,
        key: &str,
        columns: &[&str],
        write: impl FnOnce(&mut JsonWriter),
    ) {
        if columns.iter().all(|column| self.has(column)) { write(object.key(key)) } else { object.key(key).null() }
    }
}
