//! The gas oracle and the fee history: against what anvil answered, and against sums over the node's own receipts.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::companions::recorded;
use super::{api_with, call, result};
use crate::chains::{Chain, chain};
use crate::env;

/// A quantity; 0 for anything else.
pub(super) fn number(value: &Value) -> u128 {
    value.as_str().and_then(|text| u128::from_str_radix(text.trim_start_matches("0x"), 16).ok()).unwrap_or(0)
}

/// What the transactions of a block paid per gas above the base fee, with the gas they used.
fn tips(line: &Value) -> Vec<(u128, u128)> {
    let base_fee = number(&line["block"]["baseFeePerGas"]);
    let receipts = line["receipts"].as_array().into_iter().flatten();
    receipts.map(|receipt| (number(&receipt["effectiveGasPrice"]) - base_fee, number(&receipt["gasUsed"]))).collect()
}

/// The lines of consecutive blocks that end with the line at a position.
fn run(chain: &Chain, last: usize, most: usize) -> &[Value] {
    let height = |position: usize| number(&chain.lines[position]["block"]["number"]);
    let mut first = last;
    while first > 0 && last - first + 1 < most && height(first - 1) + 1 == height(first) {
        first -= 1;
    }
    &chain.lines[first..=last]
}

/// EIP-1559, word by word.
pub(super) fn next_base_fee(block: &Value) -> u128 {
    let fee = number(&block["baseFeePerGas"]);
    let (used, target) = (number(&block["gasUsed"]), number(&block["gasLimit"]) / 2);
    if used == target {
        fee
    } else if used > target {
        fee + std::cmp::max(fee * (used - target) / target / 8, 1)
    } else {
        fee - fee * (target - used) / target / 8
    }
}

/// The price that blocks give at a percentile, and the tip in it.
fn price(lines: &[Value], percentile: usize) -> anyhow::Result<(u128, u128)> {
    let mut tips: Vec<u128> = lines.iter().flat_map(tips).map(|(tip, _)| tip).collect();
    tips.sort_unstable();
    let tip = *tips.get((tips.len().max(1) - 1) * percentile / 100).context("a transaction")?;
    let newest = &lines.last().context("a block")?["block"];
    Ok((tip + next_base_fee(newest), tip))
}

fn prices(chain: &Chain) -> anyhow::Result<()> {
    let (price, tip) = price(run(chain, chain.lines.len() - 1, 200), 60)?;
    let found = result(chain, "eth_gasPrice", json!([]))?;
    ensure!(found == format!("{price:#x}"), "{found} instead of {price:#x}");
    let found = result(chain, "eth_maxPriorityFeePerGas", json!([]))?;
    ensure!(found == format!("{tip:#x}"), "{found} instead of {tip:#x}");
    Ok(())
}

/// Anvil 1.7.1 reported 0x3b9ae837 behind the last block of the scenario: a gwei and the base fee of the next block.
#[test]
fn the_price_is_that_of_anvil() -> anyhow::Result<()> {
    ensure!(result(chain("devchain"), "eth_gasPrice", json!([]))? == "0x3b9ae837");
    ensure!(result(chain("devchain"), "eth_maxPriorityFeePerGas", json!([]))? == "0x3b9aca00");
    Ok(())
}

#[test]
fn window_and_percentile_are_flags() -> anyhow::Result<()> {
    let chain = chain("hive");
    for (blocks, percentile) in [(1, 60), (9, 0), (40, 100), (1000, 33)] {
        let api = api_with(
            chain,
            &["--gas-price-blocks", &blocks.to_string(), "--gas-price-percentile", &percentile.to_string()],
        )?;
        let (price, _) = price(run(chain, chain.lines.len() - 1, blocks), percentile)?;
        let found = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), "eth_gasPrice", &json!([]))?;
        ensure!(found["result"] == format!("{price:#x}"), "{blocks} {percentile}: {found} instead of {price:#x}");
        api.stop()?;
    }
    Ok(())
}

#[test]
fn histories_equal_what_anvil_answered() -> anyhow::Result<()> {
    let mut compared = 0;
    for recording in recorded()?.iter().filter(|recording| recording["method"] == "eth_feeHistory") {
        let (params, expected) = (&recording["params"], &recording["result"]);
        let found = result(chain("devchain"), "eth_feeHistory", params.clone())?;
        ensure!(found["oldestBlock"] == expected["oldestBlock"], "{params}: {found}");
        ensure!(found["gasUsedRatio"] == expected["gasUsedRatio"], "{params}: {found}");
        let (fees, recorded) = (found["baseFeePerGas"].as_array(), expected["baseFeePerGas"].as_array());
        let (fees, recorded) = (fees.context("fees")?, recorded.context("fees")?);
        // Whichever block is requested, anvil's last fee is that of the block behind its newest.
        let count = if params[1] == "latest" { recorded.len() } else { recorded.len() - 1 };
        ensure!(fees.len() == recorded.len() && fees[..count] == recorded[..count], "{params}: {found}");
        match params[2].as_array().is_some_and(Vec::is_empty) {
            true => ensure!(found.get("reward").is_none(), "{params}: {found}"),
            false => ensure!(found["reward"] == expected["reward"], "{params}: {found}\n{expected}"),
        }
        compared += 1;
    }
    ensure!(compared == 8, "{compared} recordings");
    Ok(())
}

