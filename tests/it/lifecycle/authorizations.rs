//! What becomes of authorizations (EIP-7702): as the steps of the EIP decide, where they are proven, and never more
//! than the nonces of the node allow.

use std::collections::BTreeMap;

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::anvil::{Anvil, Call};
use super::scene::{AUTHORIZATIONS, RECEIVER, signed, with_and_without_state};

/// Positions in [`AUTHORIZATIONS`], by account and nonce.
const A7N0: usize = 0;
const A8N0: usize = 1;
const A9N0: usize = 2;
const A6N0: usize = 3;
const A7N1: usize = 4;
const A9N1: usize = 5;
/// Order of the curve of signatures (<https://www.secg.org/sec2-v2.pdf>).
const ORDER: &str = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";

const OK: &str = "ok";
const NONCE: &str = "invalid_nonce";
const UNKNOWN: &str = "";

/// For another chain.
fn for_another_chain() -> Value {
    let mut authorization = signed(&AUTHORIZATIONS[A8N0]);
    authorization["chainId"] = json!("0x2");
    authorization
}

/// With the other `s` that signs the same, which the EIP refuses.
fn malleable() -> anyhow::Result<Value> {
    let mut authorization = signed(&AUTHORIZATIONS[A8N0]);
    let s: U256 = authorization["s"].as_str().context("s")?.parse()?;
    authorization["s"] = json!(format!("{:#x}", ORDER.parse::<U256>()? - s));
    authorization["yParity"] = json!("0x1");
    Ok(authorization)
}

/// A transaction with authorizations.
struct SetCodeTransaction {
    name: &'static str,
    from: usize,
    /// Each with its status, and with the one that is known without state.
    list: Vec<(Value, &'static str, &'static str)>,
}

/// Blocks of transactions.
fn play() -> anyhow::Result<Vec<Vec<SetCodeTransaction>>> {
    let of = |position: usize, status: &'static str, without_state: &'static str| {
        (signed(&AUTHORIZATIONS[position]), status, without_state)
    };
    let transaction = |name, from, list| SetCodeTransaction { name, from, list };
    let several = vec![
        of(A7N0, OK, UNKNOWN),
        of(A7N0, NONCE, UNKNOWN),
        of(A7N1, OK, UNKNOWN),
        of(A9N1, NONCE, UNKNOWN),
        (for_another_chain(), "invalid_chain_id", "invalid_chain_id"),
        (malleable()?, "invalid_signature", "invalid_signature"),
    ];
    Ok(vec![
        vec![
            transaction("several", 0, several),
            // What the transaction before did to account 7 depends on more than its list.
            transaction("after another", 1, vec![of(A8N0, OK, UNKNOWN), of(A7N0, UNKNOWN, UNKNOWN)]),
        ],
        vec![
            transaction("of its sender", 9, vec![of(A9N1, OK, OK), of(A9N0, NONCE, NONCE)]),
            transaction("too early of its sender", 6, vec![of(A6N0, NONCE, NONCE)]),
            transaction("of an earlier sender", 1, vec![of(A6N0, UNKNOWN, UNKNOWN)]),
        ],
        vec![
            transaction("of a delegation", 1, vec![of(A7N1, NONCE, UNKNOWN)]),
            // Its code may have created contracts in the transaction before.
            transaction("of a delegation later", 2, vec![of(A8N0, UNKNOWN, UNKNOWN)]),
        ],
        vec![transaction("as many as are looked at", 1, vec![of(A8N0, NONCE, UNKNOWN); 256])],
        vec![transaction("too many", 1, vec![of(A8N0, UNKNOWN, UNKNOWN); 257])],
    ])
}

fn statuses(api: &str, hash: &str) -> anyhow::Result<Vec<Value>> {
    let item = http::get(&http::agent(), &format!("{api}/api/v2/transactions/{hash}"))?.json()?;
    let list = item["authorization_list"].as_array().with_context(|| item.to_string())?;
    Ok(list.iter().map(|authorization| authorization["status"].clone()).collect())
}

#[test]
fn have_the_status_that_is_proven() -> anyhow::Result<()> {
    let mut node = Anvil::start("prague")?;
    let mut counted: BTreeMap<String, u64> = BTreeMap::new();
    for block in play()? {
        for SetCodeTransaction { name, from, list } in block {
            *counted.entry(node.accounts[from].to_lowercase()).or_default() += 1;
            let authorizations = list.into_iter().map(|(authorization, ..)| authorization).collect();
            node.send(name, Call { to: Some(RECEIVER), data: "0x".into(), from, authorizations, ..Call::default() })?;
        }
        node.mine()?;
    }
    let [with_state, without_state] = with_and_without_state(&node, "lifecycle_authorizations")?;
    for SetCodeTransaction { name, list, .. } in play()?.into_iter().flatten() {
        let hash = &node.hashes[name];
        let word = |word: &str| if word == UNKNOWN { Value::Null } else { json!(word) };
        let expected: Vec<Value> = list.iter().map(|(_, status, _)| word(status)).collect();
        let found = statuses(&with_state, hash)?;
        ensure!(found == expected, "{name}: {found:?}, expected {expected:?}");
        let expected: Vec<Value> = list.iter().map(|(.., status)| word(status)).collect();
        let found = statuses(&without_state, hash)?;
        ensure!(found == expected, "{name} without state: {found:?}, expected {expected:?}");
        for (authorization, status, _) in &list {
            let position = AUTHORIZATIONS.iter().position(|one| signed(one) == *authorization);
            let signers = [7, 8, 9, 6, 7, 9].map(|account: usize| node.accounts[account].to_lowercase());
            if let Some(position) = position.filter(|_| *status == OK) {
                *counted.entry(signers[position].clone()).or_default() += 1;
            }
        }
    }
    // By the nonces that the node has, nothing else took effect.
    for account in [6, 7, 8, 9] {
        let account = node.accounts[account].to_lowercase();
        let nonce = node.ask("eth_getTransactionCount", &json!([account, "latest"]))?;
        let expected = format!("{:#x}", counted.get(&account).copied().unwrap_or_default());
        ensure!(nonce == expected, "{account}: {nonce}, expected {expected}");
    }
    Ok(())
}
