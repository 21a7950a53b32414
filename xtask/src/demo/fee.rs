//! Compares what REST says that a transaction paid with its receipt.

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::blocks::quantity;

/// Gas by its price, and what the data cost on L1, is the fee of a transaction, and what its parts come to.
pub fn compare(transaction: &Value, receipt: Option<&Value>, item: &Value) -> anyhow::Result<()> {
    let Some(receipt) = receipt else {
        ensure!(item["fee"]["type"] == "maximum", "a fee without a receipt");
        return Ok(());
    };
    // Scroll charges every transaction for its data, and some nodes leave the amount out of receipts.
    if item.get("scroll").is_some() && receipt["l1Fee"].is_null() {
        ensure!(item["fee"]["value"].is_null(), "a fee though what the data cost on L1 is not known");
        return Ok(());
    }
    let of_receipt = &receipt["effectiveGasPrice"];
    let price: u128 = quantity(if of_receipt.is_null() { &transaction["gasPrice"] } else { of_receipt })?;
    let on_l1: u128 = if receipt["l1Fee"].is_null() { 0 } else { quantity(&receipt["l1Fee"])? };
    let fee = quantity::<u128>(&receipt["gasUsed"])? * price + on_l1;
    ensure!(item["fee"]["value"] == fee.to_string(), "a fee of {fee}");
    let parts = item["chain_facts"]["fee"].as_array().map_or(&[][..], Vec::as_slice);
    let values = parts.iter().map(|part| amount(&part["value"])).collect::<anyhow::Result<Vec<u128>>>()?;
    ensure!(parts.is_empty() || values.iter().sum::<u128>() == fee, "parts that come to {fee}");
    let of_l1 = parts.iter().find(|part| part["name"] == "data on L1").map_or(Ok(0), |part| amount(&part["value"]))?;
    ensure!(of_l1 == on_l1, "{on_l1} for data on L1");
    Ok(())
}

/// Decimal digits as text.
fn amount(value: &Value) -> anyhow::Result<u128> {
    value.as_str().and_then(|digits| digits.parse().ok()).with_context(|| format!("{value} is no amount"))
}
