//! The current matches of contracts: a row of `sourcify_matches` is written again when a better match is found.

use std::collections::HashMap;
use std::path::Path;

use super::column::Column;
use super::error::ExportError;
use super::files::MATCHES;
use super::table::TableForm;
use crate::labels::source::MatchType;

const FORM: TableForm = TableForm {
    table: MATCHES,
    columns: &["id", "verified_contract_id", "creation_match", "runtime_match", "updated_at"],
    rows: 16_384,
};

/// The newest version of a row.
struct CurrentMatch {
    updated_at: Option<i64>,
    verified_contract: i64,
    match_type: MatchType,
}

/// How well contracts matched, by row of `verified_contracts`.
pub(super) struct Matches(HashMap<i64, MatchType>);

impl Matches {
    /// Reads the matches of some rows of `verified_contracts`, whose numbers are sorted.
    pub fn read<'f>(files: impl Iterator<Item = &'f Path>, verified: Vec<i64>) -> Result<Self, ExportError> {
        let mut current: HashMap<i64, CurrentMatch> = HashMap::new();
        FORM.read(files, |batch| {
            let (ids, of) = (batch.column("id")?, batch.column("verified_contract_id")?);
            let (creation, runtime) = (batch.column("creation_match")?, batch.column("runtime_match")?);
            let updated = batch.optional("updated_at");
            for row in 0..batch.len() {
                let verified_contract = of.known(of.integer(row))?;
                if verified.binary_search(&verified_contract).is_err() {
                    continue;
                }
                let match_type = match (stated(&creation, row)?, stated(&runtime, row)?) {
                    (MatchType::Exact, _) | (_, MatchType::Exact) => MatchType::Exact,
                    (MatchType::Partial, _) | (_, MatchType::Partial) => MatchType::Partial,
                    _ => MatchType::Unspecified,
                };
                let updated_at = updated.as_ref().map(|column| column.time(row)).transpose()?.flatten();
                let id = ids.known(ids.integer(row))?;
                if current.get(&id).is_none_or(|known| known.updated_at <= updated_at) {
                    current.insert(id, CurrentMatch { updated_at, verified_contract, match_type });
                }
            }
            Ok(())
        })?;
        Ok(Self(current.into_values().map(|newest| (newest.verified_contract, newest.match_type)).collect()))
    }

    /// The match of a row of `verified_contracts`; `None` if there is none, or none any more.
    pub fn of(&self, verified_contract: i64) -> Option<MatchType> {
        self.0.get(&verified_contract).copied()
    }
}

/// A match whose metadata is equal or not.
pub(super) fn is_exact(is_metadata_equal: bool) -> MatchType {
    if is_metadata_equal { MatchType::Exact } else { MatchType::Partial }
}

fn stated(column: &Column<'_>, row: usize) -> Result<MatchType, ExportError> {
    match column.text(row)? {
        Some("perfect" | "exact_match") => Ok(MatchType::Exact),
        Some("partial" | "match") => Ok(MatchType::Partial),
        None => Ok(MatchType::Unspecified),
        Some(other) => Err(column.holds(other, "`perfect` or `partial`")),
    }
}
