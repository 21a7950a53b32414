//! Calls with something otherwise than on the chain, and their limits. What is expected follows from the code that
//! runs: a few instructions each.

use alloy_primitives::{Bytes, keccak256};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::{call, result};
use crate::chains::chain;
use crate::env;

/// A contract of the conformance chain; its slot 0 holds 0x38 in the end (eth_getStorageAt/get-storage.io).
const EMITTER: &str = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
const UNUSED: &str = "0x00000000000000000000000000000000000ab0de";

/// Code that returns what one instruction leaves on the stack.
fn returning(instructions: &str) -> String {
    format!("0x{instructions}5f5260205ff3")
}

fn word(number: u64) -> Value {
    json!(format!("0x{number:064x}"))
}

#[test]
fn take_overrides() -> anyhow::Result<()> {
    let hive = chain("hive");
    let run = |account: Value, block: Value| {
        let to = if account.get("state").is_some() || account.get("stateDiff").is_some() { EMITTER } else { UNUSED };
        result(hive, "eth_call", json!([{"to": to}, "latest", {to: account}, block]))
    };
    let (balance, number, slot) = (returning("47"), returning("43"), returning("5f54"));
    ensure!(run(json!({"code": balance, "balance": "0x1234"}), json!(null))? == word(0x1234));
    ensure!(run(json!({"code": balance}), json!({}))? == word(0));
    ensure!(run(json!({"code": number}), json!({}))? == word(54));
    ensure!(run(json!({"code": number}), json!({"number": "0x64"}))? == word(100));
    ensure!(run(json!({"code": returning("42")}), json!({"time": "0x7"}))? == word(7));
    // As programs in Go write geth's type.
    let all = json!({"Number": null, "Time": "0x7", "BeaconRoot": null, "Withdrawals": null});
    ensure!(run(json!({"code": returning("42"), "movePrecompileToAddress": null}), all)? == word(7));
    ensure!(run(json!({"code": returning("48")}), json!({"baseFeePerGas": "0x9"}))? == word(0), "who pays nothing");
    // One slot otherwise, or all of them; without either, what the chain has.
    let first = format!("0x{}", "0".repeat(64));
    ensure!(run(json!({"code": slot, "stateDiff": {}}), json!({}))? == word(0x38));
    ensure!(run(json!({"code": slot, "stateDiff": {&first: word(7)}}), json!({}))? == word(7));
    ensure!(run(json!({"code": slot, "state": {}}), json!({}))? == word(0));
    ensure!(run(json!({"code": slot, "state": {&first: word(8)}}), json!({}))? == word(8));
    let refused =
        call(hive, "eth_call", json!([{"to": UNUSED}, "latest", {UNUSED: {"movePrecompileToAddress": UNUSED}}]))?;
    ensure!(refused["error"]["code"] == -32602, "{refused}");
    // What begins like a delegation to another account, and is none, is code whose first instruction is invalid.
    for code in ["0xef01", "0xef0100", "0xef0101", &format!("0xef0101{}", "11".repeat(20))] {
        let failed = call(hive, "eth_call", json!([{"to": UNUSED}, "latest", {UNUSED: {"code": code}}]))?;
        ensure!(failed["error"] == json!({"code": -32000, "message": "invalid opcode"}), "{code}: {failed}");
    }
    let failed = call(hive, "eth_call", json!([{"to": UNUSED}, "latest", {UNUSED: {"code": "0xfe"}}]))?;
    ensure!(failed["error"] == json!({"code": -32000, "message": "invalid opcode: INVALID"}), "{failed}");
    // A creation returns the code that it makes: here one that is a single STOP.
    ensure!(result(hive, "eth_call", json!([{"data": "0x60015ff3"}]))? == "0x00");
    Ok(())
}

#[test]
fn touch_what_their_code_touches() -> anyhow::Result<()> {
    let hive = chain("hive");
    let list = result(hive, "eth_createAccessList", json!([{"to": EMITTER, "data": "0x"}, "latest"]))?;
    let items = list["accessList"].as_array().cloned().unwrap_or_default();
    // It reads slot 0 and writes the slot that the hash of its input names.
    ensure!(items.len() == 1 && items[0]["address"] == EMITTER, "{list}");
    let keys = items[0]["storageKeys"].as_array().cloned().unwrap_or_default();
    ensure!(keys.len() == 2 && keys.contains(&word(0)), "{list}");
    ensure!(list["gasUsed"].as_str().is_some_and(|gas| gas.starts_with("0x")) && list.get("error").is_none(), "{list}");
    // The third parameter, as nodes have it: code that reads slot 0.
    let reading = json!({UNUSED: {"code": returning("5f54"), "movePrecompileToAddress": null}});
    let overridden = result(hive, "eth_createAccessList", json!([{"to": UNUSED}, "latest", reading]))?;
    ensure!(overridden["accessList"] == json!([{"address": UNUSED, "storageKeys": [word(0)]}]), "{overridden}");
    Ok(())
}

