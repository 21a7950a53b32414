//! What was hashed, encoded again from the tables: the same bytes as those the chain was made of.

use alloy_primitives::{hex, keccak256};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{call, result};
use crate::chains::chain;

/// SHA-256 of `chain.rlp`, the blocks from 1 on, in the `tests/` of ethereum/execution-apis from which the chain was
/// loaded.
const CHAIN_FILE: &str = "79d5b6c57a32f318c2578767f9a0eaae53cfb866e5dace06f9d39cb03ab78394";

fn bytes(value: &Value) -> anyhow::Result<Vec<u8>> {
    Ok(hex::decode(value.as_str().with_context(|| format!("{value}"))?)?)
}

#[test]
fn blocks_are_those_of_the_file_of_the_chain() -> anyhow::Result<()> {
    let hive = chain("hive");
    let mut file = Vec::new();
    for line in hive.lines.iter().skip(1) {
        let block = &line["block"];
        let encoded = bytes(&result(hive, "debug_getRawBlock", json!([block["number"]]))?)?;
        ensure!(format!("{:#x}", encoded.len()) == block["size"].as_str().unwrap_or_default(), "{}", block["number"]);
        file.extend(encoded);
    }
    ensure!(hex::encode(Sha256::digest(&file)) == CHAIN_FILE, "{} bytes", file.len());
    Ok(())
}

#[test]
fn headers_and_transactions_hash_to_their_hashes() -> anyhow::Result<()> {
    let hive = chain("hive");
    for line in &hive.lines {
        let block = &line["block"];
        let header = bytes(&result(hive, "debug_getRawHeader", json!([block["hash"]]))?)?;
        ensure!(keccak256(header).to_string() == block["hash"].as_str().unwrap_or_default(), "{}", block["number"]);
        for transaction in block["transactions"].as_array().context("transactions")?.iter().take(3) {
            let hash = &transaction["hash"];
            let encoded = bytes(&result(hive, "debug_getRawTransaction", json!([hash]))?)?;
            ensure!(keccak256(&encoded).to_string() == hash.as_str().unwrap_or_default(), "{hash}");
            let position = &transaction["transactionIndex"];
            for (method, params) in [
                ("eth_getRawTransactionByHash", json!([hash])),
                ("eth_getRawTransactionByBlockNumberAndIndex", json!([block["number"], position])),
                ("eth_getRawTransactionByBlockHashAndIndex", json!([block["hash"], position])),
            ] {
                ensure!(bytes(&result(hive, method, params)?)? == encoded, "{method} {hash}");
            }
        }
        let receipts = result(hive, "debug_getRawReceipts", json!([block["number"]]))?;
        ensure!(receipts.as_array().map(Vec::len) == block["transactions"].as_array().map(Vec::len), "{receipts}");
    }
    let unknown = call(hive, "debug_getRawBlock", json!(["0xffff"]))?;
    ensure!(unknown["error"]["code"] == -32000, "{unknown}");
    Ok(())
}

#[test]
fn parts_that_are_not_there_are_null() -> anyhow::Result<()> {
    let hive = chain("hive");
    let none = format!("0x{}", "12".repeat(32));
    for (method, params) in [
        ("eth_getRawTransactionByHash", json!([none])),
        ("eth_getRawTransactionByBlockNumberAndIndex", json!(["0x1", "0xffff"])),
        ("eth_getRawTransactionByBlockNumberAndIndex", json!(["0xffff", "0x0"])),
        ("eth_getRawTransactionByBlockHashAndIndex", json!([none, "0x0"])),
        ("eth_getHeaderByNumber", json!(["0xffff"])),
        ("eth_getHeaderByHash", json!([none])),
    ] {
        ensure!(result(hive, method, params)?.is_null(), "{method}");
    }
    for (method, params) in [
        ("eth_getRawTransactionByHash", json!(["0x12"])),
        ("eth_getRawTransactionByBlockNumberAndIndex", json!(["0x1"])),
        ("eth_getHeaderByNumber", json!(["newest"])),
        ("eth_getHeaderByHash", json!(["0x1"])),
        ("eth_getHeaderByHash", json!([])),
    ] {
        ensure!(call(hive, method, params)?["error"]["code"] == -32602, "{method}");
    }
    Ok(())
}

/// geth's headers have what is hashed, and the hash: neither the transactions nor what is counted of the block.
#[test]
fn headers_are_the_blocks_of_the_node_without_their_bodies() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for line in chain.lines.iter().step_by(2) {
            let block = &line["block"];
            let mut expected = block.as_object().context("a block")?.clone();
            for body in ["transactions", "uncles", "withdrawals", "size", "totalDifficulty"] {
                expected.remove(body);
            }
            for (method, name) in [("eth_getHeaderByNumber", "number"), ("eth_getHeaderByHash", "hash")] {
                let header = result(chain, method, json!([block[name]]))?;
                ensure!(header == Value::Object(expected.clone()), "{method} {}: {header}", block[name]);
            }
        }
    }
    Ok(())
}
