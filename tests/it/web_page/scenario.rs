//! What pages must tell people of the scenario chain: why transactions failed and in which call, which tokens look like
//! others, and which delegations took effect. The words are made by hand from what the node recorded, not from answers
//! of the API.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use xtask::workspace;

use crate::chains::Chain;

/// A token of the scenario, which calls itself USDC in the database of the explorer (`start_hostile_names`).
pub const FALSE_TOKEN: &str = "0x8464135c8f25da09e49bc8782676a84730c318bc";
/// Who holds it, and who was sent nothing by somebody (`Scenes.sol` of the fixture).
const ITS_HOLDER: &str = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc";
const SENT_NOTHING: &str = "0x15d34aaf54267db7d7c367839aaf71a00a2c6a65";
/// The page of its transfers that has it.
const EARLIER: &str = "block_number%3D18%26index%3D0";
const LOOKS_LIKE: &str = "Its name contains a web address: do not visit it";

/// Block and position of transactions that failed, what they failed with, and how deep in their calls that began:
/// decoded by hand from the output of the node's frames.
const FAILED: &[(usize, usize, &str, usize)] = &[
    (6, 3, "Reverted: FailedDeployment()", 1),
    (16, 1, "Reverted: ERC20InsufficientAllowance(0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC, 250000, 250001)", 1),
    (28, 3, "Reverted: end of the line", 4),
    (30, 2, "Reverted: Panic 0x01: an assertion is false", 1),
    (30, 5, "Reverted: Panic 0x12: division or modulo by zero", 1),
];

/// Block and position of transactions that changed storage.
const STORED: &[(usize, usize)] = &[(1, 1), (17, 2), (22, 0)];

pub fn of(chain: &Chain) -> Value {
    let failed = FAILED.iter().flat_map(|failed| failure(chain, failed));
    let failed = failed.chain([counted(chain)]).chain(STORED.iter().map(|slot| storage(chain, *slot)));
    let failed = failed.chain(of_contracts());
    Value::Array(failed.chain(false_tokens()).chain([9, 11, 12].map(|block| delegations(chain, block))).collect())
}

/// The red line of a transaction, and the same words at the call where that began.
fn failure(chain: &Chain, (block, position, words, depth): &(usize, usize, &str, usize)) -> [Value; 2] {
    let path = format!("/tx/{}", transaction(chain, *block, *position)["hash"].as_str().unwrap_or_default());
    let whole = format!("It failed at call depth {depth}. {words}");
    let failure = format!("It failed. {words}");
    [json!({"path": path, "failure": failure}), json!({"path": format!("{path}?tab=trace"), "reasons": [whole, words]})]
}

/// A token whose holders and supply are labelled as those after the head, as its list of holders is.
fn counted(chain: &Chain) -> Value {
    let path = workspace::fixture("devchain/node/expected.json");
    let expected: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("a fixture")).expect("JSON");
    let gold = expected["erc20"].as_object().into_iter().flatten().find(|(_, facts)| facts["label"] == "GLD");
    let (token, facts) = gold.expect("a token");
    let held = facts["balances"].as_object().into_iter().flatten().filter(|(_, balance)| *balance != "0").count();
    let holders = format!("{held} after block {}", chain.head());
    json!({"path": format!("/token/{token}?tab=holders"), "facts": {"Holders": {"text": holders}}, "rows": held})
}

/// Slots of storage that a transaction changed, as the node's difference of states has them.
fn storage(chain: &Chain, (block, position): (usize, usize)) -> Value {
    let difference = &chain.lines[block]["txStateDiffs"][position]["prestateDiff"];
    let slots = |side: &str| -> BTreeSet<(String, String)> {
        let accounts = difference[side].as_object().into_iter().flatten();
        let slot = |(address, account): (&String, &Value)| -> Vec<(String, String)> {
            let slots = account["storage"].as_object().into_iter().flat_map(|slots| slots.keys());
            slots.map(|slot| (address.clone(), slot.clone())).collect()
        };
        accounts.flat_map(slot).collect()
    };
    let count = slots("pre").union(&slots("post")).count();
    let path = format!("/tx/{}?tab=state", transaction(chain, block, position)["hash"].as_str().unwrap_or_default());
    json!({"path": path, "slots": count})
}

