//! Puts a SELECT together, one condition a line; knows no table.

use std::borrow::Cow;

use crate::primitives::BlockRange;
use crate::schema::Columns;
use crate::statement::{Parameter, Statement};

/// A SELECT under construction.
#[derive(Debug, Default)]
pub(super) struct Select {
    conditions: Vec<String>,
    parameters: Vec<(Cow<'static, str>, Parameter)>,
}

impl Select {
    /// Adds a condition; its placeholders get their values from [`Select::with`].
    pub fn condition(mut self, text: impl Into<String>) -> Self {
        self.conditions.push(text.into());
        self
    }

    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Parameter>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Keeps `column` inside `ranges`, which are ascending and not empty.
    ///
    /// The bounds of all of them use the key; where there are gaps, rows inside a gap belong to nobody yet
    /// (a batch being written) and are left out one by one.
    pub fn blocks(self, column: &str, ranges: &[BlockRange]) -> Self {
        let (first, last) = match (ranges.first(), ranges.last()) {
            (Some(lowest), Some(highest)) => (lowest.first(), highest.last()),
            // An empty interval, which the key answers without reading.
            _ => (1, 0),
        };
        let bounded = self
            .condition(format!("{column} BETWEEN {{first:UInt64}} AND {{last:UInt64}}"))
            .with("first", first)
            .with("last", last);
        if ranges.len() < 2 {
            return bounded;
        }
        bounded
            .condition(format!(
                "arrayExists(range -> {column} BETWEEN range.1 AND range.2, {{ranges:Array(Tuple(UInt64, UInt64))}})"
            ))
            .with("ranges", ranges)
    }

    /// `WHERE …` without a line feed at its end.
    pub fn where_clause(&self) -> String {
        format!("WHERE {}", self.conditions.join("\n  AND "))
    }

    /// The page of `R` rows that `order` puts first.
    pub fn page<R: Columns>(self, table: &str, order: &str, limit: u64) -> Statement<R> {
        let sql = format!(
            "SELECT {}\nFROM {table}\n{}\nORDER BY {order}\nLIMIT {{limit:UInt64}}",
            R::select_list(),
            self.where_clause(),
        );
        self.into_statement(sql, limit)
    }

    /// The page of `R` rows over a sub-query that holds the conditions itself.
    pub fn outer_page<R: Columns>(self, from: &str, order: &str, limit: u64) -> Statement<R> {
        let sql = format!("SELECT {}\nFROM {from}\nORDER BY {order}\nLIMIT {{limit:UInt64}}", R::select_list());
        self.into_statement(sql, limit)
    }

    fn into_statement<R>(self, sql: String, limit: u64) -> Statement<R> {
        self.parameters
            .into_iter()
            .fold(Statement::page(sql), |statement, (name, value)| statement.with(name, value))
            .with("limit", limit)
    }
}
