//! What clients ask a node about itself and about the next block, and reads that save them calls.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::fees::{next_base_fee, number};
use super::{call, result};
use crate::chains::chain;

/// A contract of the conformance chain; its slot 0 holds 0x38 in the end (eth_getStorageAt/get-storage.io).
const EMITTER: &str = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";

#[test]
fn the_next_base_fee_is_that_of_eip_1559() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let expected = next_base_fee(&chain.lines.last().context("a block")?["block"]);
        ensure!(number(&result(chain, "eth_baseFee", json!([]))?) == expected, "{name}: not {expected}");
    }
    Ok(())
}

#[test]
fn capabilities_say_what_is_loaded() -> anyhow::Result<()> {
    let hive = chain("hive");
    let newest = &hive.lines.last().context("a block")?["block"];
    let whole = json!({"disabled": false, "oldestBlock": "0x0"});
    let expected = json!({
        "head": {"number": newest["number"], "hash": newest["hash"]},
        "state": whole, "tx": whole, "logs": whole, "receipts": whole, "blocks": whole, "stateproofs": {"disabled": true},
    });
    ensure!(result(hive, "eth_capabilities", json!([]))? == expected, "{expected}");
    // Single blocks of a chain: the last run of them, and no state.
    let mainnet = result(chain("mainnet"), "eth_capabilities", json!([]))?;
    ensure!(mainnet["state"] == json!({"disabled": true}), "{mainnet}");
    let newest = number(&mainnet["head"]["number"]);
    let heights: Vec<u128> = chain("mainnet").lines.iter().map(|line| number(&line["block"]["number"])).collect();
    let oldest =
        (0..=newest).rev().find(|height| *height == 0 || !heights.contains(&(height - 1))).context("a block")?;
    ensure!(number(&mainnet["blocks"]["oldestBlock"]) == oldest, "{mainnet}");
    Ok(())
}

#[test]
fn state_of_several_is_that_of_single_reads() -> anyhow::Result<()> {
    let hive = chain("hive");
    for block in ["latest", "0x20", "0x0"] {
        let slots = json!({EMITTER: ["0x0", "0x1"], "0xc1cadaffffffffffffffffffffffffffffffffff": ["0x1"]});
        let found = result(hive, "eth_getStorageValues", json!([slots, block]))?;
        for (account, slots) in slots.as_object().context("accounts")? {
            for (at, slot) in slots.as_array().context("slots")?.iter().enumerate() {
                let expected = result(hive, "eth_getStorageAt", json!([account, slot, block]))?;
                ensure!(found[account][at] == expected, "{account} {slot} {block}: {found}");
            }
        }
        let info = result(hive, "eth_getAccountInfo", json!([EMITTER, block]))?;
        for (member, method) in
            [("balance", "eth_getBalance"), ("nonce", "eth_getTransactionCount"), ("code", "eth_getCode")]
        {
            ensure!(info[member] == result(hive, method, json!([EMITTER, block]))?, "{member} {block}: {info}");
        }
    }
    let many = json!([{EMITTER: vec!["0x0"; 1_025]}]);
    let error = json!({"code": -32602, "message": "too many slots (max 1024)"});
    ensure!(call(hive, "eth_getStorageValues", many)?["error"] == error);
    Ok(())
}

#[test]
fn receipts_in_an_object_are_those_of_the_block() -> anyhow::Result<()> {
    let hive = chain("hive");
    let block = &hive.lines[40]["block"];
    let expected = result(hive, "eth_getBlockReceipts", json!([block["number"]]))?;
    for named in [json!({"blockNumber": block["number"]}), json!({"blockHash": block["hash"]})] {
        let found = result(hive, "alchemy_getTransactionReceipts", json!([named]))?;
        ensure!(found == json!({"receipts": expected}) && expected.is_array(), "{named}: {found}");
    }
    let unknown = result(hive, "alchemy_getTransactionReceipts", json!([{"blockNumber": "0xffff"}]))?;
    ensure!(unknown == json!({"receipts": null}), "{unknown}");
    let bare = call(hive, "alchemy_getTransactionReceipts", json!(["0x1"]))?;
    ensure!(bare["error"]["code"] == -32602, "{bare}");
    Ok(())
}

#[test]
fn what_a_node_has_besides_is_empty_or_refused_by_name() -> anyhow::Result<()> {
    let hive = chain("hive");
    let empty = json!({"pending": {}, "queued": {}});
    ensure!(result(hive, "txpool_content", json!([]))? == empty && result(hive, "txpool_inspect", json!([]))? == empty);
    ensure!(result(hive, "txpool_status", json!([]))? == json!({"pending": "0x0", "queued": "0x0"}));
    let modules = result(hive, "rpc_modules", json!([]))?;
    ensure!(["debug", "ots", "trace", "txpool"].iter().all(|name| modules[name] == "1.0"), "{modules}");
    let answer: Value = call(chain("mainnet"), "eth_getProof", json!([EMITTER, [], "latest"]))?;
    let text = answer["error"]["message"].as_str().unwrap_or_default();
    ensure!(answer["error"]["code"] == -32601 && text.contains("does not have the root in the header"), "{answer}");
    for (params, code) in
        [(json!([EMITTER]), -32602), (json!([EMITTER, "0x0"]), -32602), (json!([EMITTER, [], "0x99"]), -32000)]
    {
        let answer: Value = call(hive, "eth_getProof", params)?;
        ensure!(answer["error"]["code"] == code, "{answer}");
    }
    // Its genesis has no forks by time.
    let devchain = call(chain("devchain"), "eth_config", json!([]))?;
    ensure!(devchain["error"]["code"] == -32002 || devchain["result"]["current"].is_object(), "{devchain}");
    Ok(())
}
