//! `module=stats&action=daily…`: what the headers, receipts and rewards of the nodes add up to.

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::ask;
use super::examples::DAILY;
use super::stats::{fees, number};
use crate::chains::{chain, quantity};

/// Wei, of an amount of coins.
fn wei(coins: &Value) -> anyhow::Result<U256> {
    let text = coins.as_str().with_context(|| format!("{coins}"))?;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    Ok(format!("{whole}{rest:0<18}").parse()?)
}

fn sum(lines: &[Value], of: impl Fn(&Value) -> U256) -> U256 {
    lines.iter().map(of).sum()
}

/// Rewards of a kind that the node states of mined blocks.
fn stated(line: &Value, kind: &str) -> Vec<U256> {
    let is_mined = !number(&line["block"]["difficulty"]).is_zero();
    let rewards = line["parityRewards"].as_array().into_iter().flatten().map(|reward| &reward["action"]);
    rewards.filter(|one| is_mined && one["rewardType"] == kind).map(|one| number(&one["value"])).collect()
}

fn float(number: U256) -> f64 {
    f64::from(number)
}

/// The figure of a day that an action is due to state of blocks: names and text, amounts of coins in wei.
fn due(action: &str, lines: &[Value]) -> Vec<(&'static str, String)> {
    let count = lines.len() as u64;
    let of_header = |name: &'static str| sum(lines, |line| number(&line["block"][name]));
    let time = |line: &Value| quantity(&line["block"]["timestamp"]) as f64;
    let seconds = (time(&lines[lines.len() - 1]) - time(&lines[0])) / (count - 1) as f64;
    let of_kind = |kind: &'static str| sum(lines, |line| stated(line, kind).into_iter().sum());
    let unburnt =
        sum(lines, |line| fees(line) - number(&line["block"]["baseFeePerGas"]) * number(&line["block"]["gasUsed"]));
    let receipts = || lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    let prices: Vec<U256> = receipts().map(|receipt| number(&receipt["effectiveGasPrice"])).collect();
    let price = |of: Option<U256>| of.unwrap_or_default().to_string();
    let difficulty = float(of_header("difficulty")) / count as f64;
    match action {
        "dailytx" => vec![("transactionCount", prices.len().to_string())],
        "dailytxnfee" => vec![("transactionFee_Eth", sum(lines, fees).to_string())],
        "dailyavgblocksize" => vec![("blockSize_bytes", (float(of_header("size")) / count as f64).round().to_string())],
        "dailyavgblocktime" => vec![("blockTime_sec", format!("{seconds:.2}"))],
        "dailyavggaslimit" => vec![("gasLimit", (of_header("gasLimit") / U256::from(count)).to_string())],
        "dailygasused" => vec![("gasUsed", of_header("gasUsed").to_string())],
        "dailynetutilization" => {
            vec![("networkUtilization", format!("{:.4}", float(of_header("gasUsed")) / float(of_header("gasLimit"))))]
        }
        "dailyavggasprice" => vec![
            ("maxGasPrice_Wei", price(prices.iter().max().copied())),
            ("minGasPrice_Wei", price(prices.iter().min().copied())),
            ("avgGasPrice_Wei", price(prices.iter().copied().sum::<U256>().checked_div(U256::from(prices.len())))),
        ],
        "dailyavghashrate" => vec![("networkHashRate", format!("{:.4}", difficulty / seconds / 1e9))],
        "dailyavgnetdifficulty" => vec![("networkDifficulty", format!("{:.3}", difficulty / 1e12))],
        "dailyblkcount" => {
            vec![("blockCount", count.to_string()), ("blockRewards_Eth", (of_kind("block") + unburnt).to_string())]
        }
        "dailyblockrewards" => vec![("blockRewards_Eth", (of_kind("block") + of_kind("uncle")).to_string())],
        _ => vec![
            ("uncleBlockCount", lines.iter().map(|line| stated(line, "uncle").len()).sum::<usize>().to_string()),
            ("uncleBlockRewards_Eth", of_kind("uncle").to_string()),
        ],
    }
}

/// Holds the row of a day against the blocks that the day has.
pub fn ensure_day(row: &Value, action: &str, lines: &[Value]) -> anyhow::Result<()> {
    for (name, due) in due(action, lines) {
        let found = match (&row[name], name.ends_with("_Eth")) {
            (coins, true) => wei(coins)?.to_string(),
            (Value::String(text), _) => text.clone(),
            (other, _) => other.to_string(),
        };
        ensure!(found == due, "{action}: {row}, due {name} {due}");
    }
    Ok(())
}

/// The mined blocks, the others and the uncles of this chain are of one day.
#[test]
fn figures_of_a_day_are_what_its_blocks_add_up_to() -> anyhow::Result<()> {
    let chain = chain("hive");
    ensure!(chain.lines.iter().any(|line| !stated(line, "uncle").is_empty()), "no uncles");
    for action in DAILY {
        let ask = |days: &str| ask(&chain.api, &format!("module=stats&action={action}&{days}"));
        let found = ask("startdate=1970-01-01&enddate=1970-01-03")?;
        let rows = found["result"].as_array().with_context(|| format!("{found}"))?;
        ensure!(found["status"] == "1" && rows.len() == 1, "{action}: {found}");
        ensure!(rows[0]["UTCDate"] == "1970-01-01" && rows[0]["unixTimeStamp"] == "0", "{found}");
        ensure_day(&rows[0], action, &chain.lines)?;
        let later = ask("startdate=1970-01-02&enddate=2026-01-01")?;
        ensure!(later == json!({"status": "0", "message": "No records found", "result": []}), "{later}");
        for (days, message) in [
            ("startdate=1970-01-02&enddate=1970-01-01", "Invalid enddate"),
            ("startdate=1970-01-02", "Query parameter 'enddate' is required"),
            ("startdate=1970-13-02&enddate=1970-12-01", "Invalid startdate"),
            ("startdate=1970-01-01&enddate=1970-01-02&sort=up", "Invalid sort"),
        ] {
            let refused = ask(days)?;
            let text = refused["message"].as_str().unwrap_or_default();
            ensure!(refused["status"] == "0" && text.starts_with(message), "{action} {days}: {refused}");
        }
    }
    Ok(())
}

/// Most blocks of the mainnet days are not loaded.
#[test]
fn days_whose_blocks_are_missing_are_not_listed() -> anyhow::Result<()> {
    for action in DAILY {
        let query = format!("module=stats&action={action}&startdate=2015-07-30&enddate=2015-08-08");
        let missing = ask(&chain("mainnet").api, &query)?;
        ensure!(missing["status"] == "2" && missing["result"] == json!([]), "{action}: {missing}");
    }
    Ok(())
}
