//! `module=stats`, `module=gastracker` and rewards of blocks, against headers, receipts and traces of the nodes.

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::ask;
use super::days::ensure_day;
use super::examples::DAILY;
use super::transactions::lower;
use crate::chains::{Chain, chain, dump, quantity};
use crate::env;

pub fn number(value: &Value) -> U256 {
    U256::from_str_radix(value.as_str().unwrap_or_default().trim_start_matches("0x"), 16).unwrap_or_default()
}

/// What the transactions of a block paid.
pub fn fees(line: &Value) -> U256 {
    let receipts = line["receipts"].as_array().into_iter().flatten();
    receipts.map(|receipt| number(&receipt["gasUsed"]) * number(&receipt["effectiveGasPrice"])).sum()
}

#[test]
fn rewards_of_blocks_are_those_the_nodes_traced() -> anyhow::Result<()> {
    let mut uncles = 0;
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        for line in chain.lines.iter().skip(1).step_by(3) {
            let block = &line["block"];
            let height = quantity(&block["number"]);
            let found = ask(&chain.api, &format!("module=block&action=getblockreward&blockno={height}"))?;
            let reward = &found["result"];
            let is_mined = number(&block["difficulty"]) > U256::ZERO;
            let traced = line["parityRewards"].as_array().into_iter().flatten().map(|reward| &reward["action"]);
            let traced: Vec<&Value> = traced.filter(|_| is_mined).collect();
            let of = |kind: &str| traced.iter().filter(|one| one["rewardType"] == kind).copied().collect::<Vec<_>>();
            let stated: U256 = of("block").iter().map(|one| number(&one["value"])).sum();
            let burnt = number(&block["baseFeePerGas"]) * number(&block["gasUsed"]);
            let due = stated + fees(line) - burnt;
            ensure!(reward["blockReward"] == json!(due.to_string()), "{name} {height}: {found}, due {due}");
            ensure!(reward["blockMiner"] == lower(&block["miner"]), "{name} {height}: {found}");
            let of_uncles = of("uncle");
            let expected: Vec<Value> = of_uncles
                .iter()
                .enumerate()
                .map(|(position, one)| {
                    let (miner, amount) = (lower(&one["author"]), number(&one["value"]).to_string());
                    json!({"miner": miner, "unclePosition": position.to_string(), "blockreward": amount})
                })
                .collect();
            ensure!(reward["uncles"] == json!(expected), "{name} {height}: {found}, expected {expected:?}");
            let inclusion = number(&reward["uncleInclusionReward"]);
            ensure!(inclusion.is_zero() == expected.is_empty(), "{name} {height}: {found}");
            uncles += expected.len();
        }
    }
    ensure!(uncles > 0, "no uncles");
    let above = ask(&chain("hive").api, "module=block&action=getblockreward&blockno=99999999")?;
    ensure!(above["status"] == "0" && above["message"] == "No record found", "{above}");
    let missing = ask(&chain("mainnet").api, "module=block&action=getblockreward&blockno=7")?;
    ensure!(missing["status"] == "2", "{missing}");
    Ok(())
}

/// The middle one is the price that the same setting gives as `eth_gasPrice`.
#[test]
fn the_oracle_of_gas_agrees_with_json_rpc() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let found = ask(&chain.api, "module=gastracker&action=gasoracle")?;
        let oracle = &found["result"];
        let gwei = |value: &Value| value.as_str().and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let price = http::rpc(&http::agent(), &chain.rpc(), "eth_gasPrice", &json!([]))?;
        let price = number(&price["result"]).to::<u128>() as f64 / 1e9;
        ensure!((gwei(&oracle["ProposeGasPrice"]) - price).abs() < 1e-9, "{name}: {found}, {price}");
        let prices =
            ["suggestBaseFee", "SafeGasPrice", "ProposeGasPrice", "FastGasPrice"].map(|key| gwei(&oracle[key]));
        ensure!(prices.windows(2).all(|pair| pair[0] <= pair[1]), "{name}: {found}");
        ensure!(oracle["LastBlock"] == json!(chain.head().to_string()), "{name}: {found}");
        let ratios: Vec<f64> =
            oracle["gasUsedRatio"].as_str().context("text")?.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let last = chain.lines.last().map(|line| &line["block"]).context("a block")?;
        let full = quantity(&last["gasUsed"]) as f64 / quantity(&last["gasLimit"]) as f64;
        ensure!(ratios.len() == 5 && (ratios[4] - full).abs() < 1e-12, "{name}: {found}, {full}");
    }
    Ok(())
}

