//! Holders and supply of tokens: what a node says of them by `eth_call`, however the chain was loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use trawl_core::primitives::U256;
use xtask::{process, workspace};

use super::proxy::{Phase, Proxy};
use crate::chains::{chain, dump};
use crate::dice::Dice;
use crate::env;

/// The newest rows of both tables as text; those by holder are the same.
pub(super) fn newest(database: &str) -> anyhow::Result<(String, String)> {
    let balances = "SELECT lower(hex(token_address)), token_type, lower(hex(holder)), max(block_number), argMax(balance, block_number)
                    FROM token_balances GROUP BY ALL ORDER BY ALL";
    let statistics = "SELECT lower(hex(token_address)), token_type, max(block_number), argMax((holders_count, total_supply), block_number)
                      FROM token_statistics GROUP BY ALL ORDER BY ALL";
    let found = env::sql(database, balances)?;
    let by_holder = env::sql(database, &balances.replace("token_balances", "token_balances_by_holder"))?;
    ensure!(by_holder == found, "{database}: by holder {by_holder}, by token {found}");
    let ids = "SELECT lower(hex(holder)), lower(hex(token_address)), token_type, token_id, max(block_number),
                 argMax((balance, lower(hex(owner))), block_number)
               FROM token_id_balances GROUP BY ALL ORDER BY ALL";
    let found = found + &env::sql(database, ids)?;
    Ok((found, env::sql(database, statistics)?))
}

pub(super) fn reach(database: &str) -> anyhow::Result<Value> {
    let output = env::run(env::ingest(database, &["status", "--json"]), 0)?;
    let status: Value = serde_json::from_slice(&output.stdout)?;
    Ok(status["token_statistics"].clone())
}

/// By token: holders and supply, `\N` where they are unknown.
fn statistics(database: &str) -> anyhow::Result<BTreeMap<String, (String, String)>> {
    let sql = "SELECT lower(hex(token_address)), argMax((holders_count, total_supply), block_number) AS newest, newest.1, newest.2
               FROM token_statistics GROUP BY token_address";
    let rows = env::sql(database, sql)?;
    let row = |line: &str| -> Option<(String, (String, String))> {
        let columns: Vec<&str> = line.split('\t').collect();
        Some((columns.first()?.to_string(), (columns.get(2)?.to_string(), columns.get(3)?.to_string())))
    };
    rows.lines().map(|line| row(line).with_context(|| line.to_owned())).collect()
}

/// The scenario's node was queried for the balance of every account and contract, and for the owner of every token.
#[test]
fn are_what_the_node_says_by_calls() -> anyhow::Result<()> {
    let database = chain("devchain").name;
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let found = statistics(database)?;
    let of = |token: &str| {
        let token = token.trim_start_matches("0x").to_lowercase();
        found.get(&token).with_context(|| format!("no statistics of {token}"))
    };
    ensure!(reach(database)? == 91);
    for (token, entry) in expected["erc20"].as_object().context("tokens")? {
        let (holders, supply) = of(token)?;
        // Deposits and withdrawals make and take coins without a transfer.
        if entry["label"] == "Wrapped" {
            ensure!(holders == "\\N" && supply == "\\N", "{token}: {holders} {supply}");
            continue;
        }
        ensure!(entry["totalSupply"] == supply.as_str(), "{token}: {supply} instead of {entry}");
        let amounts = entry["balances"].as_object().context("balances")?;
        let amounts = amounts.values().map(|amount| Ok(amount.as_str().context("an amount")?.parse::<U256>()?));
        let amounts: Vec<U256> = amounts.collect::<anyhow::Result<_>>()?;
        // The balances of all holders were recorded.
        ensure!(entry["totalSupply"] == amounts.iter().sum::<U256>().to_string(), "{token}: {entry}");
        let count = amounts.iter().filter(|amount| !amount.is_zero()).count();
        ensure!(holders == &count.to_string(), "{token}: {holders} holders instead of {count}");
    }
    for (token, entry) in expected["erc721"].as_object().context("tokens")? {
        let (holders, supply) = of(token)?;
        // Minted many at once without a transfer each (ERC-2309).
        if entry["label"] == "Batch721" {
            ensure!(holders == "\\N" && supply == "\\N", "{token}: {holders} {supply}");
            continue;
        }
        let owners = entry["owners"].as_object().context("owners")?;
        let distinct: BTreeSet<String> = owners.values().map(|owner| owner.to_string().to_lowercase()).collect();
        let found = (holders.as_str(), supply.as_str());
        ensure!(
            found == (&*distinct.len().to_string(), &*owners.len().to_string()),
            "{token}: {found:?} instead of {entry}"
        );
    }
    for (token, entry) in expected["erc1155"].as_object().context("tokens")? {
        let (holders, supply) = of(token)?;
        let has_some =
            |amounts: &Value| amounts.as_object().is_some_and(|ids| ids.values().any(|amount| amount != "0"));
        let count = entry.as_object().context("owners")?.values().filter(|amounts| has_some(amounts)).count();
        ensure!(supply == "\\N" && holders == &count.to_string(), "{token}: {holders} instead of {count}, {supply}");
    }
    Ok(())
}

