//! Proofs of receipts are refused where the rows are not what the chain hashed. That good ones are good, a client
//! checks: `clients::proofs_of_receipts`.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{chain, dump};
use crate::env;

/// Rows that are not as they were, and the reason of the refusal.
const SPOILED: [(&str, &str); 6] = [
    ("transactions UPDATE cumulative_gas_used = cumulative_gas_used + 1", "and its header says"),
    ("transactions UPDATE logs_count = logs_count + 1", "logs of transaction"),
    ("transactions UPDATE lacking = ['status']", "it is indexed without status"),
    ("transactions UPDATE transaction_type = 126", "receipts of type 126"),
    ("blocks UPDATE extra_data = 'other'", "what is indexed of its header has the hash"),
    ("blocks UPDATE lacking = ['mix_hash']", "it is indexed without mix_hash"),
];

#[test]
fn of_rows_that_do_not_hash_are_refused() -> anyhow::Result<()> {
    let first = chain("hive").lines[1]["block"]["transactions"][0]["hash"].as_str().context("a hash")?;
    for (at, (change, reason)) in SPOILED.into_iter().enumerate() {
        let database = format!("proofs_spoiled_{at}");
        let _database = env::migrate(&database)?;
        env::run(env::ingest(&database, &["load", "--dump", &dump("hive"), "--to", "2"]), 0)?;
        let api = env::start_api(&database, &["--settled-cache-size", "0", "--cache-size", "0"])?;
        let ask = || http::rpc(&http::agent(), &format!("{}/rpc", api.url), "trawl_getReceiptProof", &json!([first]));
        ensure!(ask()?["result"]["proof"].is_array(), "{change}: {}", ask()?);
        let change = format!("ALTER TABLE {change} WHERE block_number = 1 SETTINGS mutations_sync = 2");
        env::sql(&database, &change)?;
        let answer: Value = ask()?;
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(answer["error"]["code"] == -32002 && text.contains(reason), "{change}: {answer}");
        ensure!(text.starts_with("the receipts of block 1 cannot be proven: "), "{answer}");
        let receipts = http::rpc(&http::agent(), &format!("{}/rpc", api.url), "debug_getRawReceipts", &json!(["0x1"]))?;
        let text = receipts["error"]["message"].as_str().unwrap_or_default();
        ensure!(receipts["error"]["code"] == -32002 && text.contains(reason), "{change}: {receipts}");
        let rest = http::get(&http::agent(), &format!("{}/api/v2/transactions/{first}/logs?proof=1", api.url))?;
        ensure!(rest.status == 501 && rest.text().contains(reason), "{change}: {} {}", rest.status, rest.text());
        api.stop()?;
    }
    Ok(())
}

#[test]
fn of_what_is_not_there_are_null_or_refused() -> anyhow::Result<()> {
    let mainnet = chain("mainnet");
    for (params, code) in [(json!(["0x12"]), -32602), (json!([]), -32602), (json!([1, 2]), -32602)] {
        let answer = super::call(mainnet, "trawl_getReceiptProof", params.clone())?;
        ensure!(answer["error"]["code"] == code, "{params}: {answer}");
    }
    ensure!(super::result(mainnet, "trawl_getReceiptProof", json!([format!("0x{}", "12".repeat(32))]))?.is_null());
    Ok(())
}
