//! Conditions on rows in memory: the same that a statement states as SQL.

use std::cmp::Ordering;

use super::column::{StoredColumn, has};
use super::table::TableRows;
use crate::primitives::Address;

/// A condition on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// One of the columns has one of the values, which are ascending.
    Among {
        /// Columns of bytes.
        columns: Vec<&'static str>,
        /// The values to match, in ascending order.
        values: Vec<Vec<u8>>,
    },
    /// A column of text has another value.
    IsNot {
        /// A column of text.
        column: &'static str,
        /// The only text that a matching row does not have.
        value: &'static str,
    },
    /// The numbers of some columns, compared one after another, are on this side of others.
    Position {
        /// Columns of numbers.
        columns: Vec<&'static str>,
        /// How the row's numbers compare.
        is: Ordering,
        /// One number for each column, in the same order.
        than: Vec<u64>,
    },
    /// A number is at least another.
    AtLeast {
        /// A column of numbers.
        column: &'static str,
        /// The lowest number that matches.
        number: u64,
    },
    /// A 256-bit integer is not zero.
    NotZero {
        /// A column of 256-bit integers.
        column: &'static str,
    },
    /// `address` is the lowest of those `among` that are in one of the columns.
    LeastOf {
        /// Columns of addresses.
        columns: Vec<&'static str>,
        /// The addresses that are looked for, in ascending order.
        among: Vec<Vec<u8>>,
    },
    /// Not on the `to` side of a row that its sender has on the `from` side.
    OncePerAddress,
    /// At least one holds.
    AnyOf(Vec<Predicate>),
    /// Each of these holds.
    AllOf(Vec<Predicate>),
}

/// A condition with the columns of a table at hand.
type Bound<'t> = Box<dyn Fn(usize) -> bool + 't>;

impl Predicate {
    /// One column has one of these addresses or hashes.
    #[must_use]
    pub fn among<T: AsRef<[u8]>>(column: &'static str, values: &[T]) -> Self {
        Self::among_any(vec![column], values)
    }

    /// One of the columns has one of these addresses or hashes.
    #[must_use]
    pub fn among_any<T: AsRef<[u8]>>(columns: Vec<&'static str>, values: &[T]) -> Self {
        Self::Among { columns, values: ascending(values) }
    }

    /// A column has this text.
    #[must_use]
    pub fn is(column: &'static str, text: &str) -> Self {
        Self::among(column, &[text])
    }

    /// A column has this number.
    #[must_use]
    pub fn equals(column: &'static str, number: u64) -> Self {
        Self::Position { columns: vec![column], is: Ordering::Equal, than: vec![number] }
    }

    /// `address` is the lowest of those `among` that are in one of the columns.
    #[must_use]
    pub fn least_of(columns: Vec<&'static str>, among: &[Address]) -> Self {
        Self::LeastOf { columns, among: ascending(among) }
    }

    /// The columns that the condition reads.
    #[must_use]
    pub fn columns(&self) -> Vec<&'static str> {
        match self {
            Self::Among { columns, .. } | Self::Position { columns, .. } => columns.clone(),
            Self::IsNot { column, .. } | Self::AtLeast { column, .. } | Self::NotZero { column } => vec![column],
            Self::LeastOf { columns, .. } => columns.iter().copied().chain(["address"]).collect(),
            Self::OncePerAddress => vec!["address", "direction", "from_address"],
            Self::AnyOf(tests) | Self::AllOf(tests) => tests.iter().flat_map(Self::columns).collect(),
        }
    }

    /// The condition over the rows of `table`; none if no row can satisfy it. A column that the table does not have is
    /// one without values.
    pub(super) fn bind<'t>(&'t self, table: &'t TableRows) -> Option<Bound<'t>> {
        match self {
            Self::Among { columns, values } => {
                let any = columns.iter().filter_map(|name| among(table.column(name)?, values)).collect();
                any_of(any)
            }
            Self::IsNot { column, value } => {
                let column = table.column(column)?;
                Some(Box::new(move |row| column.bytes(row).is_some_and(|own| own != value.as_bytes())))
            }
            Self::Position { columns, is, than } => {
                let columns: Vec<&StoredColumn> =
                    columns.iter().map(|name| table.column(name)).collect::<Option<_>>()?;
                Some(Box::new(move |row| {
                    let own = columns.iter().map(|column| column.number(row).unwrap_or_default());
                    own.cmp(than.iter().copied()) == *is
                }))
            }
            Self::AtLeast { column, number } => {
                let column = table.column(column)?;
                Some(Box::new(move |row| column.number(row).is_some_and(|own| own >= *number)))
            }
            Self::NotZero { column } => {
                let column = table.column(column)?;
                Some(Box::new(move |row| column.bytes(row).is_some_and(|own| own.iter().any(|byte| *byte != 0))))
            }
            Self::LeastOf { columns, among } => {
                let columns: Vec<&StoredColumn> = columns.iter().filter_map(|name| table.column(name)).collect();
                let address = table.column("address")?;
                Some(Box::new(move |row| {
                    let own = columns.iter().filter_map(|column| column.bytes(row));
                    own.filter(|own| has(among, own)).min() == address.bytes(row)
                }))
            }
            Self::OncePerAddress => {
                let (address, from) = (table.column("address")?, table.column("from_address")?);
                let direction = table.column("direction")?;
                Some(Box::new(move |row| direction.bytes(row) != Some(b"to") || address.bytes(row) != from.bytes(row)))
            }
            Self::AnyOf(tests) => any_of(tests.iter().filter_map(|test| test.bind(table)).collect()),
            Self::AllOf(tests) => {
                let all: Vec<Bound<'t>> = tests.iter().map(|test| test.bind(table)).collect::<Option<_>>()?;
                Some(Box::new(move |row| all.iter().all(|test| test(row))))
            }
        }
    }
}

fn any_of(mut tests: Vec<Bound<'_>>) -> Option<Bound<'_>> {
    if tests.len() < 2 {
        return tests.pop();
    }
    Some(Box::new(move |row| tests.iter().any(|test| test(row))))
}

/// Whether a column has one of these values.
fn among<'t>(column: &'t StoredColumn, values: &'t [Vec<u8>]) -> Option<Bound<'t>> {
    if !column.has_any(values) {
        return None;
    }
    let Some((found, codes, nulls)) = column.codes_of(values) else {
        return Some(Box::new(move |row| column.bytes(row).is_some_and(|own| has(values, own))));
    };
    let is_there = move |row| nulls.is_none_or(|nulls| nulls.is_valid(row));
    match found.as_slice() {
        [one] => {
            let one = *one;
            Some(Box::new(move |row| codes[row] == one && is_there(row)))
        }
        _ => Some(Box::new(move |row| found.contains(&codes[row]) && is_there(row))),
    }
}

fn ascending<T: AsRef<[u8]>>(values: &[T]) -> Vec<Vec<u8>> {
    let mut values: Vec<Vec<u8>> = values.iter().map(|value| value.as_ref().to_vec()).collect();
    values.sort_unstable();
    values.dedup();
    values
}
