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
    let database = env::migrate("proofs_spoiled")?;
    env::run(env::ingest(&database, &["load", "--dump", &dump("hive"), "--to", "8"]), 0)?;
    let api = env::start_api(&database, &["--settled-cache-size", "0", "--cache-size", "0"])?;
    // A block for each change, all of them of the time before Byzantium.
    for (block, (change, reason)) in (1..).zip(SPOILED) {
        let first = chain("hive").lines[block]["block"]["transactions"][0]["hash"].as_str().context("a hash")?;
        let ask = || http::rpc(&http::agent(), &format!("{}/rpc", api.url), "trawl_getReceiptProof", &json!([first]));
        ensure!(ask()?["result"]["proof"].is_array(), "{change}: {}", ask()?);
        let change = format!("ALTER TABLE {change} WHERE block_number = {block} SETTINGS mutations_sync = 2");
        env::sql(&database, &change)?;
        let answer: Value = ask()?;
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(answer["error"]["code"] == -32002 && text.contains(reason), "{change}: {answer}");
        ensure!(text.starts_with(&format!("the receipts of block {block} cannot be proven: ")), "{answer}");
        let (url, number) = (format!("{}/rpc", api.url), format!("{block:#x}"));
        let receipts = http::rpc(&http::agent(), &url, "debug_getRawReceipts", &json!([number]))?;
        let text = receipts["error"]["message"].as_str().unwrap_or_default();
        ensure!(receipts["error"]["code"] == -32002 && text.contains(reason), "{change}: {receipts}");
        let rest = http::get(&http::agent(), &format!("{}/api/v2/transactions/{first}/logs?proof=1", api.url))?;
        ensure!(rest.status == 501 && rest.text().contains(reason), "{change}: {} {}", rest.status, rest.text());
    }
    api.stop()?;
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
