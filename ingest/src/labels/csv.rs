//! Tables with a header: each row a record.

use serde_json::{Map, Value};

use super::error::LabelsError;
use super::label_records::{ByChance, FactOrigin, LabelRecords};
use super::record;

/// Reads a table whose first row names the columns.
pub(super) fn read(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    text: &str,
    delimiter: u8,
) -> Result<(), LabelsError> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let refused = |error: &csv::Error| {
        let line = error.position().map_or(0, csv::Position::line);
        origin.refused(format!("line {line}"), format!("not a row of the table: {error}"))
    };
    let headers: Vec<String> =
        reader.headers().map_err(|error| refused(&error))?.iter().map(record::field_name).collect();
    if !record::is_known(&headers) {
        if origin.found == ByChance::Yes {
            found.pass_over("files of other formats");
            return Ok(());
        }
        return Err(origin.refused("line 1", "there is no column `address` or `signature`"));
    }
    for row in reader.records() {
        let row = row.map_err(|error| refused(&error))?;
        let line = row.position().map_or(0, csv::Position::line);
        let cells = headers.iter().zip(row.iter()).filter(|(_, cell)| !cell.is_empty());
        let fields: Map<String, Value> = cells.map(|(name, cell)| (name.clone(), cell.into())).collect();
        record::read(found, origin, &fields, &format!("line {line}"))?;
    }
    Ok(())
}
