//! Reads a row fact by fact, and records the facts that it lacks.

use super::cell::{Cell, CellError, FromCell};
use super::row::Row;

/// A row being read. `names` are always the names a fact may have in a file, of which the first there counts.
pub struct Facts<'a> {
    row: Row<'a>,
    lacking: Vec<&'static str>,
}

/// A fact of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact<T> {
    /// The file has no such column, or not exactly.
    Missing,
    /// The column is null.
    None,
    /// The value that the source has.
    Some(T),
}

impl<T> Fact<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Some(value) => Some(value),
            Self::Missing | Self::None => None,
        }
    }
}

impl<'a> Facts<'a> {
    /// Starts to read a row.
    pub fn of(row: Row<'a>) -> Self {
        Self { row, lacking: Vec::new() }
    }

    /// A fact in whichever state it is.
    pub fn fact<T: FromCell>(&self, names: &[&str]) -> Result<Fact<T>, CellError> {
        let cell = self.row.cell(names);
        match cell {
            Cell::Absent | Cell::Inexact => Ok(Fact::Missing),
            Cell::Null => Ok(Fact::None),
            cell => T::from_cell(cell)
                .map(Fact::Some)
                .ok_or_else(|| CellError::new(names.first().copied().unwrap_or_default(), cell, T::EXPECTED)),
        }
    }

    /// A fact without which the row is of no use.
    pub fn required<T: FromCell>(&self, names: &[&str]) -> Result<T, CellError> {
        self.fact(names)?.value().ok_or_else(|| self.mismatch::<T>(names))
    }

    fn mismatch<T: FromCell>(&self, names: &[&str]) -> CellError {
        CellError::new(names.first().copied().unwrap_or_default(), self.row.cell(names), T::EXPECTED)
    }

    /// A fact that may be null on the chain, in a column without which the file is of no use.
    pub fn column<T: FromCell>(&self, names: &[&str]) -> Result<Option<T>, CellError> {
        match self.fact(names)? {
            Fact::Missing => Err(self.mismatch::<T>(names)),
            fact => Ok(fact.value()),
        }
    }

    /// A fact that every such row has on the chain; if it is not here, `column` of the table is lacking.
    pub fn known<T: FromCell + Default>(&mut self, names: &[&str], column: &'static str) -> Result<T, CellError> {
        let value = self.fact(names)?.value();
        Ok(value.unwrap_or_else(|| {
            self.lack(column);
            T::default()
        }))
    }

    /// A fact that may be null on the chain; `column` of the table is lacking only if the file has no such column.
    pub fn nullable<T: FromCell>(&mut self, names: &[&str], column: &'static str) -> Result<Option<T>, CellError> {
        let fact = self.fact(names)?;
        if matches!(fact, Fact::Missing) {
            self.lack(column);
        }
        Ok(fact.value())
    }

    /// A fact that the chain has where `there` holds and cannot have elsewhere; unknown `there` needs the column.
    pub fn conditional<T: FromCell>(
        &mut self,
        names: &[&str],
        column: &'static str,
        there: Option<bool>,
    ) -> Result<Option<T>, CellError> {
        match there {
            Some(false) => Ok(None),
            None => self.nullable(names, column),
            Some(true) => {
                let value = self.fact(names)?.value();
                if value.is_none() {
                    self.lack(column);
                }
                Ok(value)
            }
        }
    }

    /// Records that `column` of the table is not known.
    pub fn lack(&mut self, column: &'static str) {
        if !self.lacking.contains(&column) {
            self.lacking.push(column);
        }
    }

    /// Whether `column` of the table was found to be lacking.
    pub fn lacks(&self, column: &str) -> bool {
        self.lacking.contains(&column)
    }

    /// The row itself.
    pub fn row(&self) -> Row<'a> {
        self.row
    }

    /// The lacking columns.
    pub fn into_lacking(self) -> Vec<&'static str> {
        self.lacking
    }
}