/// The tips at percentiles of a block's gas, as nodes compute them.
fn rewards(line: &Value, percentiles: &[f64]) -> Vec<String> {
    let mut tips = tips(line);
    tips.sort_unstable();
    let used = number(&line["block"]["gasUsed"]);
    let at = |percentile: &f64| {
        let threshold = (used as f64 * percentile / 100.0) as u128;
        let mut gas = 0;
        let reached = tips.iter().find(|(_, own)| {
            gas += own;
            gas >= threshold
        });
        format!("{:#x}", reached.or(tips.last()).map_or(0, |(tip, _)| *tip))
    };
    percentiles.iter().map(at).collect()
}

fn histories(chain: &Chain) -> anyhow::Result<()> {
    let percentiles = [0.0, 12.5, 50.0, 99.0, 100.0];
    for last in (0..chain.lines.len()).rev().step_by(7) {
        let lines = run(chain, last, 12);
        let block = &chain.lines[last]["block"];
        let answer = call(chain, "eth_feeHistory", json!(["0xc", block["number"], percentiles]))?;
        let next = chain.lines.get(last + 1).map(|line| &line["block"]);
        let follows = next.filter(|next| next["parentHash"] == block["hash"]);
        let next = follows.map_or_else(|| next_base_fee(block), |next| number(&next["baseFeePerGas"]));
        let fee = |line: &Value| format!("{:#x}", number(&line["block"]["baseFeePerGas"]));
        let fees: Vec<String> = lines.iter().map(fee).chain([format!("{next:#x}")]).collect();
        let paid: Vec<Vec<String>> = lines.iter().map(|line| rewards(line, &percentiles)).collect();
        let found = &answer["result"];
        ensure!(found["oldestBlock"] == lines[0]["block"]["number"], "{answer}");
        ensure!(found["baseFeePerGas"] == json!(fees), "{}: {answer} instead of {fees:?}", block["number"]);
        ensure!(found["reward"] == json!(paid), "{}: {answer} instead of {paid:?}", block["number"]);
    }
    Ok(())
}

/// What the receipts of a block say of its blob base fee.
#[test]
fn blob_fees_of_mainnet() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    ensure!(result(chain, "eth_blobBaseFee", json!([]))? == "0x1");
    let mut compared = 0;
    for line in &chain.lines {
        let paid = line["receipts"].as_array().into_iter().flatten().find_map(|receipt| receipt.get("blobGasPrice"));
        let Some(paid) = paid else { continue };
        let found = result(chain, "eth_feeHistory", json!([1, line["block"]["number"], []]))?;
        ensure!(found["baseFeePerBlobGas"][0] == *paid, "{}: {found} instead of {paid}", line["block"]["number"]);
        let full = found["blobGasUsedRatio"][0].as_f64().context("a ratio")?;
        let most = if number(&line["block"]["timestamp"]) < 1_746_612_311 { 6.0 } else { 9.0 };
        let expected = number(&line["block"]["blobGasUsed"]) as f64 / (most * 131_072.0);
        ensure!((full - expected).abs() < 1e-12, "{}: {full} instead of {expected}", line["block"]["number"]);
        compared += 1;
    }
    ensure!(compared >= 4, "only {compared} blocks");
    // Its genesis file has the schedule of blobs (EIP-7840); execution-apis expects this.
    ensure!(result(super::chain("hive"), "eth_blobBaseFee", json!([]))? == "0x1");
    Ok(())
}

#[test]
fn wrong_parameters_get_the_ruled_errors() -> anyhow::Result<()> {
    let cases = [
        (json!(["0x1"]), "Incorrect number of params"),
        (json!(["0x1", "latest", [], 1]), "Incorrect number of params"),
        (json!(["x", "latest"]), "Invalid integer"),
        (json!(["0x1", 5]), "Invalid block number"),
        (json!(["0x1", "latest", [5, 4]]), "invalid reward percentile"),
        (json!(["0x1", "latest", [101]]), "invalid reward percentile"),
        (json!(["0x1", "latest", "all"]), "invalid reward percentile"),
        (json!(["0x1", "0xffff", []]), "request beyond head block"),
    ];
    for (params, text) in cases {
        let answer = call(chain("hive"), "eth_feeHistory", params.clone())?;
        ensure!(answer["error"] == json!({"code": -32602, "message": text}), "{params}: {answer}");
    }
    let nothing = result(chain("hive"), "eth_feeHistory", json!(["0x0", "latest", []]))?;
    ensure!(nothing["gasUsedRatio"] == json!([]), "{nothing}");
    Ok(())
}