/// What is read of contracts: approvals with what is left of them, an id with its metadata, a proxy by the ABI of what
/// it runs, and a token without an ABI by the selectors in its code. Addresses and words are those of `Scenes.sol`.
fn of_contracts() -> [Value; 4] {
    let approvals = json!([
        ["0xCf7Ed3…0Fc9", "0xa0Ee7A…a79720", "all ids", "active"],
        ["GLD", "0x3C44Cd…4293BC", "max uint256", "max uint256"],
        // 250,001 of its units were refused as more than is left (`FAILED`).
        ["DUSD", "0x3C44Cd…4293BC", "0.5", "0.25"],
    ]);
    let of_tokens =
        ["name", "symbol", "decimals", "totalSupply", "balanceOf", "allowance", "nonces", "DOMAIN_SEPARATOR"];
    let owner = "/address/0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    let proxy = "0x9A676e781A523b5d0C0e43731313A708CB607508";
    let of_proxies = ["UPGRADE_INTERFACE_VERSION", "count", "proxiableUUID", "version"];
    let contract = |address: &str| format!("/address/{address}?tab=contract");
    [
        json!({"path": format!("{owner}?tab=approvals"), "cells": {"Approvals": approvals}}),
        json!({"path": "/token/0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0/instance/1", "rows": 2,
               "facts": {"URI": {"text": "data:application/json,{}"}}}),
        json!({"path": contract(proxy), "readings": [["Read as proxy", of_proxies]]}),
        json!({"path": contract("0x5FbDB2315678afecb367f032d93F642f64180aa3"), "readings": [["Read", of_tokens]],
               "facts": {"Source code": {"text": "not loaded; trawl-ingest labels loads it"}}}),
    ]
}

/// A mark in the transfers of who holds it; rows of it and transfers of nothing are hidden unless one wants them.
fn false_tokens() -> [Value; 2] {
    let mark = json!([FALSE_TOKEN, LOOKS_LIKE]);
    let transfers = |address: &str| format!("/address/{address}?tab=token_transfers");
    [
        json!({"path": transfers(ITS_HOLDER), "marks": [mark], "hidden": "1 of 50 rows of this page are hidden."}),
        json!({"path": format!("{}&after={EARLIER}", transfers(SENT_NOTHING)), "marks": [], "hidden": "1 of "}),
    ]
}

/// A delegation took effect where the node's difference of states has the code of its account changed to it.
fn delegations(chain: &Chain, block: usize) -> Value {
    let transaction = transaction(chain, block, 0);
    let difference = &chain.lines[block]["txStateDiffs"][0]["prestateDiff"];
    let code = |side: &str, account: &str| difference[side][account]["code"].as_str().map(str::to_owned);
    let accounts: Vec<&String> =
        difference["pre"].as_object().into_iter().flat_map(|accounts| accounts.keys()).collect();
    let lines: Vec<Value> = transaction["authorizationList"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|item| {
            let delegate = item["address"].as_str().unwrap_or_default();
            let expected = format!("0xef0100{}", &delegate[2..]);
            let is_removal = delegate[2..].bytes().all(|digit| digit == b'0');
            let is_changed = |account: &&&String| match is_removal {
                true => code("pre", account).is_some() && code("post", account).is_none(),
                false => code("post", account).as_ref() == Some(&expected),
            };
            let account = accounts.iter().find(is_changed);
            let delegate = (!is_removal).then_some(delegate);
            json!({"account": account, "delegate": delegate, "is_valid": account.is_some()})
        })
        .collect();
    let path = format!("/tx/{}", transaction["hash"].as_str().unwrap_or_default());
    json!({"path": path, "delegations": lines})
}

fn transaction(chain: &Chain, block: usize, position: usize) -> &Value {
    &chain.lines[block]["block"]["transactions"][position]
}
