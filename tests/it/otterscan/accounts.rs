//! `ots_hasCode`, `ots_getTransactionBySenderAndNonce` and `ots_getContractCreator`.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::node_transactions;
use crate::chains::{chain, quantity};
use crate::env;
use crate::rpc::{call, result};

#[test]
fn code_is_there_where_it_was_deployed() -> anyhow::Result<()> {
    let hive = chain("hive");
    let all = node_transactions(hive);
    let created = all.iter().filter(|tx| tx.receipt["contractAddress"].is_string());
    for tx in created.step_by(7) {
        let (address, block) = (&tx.receipt["contractAddress"], tx.block());
        for block in [block - 1, block, hive.head()] {
            let code = result(hive, "eth_getCode", json!([address, format!("{block:#x}")]))?;
            for form in [json!(block), json!(format!("{block:#x}")), json!(block.to_string())] {
                ensure!(result(hive, "ots_hasCode", json!([address, form]))? == (code != "0x"), "{address} {block}");
            }
        }
        ensure!(result(hive, "ots_hasCode", json!([tx.transaction["from"], "latest"]))? == false);
    }
    let beyond = call(hive, "ots_hasCode", json!([format!("0x{}", "12".repeat(20)), hive.head() + 1]))?;
    ensure!(beyond["error"]["code"] == -32000, "{beyond}");
    let unknown = call(chain("mainnet"), "ots_hasCode", json!([format!("0x{}", "12".repeat(20)), "latest"]))?;
    ensure!(unknown["error"]["code"] == -32002, "{unknown}");
    Ok(())
}

#[test]
fn transactions_are_found_by_sender_and_nonce() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for tx in node_transactions(chain).iter().step_by(env::amount(17, 5)) {
            let (from, nonce) = (&tx.transaction["from"], quantity(&tx.transaction["nonce"]));
            let found = result(chain, "ots_getTransactionBySenderAndNonce", json!([from, nonce]))?;
            ensure!(found == tx.hash(), "{name} {from} {nonce}: {found}");
            let whole = result(chain, "eth_getTransactionBySenderAndNonce", json!([from, format!("{nonce:#x}")]))?;
            let by_hash = result(chain, "eth_getTransactionByHash", json!([tx.hash()]))?;
            ensure!(whole.is_object() && whole == by_hash, "{name} {from} {nonce}: {whole}");
        }
        // One that is not there may be in a block that is not loaded.
        let nobody = format!("0x{}", "12".repeat(20));
        for (method, nonce) in
            [("ots_getTransactionBySenderAndNonce", json!(7)), ("eth_getTransactionBySenderAndNonce", json!("0x7"))]
        {
            let answer = call(chain, method, json!([nobody, nonce]))?;
            let is_refused = answer["error"]["code"] == -32002;
            ensure!(if name == "mainnet" { is_refused } else { answer["result"].is_null() && !is_refused }, "{answer}");
        }
    }
    for wrong in [json!(["0x12", "0x0"]), json!([format!("0x{}", "12".repeat(20)), 7]), json!([])] {
        let refused = call(chain("hive"), "eth_getTransactionBySenderAndNonce", wrong)?;
        ensure!(refused["error"]["code"] == -32602, "{refused}");
    }
    Ok(())
}

#[test]
fn contracts_have_the_creator_that_the_traces_show() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let (mut there, mut gone) = (0, 0);
        let mut newest: std::collections::BTreeMap<&str, Value> = Default::default();
        for tx in &all {
            for frame in tx.frames.into_iter().flatten().filter(|frame| frame["error"].is_null()) {
                if let Some(made) = frame["result"]["address"].as_str() {
                    newest.insert(made, json!({"hash": tx.hash(), "creator": frame["action"]["from"]}));
                }
            }
        }
        for (contract, expected) in newest {
            let found = result(chain, "ots_getContractCreator", json!([contract]))?;
            // The state of this one is not loaded: what was destroyed is not known.
            let has_code = name == "devchain" || result(chain, "eth_getCode", json!([contract, "latest"]))? != "0x";
            ensure!(
                found == if has_code { expected.clone() } else { Value::Null },
                "{contract}: {found}, expected {expected}"
            );
            there += usize::from(has_code);
            gone += usize::from(!has_code);
        }
        ensure!(there > 10, "{name}: {there}, {gone} without code");
        let sender = &all.first().context("a transaction")?.transaction["from"];
        ensure!(result(chain, "ots_getContractCreator", json!([sender]))?.is_null());
    }
    let unknown = call(chain("mainnet"), "ots_getContractCreator", json!([format!("0x{}", "12".repeat(20))]))?;
    ensure!(unknown["error"]["code"] == -32002, "{unknown}");
    Ok(())
}