#[test]
fn nothing_to_compute_from_is_an_error() -> anyhow::Result<()> {
    let database = &env::migrate("empty_of_fees")?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("hive"), "--to", "0"]), 0)?;
    let api = env::start_api(database, &[])?;
    let answer = http::rpc(&http::agent(), &format!("{}/api/eth-rpc", api.url), "eth_blobBaseFee", &json!([]))?;
    ensure!(answer["error"] == json!({"code": -32002, "message": "block 0 has no blob gas"}), "{answer}");
    api.stop()?;
    Ok(())
}

/// What wallets ask before they send: never an error, whatever the fees of the chain and however few its blocks.
#[test]
fn young_and_private_chains_have_prices() -> anyhow::Result<()> {
    const GWEI: u128 = 1_000_000_000;
    // A base fee in each block; then what the next one has, or, by another rule than Ethereum's, what the newest has.
    let cases: [(&str, &str, u64, u128); 6] = [
        ("fees_genesis", "1000000000", 0, 1_125_000_000),
        ("fees_young", "intDiv(1000000000 * toUInt64(pow(9, number)), toUInt64(pow(8, number)))", 1, 1_265_625_000),
        ("fees_zero", "0", 5, 0),
        ("fees_constant", "7000000000", 5, 7_000_000_000),
        ("fees_none", "NULL", 5, 0),
        ("fees_other", "1000000000 + 20000000 * number", 5, 1_100_000_000),
    ];
    for (database, base_fee, last, next) in cases {
        let guard = env::migrate(database)?;
        let blocks = last + 1;
        env::sql(
            database,
            &format!(
                "INSERT INTO blocks (block_number, hash, timestamp, gas_limit, gas_used, base_fee_per_gas) \
                 SELECT number, toFixedString(toString(number + 1), 32), toDateTime64(1700000000 + number, 6, 'UTC'), 30000000, \
                 30000000, {base_fee} FROM numbers({blocks})"
            ),
        )?;
        let commit = format!("(0, {last}, ['blocks', 'receipts'], 31337, 'generated', 'test')");
        env::sql(
            database,
            &format!(
                "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) VALUES {commit}"
            ),
        )?;
        let api = env::start_api(database, &[])?;
        let ask = |method: &str, params: Value| -> anyhow::Result<Value> {
            let answer = http::rpc(&http::agent(), &format!("{}/rpc", api.url), method, &params)?;
            ensure!(answer["error"].is_null(), "{database} {method}: {answer}");
            Ok(answer["result"].clone())
        };
        ensure!(number(&ask("eth_maxPriorityFeePerGas", json!([]))?) == GWEI, "{database}");
        let price = number(&ask("eth_gasPrice", json!([]))?);
        // By an unknown rule there has to be room.
        let room = if database == "fees_other" { 2 * next } else { next };
        ensure!(price == GWEI + room, "{database}: {price}");
        let oracle =
            http::get(&http::agent(), &format!("{}/api?module=gastracker&action=gasoracle", api.url))?.json()?;
        let expected = alloy_primitives::utils::format_units(next, "gwei")?;
        let found = oracle["result"]["suggestBaseFee"].as_str().unwrap_or_default();
        ensure!(expected.parse::<f64>()? == found.parse::<f64>()?, "{database}: {oracle} instead of {expected}");
        let history = ask("eth_feeHistory", json!(["0x4", "latest", [25, 75]]))?;
        let fees = history["baseFeePerGas"].as_array().context("fees")?;
        let shown = usize::try_from(blocks.min(4))?;
        ensure!(fees.len() == shown + 1 && number(&fees[shown]) == next, "{database}: {history}");
        ensure!(history["reward"] == json!(vec![["0x0", "0x0"]; shown]), "{database}: {history}");
        api.stop()?;
        drop(guard);
    }
    Ok(())
}

tests! {
    prices_equal_the_receipts_hive: prices(chain("hive")),
    histories_equal_the_blocks_hive: histories(chain("hive")),
    prices_equal_the_receipts_mainnet: prices(chain("mainnet")),
    histories_equal_the_blocks_mainnet: histories(chain("mainnet")),
    prices_equal_the_receipts_devchain: prices(chain("devchain")),
    histories_equal_the_blocks_devchain: histories(chain("devchain")),
}