#[test]
fn do_not_depend_on_how_the_chain_was_loaded() -> anyhow::Result<()> {
    let database = &env::migrate("statistics_in_steps")?;
    for (from, to) in [("0", "17"), ("40", "91"), ("18", "26"), ("27", "91")] {
        env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--from", from, "--to", to]), 0)?;
        // Never over the gap.
        let expected = if to == "91" && from != "27" { "17" } else { to };
        ensure!(reach(database)? == expected.parse::<u64>()?, "after {from}-{to}: {}", reach(database)?);
    }
    ensure!(newest(database)? == newest(chain("devchain").name)?);
    Ok(())
}

#[test]
fn of_a_chain_without_its_beginning_are_unknown() -> anyhow::Result<()> {
    let database = &env::migrate("statistics_no_beginning")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--from", "10"]), 0)?;
    ensure!(reach(database)?.is_null());
    ensure!(newest(database)? == (String::new(), String::new()));
    Ok(())
}

/// What a step says to ClickHouse.
const STEPS: [&str; 9] = [
    "TRUNCATE TABLE token_balance_changes",
    "TRUNCATE TABLE token_id_changes",
    "INTO token_id_changes",
    "INTO token_balance_changes",
    "INTO token_balances",
    "INTO token_id_balances",
    "INTO token_statistics",
    "INTO token_steps",
    "FROM token_steps",
];

/// Loads of a part of the chain each, killed before, amid or after a step of the count; in the ordinary run amid one
/// step and after the next.
#[test]
fn are_the_same_after_kills_at_every_step() -> anyhow::Result<()> {
    let database = &env::migrate("statistics_killed")?;
    let mut dice = Dice(17);
    let both = STEPS.iter().flat_map(|step| [Phase::Amid, Phase::After].map(|phase| (*step, phase)));
    let of_turn = |(turn, _): &(usize, (&str, Phase))| env::is_slow_run() || matches!(turn % 4, 0 | 3);
    let mut plan: Vec<(&'static str, Phase)> = both.enumerate().filter(of_turn).map(|(_, kill)| kill).collect();
    // Before any other step is after the one ahead of it.
    plan.push((STEPS[0], Phase::Before));
    let (mut killed, mut last) = (0, 5);
    while !plan.is_empty() {
        let (step, phase) = plan.swap_remove(dice.roll(plan.len()));
        let proxy = Proxy::start(env::store())?;
        let to = last.to_string();
        let arguments = ["load", "--dump", &dump("devchain"), "--to", &to];
        let child =
            env::ingest_at(&proxy.url, database, &arguments).stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
        let process = child.id();
        proxy.at(step, 1 + u64::from(step == "INTO token_steps" && phase == Phase::After), phase, move || {
            drop(process::signal(process, libc::SIGKILL));
        });
        killed += u32::from(process::output_within(child, env::LONGEST)?.status.code().is_none());
        last = (last + 3).min(90);
    }
    ensure!(killed > if env::is_slow_run() { 6 } else { 3 }, "only {killed} were killed");
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    ensure!(reach(database)? == 91);
    ensure!(newest(database)? == newest(chain("devchain").name)?, "after {killed} kills");
    Ok(())
}

#[test]
fn are_extended_by_whoever_follows() -> anyhow::Result<()> {
    let database = &env::migrate("statistics_followed")?;
    let node = super::node::Node::start("devchain", &[])?;
    let arguments =
        ["follow", "--rpc-url", &node.url, "--poll-interval-ms", "50", "--settle-blocks", "1", "--state", "off"];
    let mut child =
        env::ingest(database, &[&arguments[..], &["--final-after", "10"]].concat()).stderr(Stdio::null()).spawn()?;
    let caught_up = env::eventually(Duration::from_secs(60), || {
        let settled = env::sql(database, "SELECT max(last_block) FROM ingest_commits")?;
        Ok(settled.parse::<u64>()? > 40 && reach(database)? == settled.parse::<u64>()?)
    });
    process::signal(child.id(), libc::SIGTERM)?;
    process::wait_within(&mut child, env::LONGEST)?;
    caught_up?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    ensure!(newest(database)? == newest(chain("devchain").name)?);
    Ok(())
}
