//! `module=proxy` as JSON-RPC answers it; `module=transaction` against receipts.

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use super::ask;
use super::transactions::{flag, has_failed, lower};
use crate::chains::chain;
use crate::env;
use crate::transactions::{busiest, node_transactions};

#[test]
fn proxy_answers_as_the_endpoint_of_json_rpc() -> anyhow::Result<()> {
    let chain = chain("hive");
    let all = node_transactions(chain);
    let address = busiest(&all)[0].0.clone();
    let transaction = all.values().next().map(|tx| tx.transaction.clone()).unwrap_or_default();
    let (hash, tag) = (lower(&transaction["hash"]), lower(&transaction["blockNumber"]));
    let calls = [
        ("eth_blockNumber", String::new(), json!([])),
        ("eth_getBlockByNumber", format!("tag={tag}&boolean=true"), json!([tag, true])),
        ("eth_getBlockByNumber", "tag=latest&boolean=false".into(), json!(["latest", false])),
        ("eth_getUncleByBlockNumberAndIndex", format!("tag={tag}&index=0"), json!([tag, "0x0"])),
        ("eth_getBlockTransactionCountByNumber", format!("tag={tag}"), json!([tag])),
        ("eth_getTransactionByHash", format!("txhash={hash}"), json!([hash])),
        ("eth_getTransactionByBlockNumberAndIndex", format!("tag={tag}&index=0x0"), json!([tag, "0x0"])),
        ("eth_getTransactionCount", format!("address={address}&tag={tag}"), json!([address, tag])),
        ("eth_getTransactionReceipt", format!("txhash={hash}"), json!([hash])),
        ("eth_getBalance", format!("address={address}"), json!([address, "latest"])),
        ("eth_getCode", format!("address={address}&tag=latest"), json!([address, "latest"])),
        ("eth_getStorageAt", format!("address={address}&position=0x0"), json!([address, "0x0", "latest"])),
        ("eth_gasPrice", String::new(), json!([])),
        ("eth_call", format!("to={address}&data=0x&tag=latest"), json!([{"to": address, "data": "0x"}, "latest"])),
        ("eth_estimateGas", format!("to={address}&value=0x0"), json!([{"to": address, "value": "0x0"}, "latest"])),
        (
            "eth_estimateGas",
            format!("to={address}&value=0&gasLimit=100000&gasPrice=0x0"),
            json!([{"to": address, "value": "0x0", "gas": "0x186a0", "gasPrice": "0x0"}, "latest"]),
        ),
        (
            "eth_call",
            format!("to={address}&value=what&tag=latest"),
            json!([{"to": address, "value": "what"}, "latest"]),
        ),
        ("eth_getTransactionByHash", "txhash=0x12".into(), json!(["0x12"])),
    ];
    for (method, query, params) in calls {
        let due = http::rpc(&http::agent(), &chain.rpc(), method, &params)?;
        let query = format!("module=proxy&action={method}&{query}");
        let found = ask(&chain.api, &query)?;
        ensure!(found["result"] == due["result"] && found["error"] == due["error"], "{query}: {found}, not {due}");
        ensure!(found["jsonrpc"] == "2.0" && found["id"] == 1, "{query}: {found}");
        let posted = http::post(&http::agent(), &format!("{}/api", chain.api), query.as_bytes())?;
        ensure!(posted.status == 200 && posted.json()? == found, "{}", posted.text());
    }
    let uncles = ask(&chain.api, &format!("module=proxy&action=eth_getUncleCountByBlockNumber&tag={tag}"))?;
    let due = chain.lines.iter().find(|line| line["block"]["number"] == tag);
    let due = due.and_then(|line| line["block"]["uncles"].as_array()).map_or(0, Vec::len);
    ensure!(uncles["result"] == format!("{due:#x}"), "{uncles}, {due} uncles");
    for (query, message) in
        [("action=eth_nothing", "Unknown action"), ("action=eth_getCode", "Query parameter 'address' is required")]
    {
        let refused = ask(&chain.api, &format!("module=proxy&{query}"))?;
        ensure!(refused["status"] == "0" && refused["message"] == message, "{query}: {refused}");
    }
    Ok(())
}

#[test]
fn the_status_of_a_transaction_is_that_of_its_receipt() -> anyhow::Result<()> {
    let (mut failed, mut of_old_rules) = (0, 0);
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for tx in node_transactions(chain).values().step_by(env::amount(21, 7)) {
            let hash = lower(&tx.transaction["hash"]);
            let status = match tx.receipt["status"].as_str() {
                Some("0x1") => "1",
                Some(_) => "0",
                None => "",
            };
            let found = ask(&chain.api, &format!("module=transaction&action=gettxreceiptstatus&txhash={hash}"))?;
            ensure!(found["status"] == "1" && found["result"] == json!({"status": status}), "{name} {hash}: {found}");
            let found = ask(&chain.api, &format!("module=transaction&action=getstatus&txhash={hash}"))?;
            let has_failed = has_failed(chain, tx)?;
            ensure!(found["result"]["isError"] == flag(has_failed), "{name} {hash}: {found}");
            let reason = found["result"]["errDescription"].as_str().unwrap_or("none");
            ensure!(name == "mainnet" || reason.is_empty() == (has_failed != Some(true)), "{name} {hash}: {found}");
            failed += u32::from(has_failed == Some(true));
            of_old_rules += u32::from(status.is_empty() && has_failed.is_some());
        }
    }
    ensure!(failed > 0 && of_old_rules > 0, "{failed} failed, {of_old_rules} before Byzantium");
    let unknown = format!("txhash=0x{}", "12".repeat(32));
    let status = ask(&chain("hive").api, &format!("module=transaction&action=gettxreceiptstatus&{unknown}"))?;
    ensure!(status["result"] == json!({"status": ""}), "{status}");
    let status = ask(&chain("hive").api, &format!("module=transaction&action=getstatus&{unknown}"))?;
    ensure!(status["status"] == "0" && status["message"] == "Transaction not found", "{status}");
    let missing = ask(&chain("mainnet").api, &format!("module=transaction&action=getstatus&{unknown}"))?;
    ensure!(missing["status"] == "2" && missing["result"] == Value::Null, "{missing}");
    Ok(())
}