#[test]
fn have_limits() -> anyhow::Result<()> {
    let hive = chain("hive");
    // JUMPDEST, PUSH0, JUMP: for ever.
    let forever = json!({UNUSED: {"code": "0x5b5f56"}});
    let ended = call(hive, "eth_call", json!([{"to": UNUSED}, "latest", forever]))?;
    ensure!(ended["error"] == json!({"code": -32000, "message": "out of gas"}), "{ended}");
    let never = call(hive, "eth_estimateGas", json!([{"to": UNUSED}, "latest", forever]))?;
    ensure!(never["error"]["message"].as_str().is_some_and(|text| text.starts_with("gas required exceeds")), "{never}");
    let api = env::start_api("hive", &["--call-timeout-ms", "1"])?;
    let agent = xtask::http::agent();
    let late = xtask::http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), "eth_call", &json!([{"to": EMITTER}]))?;
    // No code of a call that failed: with more time it might succeed.
    ensure!(late["error"]["code"] == -32005, "{late}");
    let text = late["error"]["message"].as_str().unwrap_or_default();
    ensure!(text.starts_with("execution aborted (timeout)") && text.contains("make the call smaller"), "{late}");
    Ok(())
}

#[test]
fn name_blocks_in_many_ways() -> anyhow::Result<()> {
    let hive = chain("hive");
    let at = |block: Value| call(hive, "eth_getBalance", json!([EMITTER, block]));
    let hash = &hive.lines[50]["block"]["hash"];
    let expected = at(json!("0x32"))?["result"].clone();
    ensure!(expected.is_string() && expected != at(json!("latest"))?["result"]);
    let objects = [
        json!({"blockHash": hash}),
        json!({"blockNumber": "0x32"}),
        json!({"blockNumber": null, "blockHash": hash, "requireCanonical": null}),
    ];
    for block in [hash.clone(), json!(50), json!("50")].into_iter().chain(objects) {
        let found = at(block.clone())?;
        ensure!(found["result"] == expected, "{block}: {found}");
    }
    for (block, text) in [(json!("0x5000"), "Balance not found"), (json!("new"), "Query parameter 'block' is invalid")]
    {
        let found = at(block)?;
        ensure!(found["error"] == json!({"code": -32602, "message": text}), "{found}");
    }
    let unknown = call(hive, "eth_getCode", json!([EMITTER, format!("0x{}", "12".repeat(32))]))?;
    ensure!(unknown["error"] == json!({"code": -32000, "message": "header not found"}), "{unknown}");
    Ok(())
}

/// Geth takes an empty text for no bytes and for zero, and refuses a call for another chain.
#[test]
fn are_read_as_nodes_read_them() -> anyhow::Result<()> {
    let hive = chain("hive");
    let plain = json!({"to": EMITTER});
    for method in ["eth_call", "eth_estimateGas", "eth_createAccessList"] {
        let expected = call(hive, method, json!([plain, "latest"]))?;
        for more in [
            json!({"data": ""}),
            json!({"input": ""}),
            json!({"data": "0x", "input": "", "value": "", "gasPrice": ""}),
            json!({"chainId": result(hive, "eth_chainId", json!([]))?}),
            json!({"accessList": [], "chainId": null}),
        ] {
            let mut object = plain.clone();
            for (name, value) in more.as_object().into_iter().flatten() {
                object[name] = value.clone();
            }
            let found = call(hive, method, json!([object, "latest"]))?;
            ensure!(found == expected, "{method} {object}: {found} instead of {expected}");
        }
        let other = call(hive, method, json!([{"to": EMITTER, "chainId": "0x1"}, "latest"]))?;
        let own = u64::from_str_radix(
            result(hive, "eth_chainId", json!([]))?.as_str().unwrap_or_default().trim_start_matches("0x"),
            16,
        )?;
        let text = format!("chainId does not match node's (have=1, want={own})");
        ensure!(other["error"] == json!({"code": -32000, "message": text}), "{method}: {other}");
        for (name, wrong) in [("to", ""), ("data", "00"), ("chainId", "1"), ("chainId", "0x")] {
            let refused = call(hive, method, json!([{"to": EMITTER, name: wrong}, "latest"]))?;
            ensure!(refused["error"]["code"] == -32602, "{method} {name}={wrong}: {refused}");
        }
    }
    Ok(())
}

/// Clients decode `data` as the output of a call that reverted, whatever the code of the error says; other methods tell
/// programs there what is missing.
#[test]
fn have_the_output_or_nothing_as_data_of_their_errors() -> anyhow::Result<()> {
    let (hive, dev) = (chain("hive"), chain("devchain"));
    // PUSH1 0x2a, PUSH0, MSTORE8, PUSH1 1, PUSH0, REVERT.
    let reverting = json!({UNUSED: {"code": "0x602a5f5360015ffd"}});
    for method in ["eth_call", "eth_estimateGas"] {
        let reverted = call(hive, method, json!([{"to": UNUSED}, "latest", reverting]))?;
        ensure!(reverted["error"]["code"] == 3 && reverted["error"]["data"] == "0x2a", "{method}: {reverted}");
    }
    // This chain is loaded without state.
    for method in ["eth_call", "eth_estimateGas", "eth_createAccessList", "eth_fillTransaction"] {
        for endpoint in [dev.rpc(), format!("{}/rpc", dev.api)] {
            let params = json!([{"to": UNUSED}]);
            let missing = xtask::http::rpc(&xtask::http::agent(), &endpoint, method, &params)?;
            let error = &missing["error"];
            ensure!(error["code"] == -32002 && error.get("data").is_none(), "{method}: {missing}");
            ensure!(error["message"].as_str().is_some_and(|text| text.contains("blocks")), "{method}: {missing}");
        }
    }
    let balance = call(dev, "eth_getBalance", json!([UNUSED, "latest"]))?;
    ensure!(balance["error"]["data"]["missing"].is_array(), "{balance}");
    Ok(())
}