/// The recorded chains are shorter than a day, so the later part of one is moved to the next.
#[test]
fn fees_of_a_day_are_the_sum_of_its_receipts() -> anyhow::Result<()> {
    let database = "etherscan_days";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    env::sql(
        database,
        "ALTER TABLE blocks UPDATE timestamp = timestamp + INTERVAL 1 DAY WHERE block_number >= 60 SETTINGS mutations_sync = 1",
    )?;
    let api = env::start_api(database, &[])?;
    let chain: &Chain = chain("devchain");
    let due: U256 = chain.lines[..60].iter().map(fees).sum();
    ensure!(due > U256::ZERO);
    let total = |date: &str| ask(&api.url, &format!("module=stats&action=totalfees&date={date}"));
    let found = total("2023-11-14")?;
    ensure!(found == json!({"status": "1", "message": "OK", "result": due.to_string()}), "{found}, due {due}");
    for (date, message) in [
        ("2023-11-15", "The blocks of this day are not all known yet"),
        ("2023-14-11", "Invalid date"),
        ("1969-12-31", "Invalid date"),
        ("", "Query parameter 'date' is required"),
    ] {
        let refused = total(date)?;
        let text = refused["message"].as_str().unwrap_or_default();
        ensure!(refused["status"] == "0" && text.starts_with(message), "{date}: {refused}");
    }
    for action in DAILY {
        let query = format!("module=stats&action={action}&startdate=2023-11-14&enddate=2023-11-15");
        let (up, down) = (ask(&api.url, &query)?, ask(&api.url, &format!("{query}&sort=desc"))?);
        let rows = up["result"].as_array().with_context(|| format!("{up}"))?;
        ensure!(up["status"] == "1" && rows.len() == 2, "{action}: {up}");
        ensure!(down["result"] == json!(rows.iter().rev().collect::<Vec<_>>()), "{action}: {down}");
        ensure!(rows[0]["unixTimeStamp"] == "1699920000" && rows[1]["UTCDate"] == "2023-11-15", "{action}: {up}");
        ensure_day(&rows[0], action, &chain.lines[..60])?;
        ensure_day(&rows[1], action, &chain.lines[60..])?;
    }
    api.stop()?;
    let missing = ask(&self::chain("mainnet").api, "module=stats&action=totalfees&date=2020-01-01")?;
    ensure!(missing["status"] == "2", "{missing}");
    Ok(())
}

#[test]
fn the_supply_of_a_token_is_that_of_its_page() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let tokens =
        env::sql(chain.name, "SELECT DISTINCT '0x' || lower(hex(token_address)) FROM token_transfers_by_block")?;
    let mut known = 0;
    for token in tokens.lines() {
        let page = http::get(&http::agent(), &format!("{}/api/v2/tokens/{token}", chain.api))?.json()?;
        let found = ask(&chain.api, &format!("module=stats&action=tokensupply&contractaddress={token}"))?;
        if page["total_supply"].is_null() {
            ensure!(found["message"] == "The supply of this token is not known", "{found}");
        } else {
            ensure!(found["result"] == page["total_supply"], "{found}, {page}");
            known += 1;
        }
    }
    ensure!(known > 0, "no supply is known of\n{tokens}");
    for action in ["ethsupply", "ethprice"] {
        let refused = ask(&chain.api, &format!("module=stats&action={action}"))?;
        ensure!(refused["status"] == "0" && lower(&refused["message"]).ends_with("is not known here"), "{refused}");
    }
    Ok(())
}
