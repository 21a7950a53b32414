//! Columns of Arrow and Parquet say what they are, and their values are written as they say.

use std::collections::HashMap;
use std::io::Cursor;

use anyhow::{Context as _, ensure};
use arrow::array::{Array as _, StringArray};
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use xtask::http;

use crate::chains::chain;

/// The type, encoding and unit of each column, as the file says them.
fn column_metadata(schema: &SchemaRef) -> HashMap<String, String> {
    let words = |metadata: &HashMap<String, String>| {
        let keys = ["trawl.type", "trawl.encoding", "trawl.unit"].map(|key| metadata.get(key).map(String::as_str));
        keys.into_iter().flatten().collect::<Vec<_>>().join(", ")
    };
    schema.fields().iter().map(|field| (field.name().clone(), words(field.metadata()))).collect()
}

/// What some columns of a list should say; every column says its type.
const EXPECTED: [(&str, &[(&str, &str)]); 5] = [
    (
        "transactions",
        &[
            ("block_number", "uint64"),
            ("block_timestamp", "timestamp"),
            ("hash", "bytes32, big-endian"),
            ("from_address", "address, big-endian"),
            ("value", "uint256, decimal, wei"),
            ("gas_limit", "uint64, gas"),
            ("effective_gas_price", "uint256, decimal, wei per gas"),
            ("input", "bytes, raw"),
        ],
    ),
    (
        "token-transfers",
        &[
            ("value", "uint256, decimal, smallest unit of the token"),
            ("token_id", "uint256, decimal"),
            ("token_type", "string"),
        ],
    ),
    ("internal-transactions", &[("value", "uint256, decimal, wei"), ("error", "string")]),
    ("logs", &[("topic0", "bytes32, big-endian"), ("data", "bytes, raw"), ("topics_count", "uint8")]),
    (
        "logs?decode=Transfer(address%20indexed%20from,%20address%20indexed%20to,%20uint256%20value)",
        &[("data", "bytes, raw"), ("from", "address, hex"), ("value", "uint256, decimal")],
    ),
];

#[test]
fn columns_say_what_they_are() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for (list, expected) in EXPECTED {
        let and = if list.contains('?') { '&' } else { '?' };
        let url = format!("{}/api/v2/scan/{list}{and}fromBlock=0&toBlock=latest", chain.api);
        let stream = http::get(&http::agent(), &format!("{url}&format=arrow"))?;
        let reader = StreamReader::try_new(Cursor::new(stream.body), None)?;
        let found = column_metadata(&reader.schema());
        ensure!(found.values().all(|words| !words.is_empty()), "{list}: {found:?}");
        for (column, words) in expected {
            ensure!(found.get(*column).is_some_and(|found| found == words), "{list}: {column} of {found:?}");
        }
        for batch in reader {
            // Numbers that no integer of Arrow holds are digits.
            let batch = batch?;
            for (column, _) in found.iter().filter(|(_, words)| words.starts_with("uint256")) {
                let texts = batch.column_by_name(column).context("a column")?.as_any();
                let texts = texts.downcast_ref::<StringArray>().with_context(|| format!("{column} is no text"))?;
                let is_number = |text: &str| text.parse::<alloy_primitives::U256>().is_ok();
                ensure!(texts.iter().flatten().all(is_number), "{list}: {column}");
            }
        }
        let file = http::get(&http::agent(), &format!("{url}&format=parquet"))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file.body))?;
        ensure!(column_metadata(reader.schema()) == found, "{list}: Parquet says otherwise");
    }
    Ok(())
}
