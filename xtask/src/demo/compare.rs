//! Compares objects of JSON-RPC with those of the source, field by field.

use anyhow::ensure;
use serde_json::Value;

/// Fields of sources that no row stores: they follow from the rest, or are of one client.
const LEFT_OUT: &[&str] = &["totalDifficulty", "sealFields", "author"];

/// Fields that are compared separately.
const APART: &[&str] = &["transactions", "logs"];

/// Every field that the source gave is in the answer.
pub fn fields(what: &str, expected: &Value, found: &Value) -> anyhow::Result<()> {
    for (field, value) in expected.as_object().into_iter().flatten() {
        let is_compared =
            !LEFT_OUT.contains(&field.as_str()) && !APART.contains(&field.as_str()) && !is_of_anvil(field, expected);
        ensure!(
            !is_compared || is_same(value, &found[field]),
            "{field} of {what}: {} instead of {value}",
            found[field]
        );
    }
    Ok(())
}

/// Anvil gives the time in receipts, and fields of blobs in those of all types, where they say nothing.
fn is_of_anvil(field: &str, of: &Value) -> bool {
    let is_of_blobs = field.starts_with("blobGas") && of["type"].as_str().is_some_and(|kind| kind != "0x3");
    is_of_blobs || (field == "blockTimestamp" && !of["cumulativeGasUsed"].is_null())
}

/// Both lists have as many entries, with the same fields.
pub fn lists<'v>(what: &str, expected: impl Iterator<Item = &'v Value>, found: &Value) -> anyhow::Result<()> {
    let expected: Vec<&Value> = expected.collect();
    let answered = found.as_array().map_or(&[][..], Vec::as_slice);
    ensure!(answered.len() == expected.len(), "{what}: {} instead of {}", answered.len(), expected.len());
    for (expected, found) in expected.iter().zip(answered) {
        fields(what, expected, found)?;
    }
    Ok(())
}

/// Digits are compared in any case; an absent field is null.
fn is_same(expected: &Value, found: &Value) -> bool {
    match (expected.as_str(), found.as_str()) {
        (Some(expected), Some(found)) => expected.eq_ignore_ascii_case(found),
        _ => expected == found,
    }
}