/// What is left out is what other methods say, by geth's rules; what is given stays.
#[test]
fn a_transaction_is_filled() -> anyhow::Result<()> {
    let hive = chain("hive");
    let newest = result(hive, "eth_getBlockByNumber", json!(["latest", false]))?;
    let sent =
        hive.lines.iter().rev().find_map(|line| line["block"]["transactions"].get(0)).context("a transaction")?;
    let from = &sent["from"];
    let nonce = result(hive, "eth_getTransactionCount", json!([from, "latest"]))?;
    let tip = number(&result(hive, "eth_maxPriorityFeePerGas", json!([]))?)?;
    let highest = quantity(2 * number(&newest["baseFeePerGas"])? + tip);
    let filled = |members: Value| {
        let mut object = json!({"from": from, "to": EMITTER, "value": "0x1"});
        object.as_object_mut().context("an object")?.extend(members.as_object().cloned().unwrap_or_default());
        let filled = result(hive, "eth_fillTransaction", json!([object]))?;
        let mut unpriced = object.clone();
        let fees = ["gasPrice", "maxPriorityFeePerGas"];
        unpriced.as_object_mut().context("an object")?.retain(|name, _| !fees.contains(&name.as_str()));
        let gas = result(hive, "eth_estimateGas", json!([unpriced]))?;
        let raw: Bytes = filled["raw"].as_str().context("bytes")?.parse()?;
        let transaction = filled["tx"].clone();
        ensure!(transaction["hash"] == json!(keccak256(&raw)), "{filled}");
        for (name, expected) in [("nonce", &nonce), ("gas", &gas), ("v", &json!("0x0")), ("value", &json!("0x1"))] {
            ensure!(transaction[name] == *expected, "{name}: {filled}");
        }
        Ok::<_, anyhow::Error>(transaction)
    };
    let dynamic = filled(json!({}))?;
    ensure!(dynamic["type"] == "0x2" && dynamic["accessList"] == json!([]), "{dynamic}");
    ensure!(dynamic["maxFeePerGas"] == highest && dynamic["maxPriorityFeePerGas"] == quantity(tip), "{dynamic}");
    ensure!(dynamic["chainId"] == result(hive, "eth_chainId", json!([]))?, "{dynamic}");
    let priced = filled(json!({"gasPrice": "0x3b9aca00"}))?;
    ensure!(priced["type"] == "0x0" && priced["gasPrice"] == "0x3b9aca00" && priced.get("yParity").is_none());
    let limited =
        filled(json!({"maxPriorityFeePerGas": "0x1", "accessList": [{"address": UNUSED, "storageKeys": []}]}))?;
    ensure!(limited["maxFeePerGas"] == quantity(2 * number(&newest["baseFeePerGas"])? + 1), "{limited}");
    ensure!(limited["accessList"][0]["address"] == UNUSED, "{limited}");
    let listed = filled(json!({"gasPrice": "0x3b9aca00", "accessList": []}))?;
    ensure!(listed["type"] == "0x1" && listed["gasPrice"] == "0x3b9aca00", "{listed}");
    let blob = format!("0x01{}", "12".repeat(31));
    for (wrong, code) in [
        (json!({"from": from}), -32000),
        (json!({"from": from, "to": EMITTER, "gasPrice": "0x0"}), -32000),
        (json!({"from": from, "to": EMITTER, "maxFeePerGas": "0x1"}), -32000),
        (json!({"from": from, "to": EMITTER, "gasPrice": "0x1", "maxFeePerGas": "0x1"}), -32602),
        (json!({"from": from, "to": EMITTER, "chainId": "0x1"}), -32000),
        (json!({"from": from, "to": EMITTER, "blobs": ["0x"]}), -32602),
        (json!({"from": from, "to": EMITTER, "blobVersionedHashes": [blob], "proofs": []}), -32602),
        (json!({"from": UNUSED, "to": EMITTER}), -32000),
    ] {
        let refused = call(hive, "eth_fillTransaction", json!([wrong]))?;
        ensure!(refused["error"]["code"] == code, "{wrong}: {refused}");
    }
    Ok(())
}

fn number(value: &Value) -> anyhow::Result<u64> {
    let text = value.as_str().with_context(|| format!("no quantity: {value}"))?;
    Ok(u64::from_str_radix(text.trim_start_matches("0x"), 16)?)
}

fn quantity(number: u64) -> Value {
    json!(format!("{number:#x}"))
}
