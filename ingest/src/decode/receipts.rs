//! Receipts of a block, and their logs.

use serde_json::value::RawValue;
use trawl_core::primitives::TransactionType;

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
        let mut json: JsonReceipt = serde_json::from_str(item.get()).map_err(unreadable)?;
        let index = json.transaction_index.map_or(u32::try_from(position).unwrap_or(u32::MAX), |index| index.0);
        let kind = transactions.get(index as usize).map(|transaction| transaction.transaction_type);
        if kind != Some(TransactionType::Blob) {
            keep_footprint(&mut json);
        }
        let known = transactions.get(index as usize).is_none_or(|transaction| transaction.raw.is_none());
        let raw = if known { None } else { Some(without_logs(item).map_err(unreadable)?) };
        receipts.push((index, receipt(number, json, raw)?));
    }
    receipts.sort_by_key(|(index, _)| *index);
    Ok(receipts.into_iter().map(|(_, receipt)| receipt).collect())
}

/// Receipts of rollups may have the footprint of a transaction's data where those with blobs have their gas (OP stack
/// since Jovian): a field of the chain's own.
fn keep_footprint(json: &mut JsonReceipt) {
    if let Some(footprint) = json.blob_gas_used.take_if(|gas| gas.0 > 0) {
        json.extra.insert("blobGasUsed", format!("{:#x}", footprint.0).into());
    }
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
        // No creation gets the zero address: some nodes give it for calls.
        contract_address: json.contract_address.filter(|address| !address.is_zero()),
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

#[cfg(test)]
mod tests {
    use trawl_core::primitives::B256;

    use super::*;

    #[test]
    fn a_footprint_is_kept_as_a_field_of_the_chain() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/polygon-137.ndjson");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
        let line = lines.find(|line| line["receipts"][0].is_object()).expect("a block with transactions");
        let extra = |gas: serde_json::Value| {
            let mut line = line.clone();
            line["receipts"][0]["blobGasUsed"] = gas;
            let block = crate::decode::decode(&line.to_string()).expect("a block");
            let receipt = block.receipts.expect("receipts").remove(0);
            (receipt.blob_gas_used, receipt.extra.is_some_and(|extra| extra.contains(r#""blobGasUsed":"0x190""#)))
        };
        assert_eq!(extra("0x190".into()), (None, true));
        assert_eq!(extra("0x0".into()), (Some(0), false), "Ethereum's nodes may give it for every receipt");
        assert_eq!(extra(serde_json::Value::Null), (None, false));
    }

    #[test]
    fn a_root_of_no_bytes_is_none() {
        let hash = B256::repeat_byte(0x12);
        let read = |root: &str| {
            let text = format!(
                r#"{{"transactionHash":"{hash}","cumulativeGasUsed":"0x0","gasUsed":"0x0","status":"0x1"{root}}}"#
            );
            without_logs_again(1, &text).map(|receipt| receipt.root)
        };
        for none in ["", r#","root":null"#, r#","root":"0x""#] {
            assert_eq!(read(none).ok(), Some(None), "{none}");
        }
        assert_eq!(read(&format!(r#","root":"{hash}""#)).ok(), Some(Some(hash)));
        assert!(read(r#","root":"0x12""#).is_err());
    }
}
