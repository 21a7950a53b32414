//! Simulated blocks where the specification's transcripts do not say it: hashes that calls read, and what is refused.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::workspace;

use super::{call, result};
use crate::chains::chain;

const CONTRACT: &str = "0xc200000000000000000000000000000000000000";

/// A call of code that returns the hash of the block before.
fn hash_before() -> Value {
    json!({
        "stateOverrides": {CONTRACT: {"code": "0x43600190034060005260206000f3"}},
        "calls": [{"to": CONTRACT}],
    })
}

#[test]
fn calls_read_the_hashes_of_simulated_blocks() -> anyhow::Result<()> {
    let hive = chain("hive");
    let blocks = json!([hash_before(), {}, {"calls": [{"to": CONTRACT}]}]);
    for base in ["0x32", "latest"] {
        let hash = result(hive, "eth_getBlockByNumber", json!([base, false]))?["hash"].take();
        let found = result(hive, "eth_simulateV1", json!([{"blockStateCalls": blocks}, base]))?;
        ensure!(found[0]["calls"][0]["returnData"] == hash && found[0]["parentHash"] == hash, "{base}: {found}");
        ensure!(
            found[2]["calls"][0]["returnData"] == found[1]["hash"] && found[1]["hash"].is_string(),
            "{base}: {found}"
        );
    }
    Ok(())
}

#[test]
fn what_is_not_simulated_is_refused() -> anyhow::Result<()> {
    let hive = chain("hive");
    let blocks = |blocks: Value| json!({"blockStateCalls": blocks});
    for (request, block, code) in [
        // Before the merge.
        (blocks(json!([{}])), "0x10", -32_000),
        (blocks(json!([{"blockOverrides": {"number": "0x137"}}])), "latest", -38_026),
        (blocks(json!(vec![json!({}); 257])), "latest", -38_026),
        (blocks(json!([{"calls": vec![json!({}); 1_001]}])), "latest", -38_026),
        (blocks(json!([{"block": {}}])), "latest", -32_602),
        (blocks(json!([{"calls": [{"chainId": "0x1"}]}])), "latest", -32_000),
        (blocks(json!([{"calls": [{"gas": "0xfffffffff"}]}])), "latest", -38_015),
        (
            blocks(json!([{"stateOverrides": {CONTRACT: {"code": "0x5f62ffffff52"}}, "calls": [{"to": CONTRACT}]}])),
            "0x99",
            -32_000,
        ),
    ] {
        let found = call(hive, "eth_simulateV1", json!([request, block]))?;
        ensure!(found["error"]["code"] == code, "{code}: {found}");
    }
    Ok(())
}

#[test]
fn calls_share_the_gas_of_a_request() -> anyhow::Result<()> {
    // Memory of 16 MB costs more than the 50 million, so the first call takes all of it; nothing is left for the third.
    let endless = json!({"stateOverrides": {CONTRACT: {"code": "0x5f62ffffff52"}}, "calls": [{"to": CONTRACT}]});
    let found =
        call(chain("hive"), "eth_simulateV1", json!([{"blockStateCalls": [endless, {"calls": [{}]}]}, "latest"]))?;
    ensure!(found["error"]["code"] == -38_013, "{found}");
    Ok(())
}

/// Cases of the specification that were recorded from earlier versions of the chain: what does not depend on the blocks
/// before, with roots by their first digits.
#[test]
fn are_those_recorded_from_other_versions_of_the_chain() -> anyhow::Result<()> {
    let hive = chain("hive");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(workspace::fixture("hive/simulated.json"))?)?;
    for case in &cases {
        let (name, answer) = (&case["name"], call(hive, "eth_simulateV1", case["params"].clone())?);
        ensure!(answer["error"]["code"] == case["error"], "{name}: {answer}");
        let blocks = case["blocks"].as_array().map_or(&[][..], Vec::as_slice);
        let found = answer["result"].as_array().map_or(&[][..], Vec::as_slice);
        ensure!(found.len() == blocks.len(), "{name}: {answer}");
        for (found, block) in found.iter().zip(blocks) {
            for (member, value) in block.as_object().context("a block")? {
                let is_it = match member.as_str() {
                    "gasUsed" | "returnData" => of_calls(found, member) == *value,
                    _ => {
                        found[member].as_str().zip(value.as_str()).is_some_and(|(found, text)| found.starts_with(text))
                    }
                };
                ensure!(is_it, "{name}: {member} is not {value}: {found}");
            }
        }
    }
    ensure!(cases.len() == 49, "{} cases", cases.len());
    Ok(())
}

/// A member of each call of a block.
fn of_calls(block: &Value, member: &str) -> Value {
    block["calls"].as_array().into_iter().flatten().map(|call| call[member].clone()).collect()
}
