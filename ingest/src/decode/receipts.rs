//! Receipts of a block, and their logs.

use serde_json::value::RawValue;

use super::error::{DecodeError, unreadable};
use super::json::{JsonLog, JsonReceipt};
use crate::block::{Log, Receipt, Transaction};

/// Reads the receipts of `transactions`, in their order. One that the source gave `null` for is not there.
pub(super) fn receipts(number: u64, raw: &RawValue, transactions: &[Transaction]) -> Result<Vec<Receipt>, DecodeError> {
    let unreadable = |source| unreadable(number, "receipts", source);
    let mut items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(unreadable)?;
    let mut receipts: Vec<(u32, Receipt)> = Vec::with_capacity(items.len());
    let given = items.drain(..).enumerate().filter(|(_, item)| item.get() != "null");
    for (position, item) in given {
        let json: JsonReceipt = serde_json::from_str(item.get()).map_err(unreadable)?;
        let index = json.transaction_index.map_or(u32::try_from(position).unwrap_or(u32::MAX), |index| index.0);
        let known = transactions.get(index as usize).is_none_or(|transaction| transaction.raw.is_none());
        let raw = if known { None } else { Some(without_logs(item).map_err(unreadable)?) };
        receipts.push((index, receipt(number, json, raw)?));
    }
    receipts.sort_by_key(|(index, _)| *index);
    Ok(receipts.into_iter().map(|(_, receipt)| receipt).collect())
}

fn without_logs(item: &RawValue) -> Result<String, serde_json::Error> {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(item.get())?;
    fields.remove("logs");
    serde_json::to_string(&fields)
}

/// Reads the text that [`without_logs`] made.
pub(super) fn without_logs_again(number: u64, text: &str) -> Result<Receipt, DecodeError> {
    let unreadable = |source| unreadable(number, "a receipt", source);
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).map_err(unreadable)?;
    fields.insert("logs".into(), serde_json::Value::Array(Vec::new()));
    let json = serde_json::from_value(fields.into()).map_err(unreadable)?;
    receipt(number, json, Some(text.to_owned()))
}

fn receipt(number: u64, json: JsonReceipt, raw: Option<String>) -> Result<Receipt, DecodeError> {
    Ok(Receipt {
        transaction_hash: json.transaction_hash,
        block_hash: json.block_hash,
        status: json.status.map(|status| status.0),
        root: json.root,
        cumulative_gas_used: json.cumulative_gas_used.0,
        gas_used: json.gas_used.0,
        effective_gas_price: json.effective_gas_price.map(|price| price.0),
        contract_address: json.contract_address,
        logs_bloom: json.logs_bloom,
        blob_gas_used: json.blob_gas_used.map(|gas| gas.0),
        blob_gas_price: json.blob_gas_price.map(|price| price.0),
        logs: json.logs.into_iter().map(|log| self::log(number, log)).collect::<Result<_, _>>()?,
        extra: if raw.is_some() { None } else { json.extra.text() },
        raw,
    })
}

fn log(number: u64, json: JsonLog) -> Result<Log, DecodeError> {
    let index =
        json.log_index.ok_or_else(|| DecodeError::Missing { number, part: "a log".into(), field: "logIndex" })?;
    Ok(Log { address: json.address, topics: json.topics, data: json.data, index: index.0 })
}
