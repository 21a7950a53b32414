//! Real blocks of other chains: loaded, proven again from the tables, and given back field by field.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::{family_clients, family_facts, load};
use crate::env;

/// The recorded chains with receipts, each with the verdicts of its blocks. The last one is like another of its family,
/// and left out in the ordinary run.
const CHAINS: [(&str, u64, usize); 7] = [
    ("arbitrum-421614", 421_614, 1),
    ("gnosis-100", 100, 3),
    ("optimism-10", 10, 2),
    ("optimism-11155420", 11_155_420, 1),
    ("polygon-80001", 80_001, 2),
    ("scroll-534352", 534_352, 2),
    ("optimism-420", 420, 1),
];

/// What a source gives and the API does not: what follows from the rest.
const LEFT_OUT: [&str; 3] = ["totalDifficulty", "sealFields", "author"];

#[test]
fn blocks_of_other_chains_are_verified_and_given_back() -> anyhow::Result<()> {
    for (name, chain_id, blocks) in CHAINS.into_iter().take(env::amount(CHAINS.len() - 1, CHAINS.len())) {
        let database = env::migrate(&format!("family_{}", name.replace('-', "_")))?;
        let path = workspace::fixture(&format!("chains/{name}.ndjson"));
        let text = std::fs::read_to_string(&path)?;
        let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let id = chain_id.to_string();
        let heights: Vec<u64> =
            lines.iter().map(|line| height(&line["block"])).collect::<Option<_>>().context("heights")?;
        for (line, number) in lines.iter().zip(&heights) {
            let file = super::write_dump(std::slice::from_ref(line))?;
            let (file, from) = (file.path().display().to_string(), number.to_string());
            load(&database, &file, &["--chain-id", &id, "--from", &from, "--to", &from], 0)
                .with_context(|| format!("{name} {number}"))?;
        }
        let verdicts = "SELECT verdict, count() FROM block_verdicts GROUP BY 1 ORDER BY 1";
        ensure!(
            env::sql(&database, verdicts)? == format!("verified\t{blocks}"),
            "{name}: {}",
            env::sql(&database, verdicts)?
        );
        let output = env::run(env::ingest(&database, &["verify"]), 0)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        ensure!(text.trim() == format!("{blocks} blocks: {blocks} verified, 0 in part"), "{name}: {text}");
        let api = env::start_api(&database, &[])?;
        given_back(name, &api.url, &lines)?;
        fees_are_split(name, &api.url, &lines)?;
        family_facts::are_served(&api.url, chain_id, &lines)?;
        family_clients::are_served(&api.url, &lines).with_context(|| name.to_owned())?;
    }
    Ok(())
}

#[test]
fn a_block_of_an_unknown_chain_is_refused() -> anyhow::Result<()> {
    let database = env::migrate("family_unknown")?;
    // One deposit, which names no chain.
    let file = workspace::fixture("chains/optimism-11155420.ndjson").display().to_string();
    let refused = load(&database, &file, &["--from", "4089330"], 3)?;
    ensure!(
        refused.contains("block 4089330 is not a block of Ethereum") && refused.contains("--chain-id"),
        "{refused}"
    );
    load(&database, &file, &["--from", "4089330", "--chain-id", "11155420"], 0)?;
    Ok(())
}

fn height(block: &Value) -> Option<u64> {
    u64::from_str_radix(block["number"].as_str()?.strip_prefix("0x")?, 16).ok()
}

/// Asks for every block, transaction and receipt, and compares all fields that the source gave.
fn given_back(name: &str, url: &str, lines: &[Value]) -> anyhow::Result<()> {
    let mut differing = BTreeSet::new();
    for line in lines {
        let block = &line["block"];
        let answer = ask(url, "eth_getBlockByHash", &json!([block["hash"], true]))?;
        compare("block", block, &answer, &mut differing);
        let receipts = ask(url, "eth_getBlockReceipts", &json!([block["number"]]))?;
        for (position, transaction) in block["transactions"].as_array().into_iter().flatten().enumerate() {
            compare("transaction of a block", transaction, &answer["transactions"][position], &mut differing);
            let alone = ask(url, "eth_getTransactionByHash", &json!([transaction["hash"]]))?;
            compare("transaction", transaction, &alone, &mut differing);
            let receipt = &line["receipts"][position];
            compare("receipt of a block", receipt, &receipts[position], &mut differing);
            let alone = ask(url, "eth_getTransactionReceipt", &json!([transaction["hash"]]))?;
            compare("receipt", receipt, &alone, &mut differing);
        }
    }
    ensure!(differing.is_empty(), "{name}: {}", differing.into_iter().collect::<Vec<_>>().join("\n"));
    Ok(())
}

