//! The signatures bundled with Trawl, as rows for analysts. The API has them built in: they decode what nothing
//! loaded decodes, and say nothing where something was loaded.

use std::collections::HashSet;
use std::path::Path;

use alloy_primitives::Selector;
use trawl_core::primitives::B256;
use trawl_core::store::{Reader, StoreError, Writer};

use super::error::LabelsError;
use super::label_records::{ByChance, FactOrigin, LabelRecords};
use super::signatures;
use super::write::insert_signatures;

/// What stands in `source`.
const SOURCE: &str = "bundled";
const EVENTS: &str = include_str!("../../../sql/signatures/events.txt");
const FUNCTIONS: &str = include_str!("../../../sql/signatures/functions.txt");

/// The bundled signatures, by hash and selector.
///
/// # Errors
///
/// If a line is no signature, which a test excludes.
pub fn signatures() -> Result<LabelRecords, LabelsError> {
    let mut found = LabelRecords::of_chain(None);
    let origin = FactOrigin { file: Path::new(SOURCE), address: None, chain_id: None, found: ByChance::No };
    for (kind, text) in [("event", EVENTS), ("function", FUNCTIONS)] {
        for (line, position) in text.lines().filter(|line| !line.is_empty()).zip(1..) {
            signatures::add(&mut found, &origin, line, Some(kind), None, &format!("{kind} {position}"))?;
        }
    }
    Ok(found)
}

/// Writes the rows that are not there yet, and returns how many.
///
/// # Errors
///
/// If the store fails.
pub async fn write(reader: &Reader, writer: &Writer) -> Result<u64, LabelsError> {
    let mut found = signatures()?;
    drop_stored(reader, &mut found).await?;
    let count = (found.events.len() + found.functions.len()) as u64;
    insert_signatures(writer, found).await?;
    Ok(count)
}

/// How many rows [`write()`] writes to a new database.
///
/// # Errors
///
/// Those of [`signatures()`].
pub fn count() -> Result<u64, LabelsError> {
    let found = signatures()?;
    Ok((found.events.len() + found.functions.len()) as u64)
}

/// How many rows [`write()`] would write to a database that has its tables.
///
/// # Errors
///
/// If the store fails.
pub async fn missing(reader: &Reader) -> Result<u64, LabelsError> {
    let mut found = signatures()?;
    drop_stored(reader, &mut found).await?;
    Ok((found.events.len() + found.functions.len()) as u64)
}

async fn drop_stored(reader: &Reader, found: &mut LabelRecords) -> Result<(), StoreError> {
    let hashes: Vec<B256> = found.events.keys().map(|(hash, _)| *hash).collect();
    let stored: HashSet<(B256, String)> =
        reader.bundled_events(&hashes).await?.into_iter().map(|event| (event.hash, event.signature)).collect();
    found.events.retain(|key, _| !stored.contains(key));
    let selectors: Vec<Selector> = found.functions.keys().map(|(selector, _)| *selector).collect();
    let stored = reader.bundled_functions(&selectors).await?.into_iter();
    let stored: HashSet<(Selector, String)> = stored.map(|function| (function.selector, function.signature)).collect();
    found.functions.retain(|key, _| !stored.contains(key));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_signature() {
        let found = signatures().expect("signatures");
        let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).count();
        assert_eq!((found.events.len(), found.functions.len()), (lines(EVENTS), lines(FUNCTIONS)));
    }
}