/// What REST says of fees against sums over the source's JSON by the rules of each chain, written down here once more.
fn fees_are_split(name: &str, url: &str, lines: &[Value]) -> anyhow::Result<()> {
    let burns = name.starts_with("polygon") || name.starts_with("ethereum");
    for line in lines {
        let block = &line["block"];
        let (base, hash) = (number(&block["baseFeePerGas"]).unwrap_or(0), block["hash"].as_str().context("a hash")?);
        let (mut fees, mut tips) = (Some(0), 0);
        for (transaction, receipt) in parts(line) {
            let gas = number(&receipt["gasUsed"]).context("gas")?;
            let price = number(&receipt["effectiveGasPrice"]).or_else(|| number(&transaction["gasPrice"])).unwrap_or(0);
            let fee = is_fee_known(transaction, receipt).then(|| gas * price + number(&receipt["l1Fee"]).unwrap_or(0));
            let tip = if block["baseFeePerGas"].is_null() || name.starts_with("arbitrum") {
                0
            } else {
                gas * price.saturating_sub(base)
            };
            (fees, tips) = (fees.zip(fee).map(|(fees, fee)| fees + fee), tips + tip);
            let hash = transaction["hash"].as_str().context("a hash")?;
            let shown: Value = http::get(&http::agent(), &format!("{url}/api/v2/transactions/{hash}"))?.json()?;
            let expected = fee.map_or(Value::Null, |fee| fee.to_string().into());
            ensure!(shown["fee"]["value"] == expected, "{name} {hash}: {} is not {expected}", shown["fee"]);
            if let Some(l1_fee) = number(&receipt["l1Fee"]) {
                ensure!(shown["l1_fee"] == l1_fee.to_string(), "{name} {hash}: {}", shown["l1_fee"]);
                ensure!(shown["l1_fee_scalar"] == receipt["l1FeeScalar"], "{name} {hash}: {}", shown["l1_fee_scalar"]);
            }
            if !block["baseFeePerGas"].is_null() {
                let burnt = if burns { gas * base.min(price) } else { 0 };
                ensure!(shown["transaction_burnt_fee"] == burnt.to_string(), "{name} {hash}: {shown}");
                ensure!(shown["priority_fee"] == tip.to_string(), "{name} {hash}: {shown}");
            }
        }
        let shown: Value = http::get(&http::agent(), &format!("{url}/api/v2/blocks/{hash}"))?.json()?;
        let burnt = if burns { base * number(&block["gasUsed"]).context("gas")? } else { 0 };
        for (key, expected) in [("transaction_fees", fees), ("priority_fee", Some(tips)), ("burnt_fees", Some(burnt))] {
            let expected = expected.map_or(Value::Null, |wei| wei.to_string().into());
            ensure!(shown[key] == expected, "{name} {hash}: {key} is {} and should be {expected}", shown[key]);
        }
    }
    Ok(())
}

/// Whether a receipt says all that was paid: the recorded ones of Scroll do not have what was paid on L1.
pub fn is_fee_known(transaction: &Value, receipt: &Value) -> bool {
    transaction["chainId"] != "0x82750" || !receipt["l1Fee"].is_null()
}

/// Transactions of a block with their receipts.
fn parts(line: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let transactions = line["block"]["transactions"].as_array().into_iter().flatten();
    transactions.zip(line["receipts"].as_array().into_iter().flatten())
}

fn number(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}

fn ask(url: &str, method: &str, params: &Value) -> anyhow::Result<Value> {
    let answer = http::rpc(&http::agent(), &format!("{url}/rpc"), method, params)?;
    ensure!(answer["error"].is_null(), "{method} {params}: {answer}");
    Ok(answer["result"].clone())
}

/// Notes the fields that a source gave and an answer does not have, or has otherwise.
fn compare(what: &str, expected: &Value, found: &Value, differing: &mut BTreeSet<String>) {
    for (field, value) in expected.as_object().into_iter().flatten() {
        let is_beside = LEFT_OUT.contains(&field.as_str()) || field == "transactions" || field == "logs";
        if !is_beside && !same(value, &found[field]) {
            differing.insert(format!("{what}: {field} is {} and was {value}", found[field]));
        }
    }
}

/// Digits of addresses and bytes are compared in any case; an absent field is null.
fn same(expected: &Value, found: &Value) -> bool {
    match (expected.as_str(), found.as_str()) {
        (Some(expected), Some(found)) => expected.eq_ignore_ascii_case(found),
        _ => expected == found,
    }
}
