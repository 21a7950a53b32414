//! Balances that transactions change, against what other implementations of the EVM reported for them.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::{http, workspace};

use crate::chains::{Chain, chain, lines, quantity};
use crate::env;
use crate::ingest::node::Node;
use crate::pages::{get, walk};
use crate::scenario::scenario;

/// Balances before and after a transaction, by account, where they differ.
type Balances = BTreeMap<String, (U256, U256)>;

/// A transaction and what was reported for it.
struct ReportedTransaction {
    hash: String,
    block: u64,
    fork: String,
    miner: String,
    balances: Balances,
}

fn number(value: &Value) -> anyhow::Result<U256> {
    Ok(value.as_str().context("a number")?.parse()?)
}

/// Balances in a difference as Parity tells it.
fn of_parity(changes: &Value) -> anyhow::Result<Balances> {
    let mut balances = Balances::new();
    for (address, account) in changes.as_object().context("accounts")? {
        let balance = &account["balance"];
        let of = |value: &Value| if value.is_null() { Ok(U256::ZERO) } else { number(value) };
        let both = match balance {
            Value::String(_) => continue,
            _ if balance["*"].is_object() => (number(&balance["*"]["from"])?, number(&balance["*"]["to"])?),
            _ => (of(&balance["-"])?, of(&balance["+"])?),
        };
        if both.0 != both.1 {
            balances.insert(address.to_lowercase(), both);
        }
    }
    Ok(balances)
}

fn reported_transactions() -> anyhow::Result<Vec<ReportedTransaction>> {
    let mut all = Vec::new();
    for line in lines("hive")? {
        for diff in line["txStateDiffs"].as_array().into_iter().flatten() {
            all.push(ReportedTransaction {
                hash: diff["txHash"].as_str().context("a hash")?.to_owned(),
                block: quantity(&line["block"]["number"]),
                fork: line["fork"].as_str().unwrap_or_default().to_owned(),
                miner: line["block"]["miner"].as_str().context("a miner")?.to_lowercase(),
                balances: of_parity(&diff["parity"])?,
            });
        }
    }
    ensure!(all.len() == 249, "{} transactions", all.len());
    Ok(all)
}

/// The items of coins, by account.
fn coins(items: &[Value]) -> anyhow::Result<BTreeMap<String, Value>> {
    let of_coins = items.iter().filter(|item| item["type"] == "coin");
    let by_account = |item: &Value| {
        ensure!(item["token"].is_null() && item["token_id"].is_null(), "{item}");
        Ok((item["address"]["hash"].as_str().context("an address")?.to_lowercase(), item.clone()))
    };
    let all: BTreeMap<String, Value> = of_coins.clone().map(by_account).collect::<anyhow::Result<_>>()?;
    ensure!(all.len() == of_coins.count(), "an account twice: {items:?}");
    Ok(all)
}

fn signed(before: U256, after: U256) -> String {
    if after >= before { (after - before).to_string() } else { format!("-{}", before - after) }
}

#[test]
fn match_another_evm_exactly() -> anyhow::Result<()> {
    let hive = chain("hive");
    let (mut exact, mut others) = (0, 0);
    for transaction in reported_transactions()? {
        let path = format!("transactions/{}/state-changes", transaction.hash);
        let items = walk(hive, &path, 100)?;
        let found = coins(&items)?;
        if transaction.fork == "constantinople" && found.values().all(|item| item["balance_after"].is_null()) {
            // Without Petersburg: its rules are not known here, so its fees are not either.
            others += 1;
            right_where_known(&transaction, &found)?;
            continue;
        }
        let expected: Vec<(&String, Value)> = transaction
            .balances
            .iter()
            .map(|(address, (before, after))| {
                let numbers = json!([before.to_string(), after.to_string(), signed(*before, *after)]);
                (address, json!([numbers, *address == transaction.miner]))
            })
            .collect();
        let numbers = |item: &Value| json!([item["balance_before"], item["balance_after"], item["change"]]);
        let found: Vec<(&String, Value)> =
            found.iter().map(|(address, item)| (address, json!([numbers(item), item["is_miner"]]))).collect();
        ensure!(found == expected, "{}: {found:?}, expected {expected:?}", transaction.hash);
        if exact % 9 == 0 {
            for size in [1, 2] {
                ensure!(walk(hive, &path, size)? == items, "{} in pages of {size}", transaction.hash);
            }
        }
        exact += 1;
    }
    ensure!((exact, others) == (239, 10), "{exact}, {others}");
    Ok(())
}

/// Changes that are reported are right; how many, and how many are not known.
fn right_where_known(
    transaction: &ReportedTransaction,
    found: &BTreeMap<String, Value>,
) -> anyhow::Result<(usize, usize)> {
    let (mut known, mut unknown) = (0, 0);
    for (address, item) in found {
        ensure!(item["is_miner"] == (*address == transaction.miner), "{item}");
        // The state before block 1 is that of the genesis.
        ensure!(
            transaction.block == 1 || item["balance_before"].is_null() && item["balance_after"].is_null(),
            "{item}"
        );
        let Some(change) = item["change"].as_str() else {
            unknown += 1;
            continue;
        };
        let (before, after) = transaction.balances.get(address).copied().unwrap_or_default();
        ensure!(change == signed(before, after), "{} {address}: {change}, expected {before} {after}", transaction.hash);
        known += 1;
    }
    Ok((known, unknown))
}

/// Loads the chain without its state, and asks for every transaction, in the ordinary run for every second one.
fn without_state(
    database: &str,
    flags: &[&str],
) -> anyhow::Result<Vec<(ReportedTransaction, BTreeMap<String, Value>)>> {
    let genesis = workspace::fixture("hive/genesis.json").display().to_string();
    let node = Node::start("hive", &[])?;
    let _database = env::migrate(database)?;
    let load = ["load", "--rpc-url", &node.url, "--state", "off", "--genesis", &genesis];
    env::run(env::ingest(database, &[&load, flags].concat()), 0)?;
    let api = env::start_api(database, &[])?;
    let mut all = Vec::new();
    for transaction in reported_transactions()?.into_iter().step_by(env::amount(2, 1)) {
        let path = format!("{}/api/v2/transactions/{}/state-changes?items_count=100", api.url, transaction.hash);
        let answer = http::get(&http::agent(), &path)?;
        ensure!(answer.status == 200, "{}", answer.text());
        let found = coins(answer.json()?["items"].as_array().context("items")?)?;
        all.push((transaction, found));
    }
    api.stop()?;
    Ok(all)
}

#[test]
fn without_state_are_those_of_value_fee_and_frames() -> anyhow::Result<()> {
    let (mut known, mut unknown) = (0, 0);
    for (transaction, found) in without_state("state_changes_frames", &[])? {
        let (right, left) = right_where_known(&transaction, &found)?;
        (known, unknown) = (known + right, unknown + left);
        // No account is left out.
        let missing: Vec<_> = transaction.balances.keys().filter(|address| !found.contains_key(*address)).collect();
        ensure!(
            missing.is_empty(),
            "{} {}: {missing:?} of {:?}",
            transaction.block,
            transaction.hash,
            transaction.balances
        );
    }
    ensure!(known > env::amount(200, 500) && unknown < env::amount(20, 40), "{known} known, {unknown} not");
    Ok(())
}

#[test]
fn without_frames_are_unknown_where_code_may_have_run() -> anyhow::Result<()> {
    let (mut known, mut unknown) = (0, 0);
    for (transaction, found) in without_state("state_changes_alone", &["--traces", "off"])? {
        let (right, left) = right_where_known(&transaction, &found)?;
        (known, unknown) = (known + right, unknown + left);
    }
    ensure!(known > env::amount(3, 20) && unknown > env::amount(120, 300), "{known} known, {unknown} not");
    Ok(())
}

/// What the scenario's node reported for its transactions: creations, reverts, delegations.
#[test]
fn of_the_scenario_match_its_node() -> anyhow::Result<()> {
    let api = &scenario().api;
    let mut compared = 0;
    for line in lines("devchain")?.iter().step_by(4) {
        for diff in line["txStateDiffs"].as_array().into_iter().flatten() {
            let hash = diff["txHash"].as_str().context("a hash")?;
            let answer =
                http::get(&http::agent(), &format!("{api}/api/v2/transactions/{hash}/state-changes?items_count=100"))?;
            let found = coins(answer.json()?["items"].as_array().context("items")?)?;
            let (pre, post) = (&diff["prestateDiff"]["pre"], &diff["prestateDiff"]["post"]);
            for (address, account) in post.as_object().context("accounts")? {
                let Some(after) = account["balance"].as_str() else { continue };
                let before =
                    if pre[address]["balance"].is_null() { U256::ZERO } else { number(&pre[address]["balance"])? };
                let after: U256 = after.parse()?;
                if before == after {
                    continue;
                }
                let item = found.get(&address.to_lowercase()).with_context(|| format!("{hash}: {address}"))?;
                ensure!(item["balance_before"] == before.to_string(), "{hash} {item}, expected {before}");
                ensure!(item["balance_after"] == after.to_string(), "{hash} {item}, expected {after}");
                compared += 1;
            }
        }
    }
    ensure!(compared > 150, "{compared} balances");
    Ok(())
}

/// What addresses gave and received of tokens, by address, token and id.
type Net = BTreeMap<(String, String, String), (U256, U256)>;

/// Net amounts from the list of the transaction's transfers.
fn net(chain: &Chain, hash: &str) -> anyhow::Result<Net> {
    let mut net = Net::new();
    for transfer in walk(chain, &format!("transactions/{hash}/token-transfers"), 100)? {
        let total = &transfer["total"];
        let value = if total["value"].is_null() { U256::from(1) } else { number(&total["value"])? };
        let id = total["token_id"].as_str().unwrap_or_default().to_owned();
        let token = transfer["token"]["address_hash"].as_str().context("a token")?.to_lowercase();
        for (side, is_sender) in [("from", true), ("to", false)] {
            let address = transfer[side]["hash"].as_str().context("an address")?.to_lowercase();
            let sums = net.entry((address, token.clone(), id.clone())).or_default();
            if is_sender { sums.0 += value } else { sums.1 += value }
        }
    }
    net.retain(|(address, _, _), (given, received)| given != received && !address.ends_with(&"0".repeat(40)));
    Ok(net)
}

#[test]
fn of_tokens_are_the_sums_of_transfers() -> anyhow::Result<()> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut hidden = 0;
    for name in ["devchain", "mainnet"] {
        let chain = chain(name);
        let receipts = chain.lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
        let with_logs = receipts.filter(|receipt| receipt["logs"].as_array().is_some_and(|logs| !logs.is_empty()));
        for receipt in with_logs.step_by(if name == "mainnet" { 40 } else { 3 }) {
            let hash = receipt["transactionHash"].as_str().context("a hash")?;
            let path = format!("transactions/{hash}/state-changes");
            let items = walk(chain, &path, 100)?;
            ensure!(walk(chain, &path, 3)? == items, "{hash} in pages of 3");
            let mut expected = net(chain, hash)?;
            for item in items.iter().filter(|item| item["type"] == "token") {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_lowercase();
                let key =
                    (text(&item["address"]["hash"]), text(&item["token"]["address_hash"]), text(&item["token_id"]));
                let (given, received) = expected.remove(&key).with_context(|| format!("{hash}: {item}"))?;
                ensure!(item["is_miner"] == false && item["balance_before"].is_null(), "{item}");
                match item["change"].as_str() {
                    Some(change) => ensure!(change == signed(given, received), "{item}, {given} {received}"),
                    // The node says that transfers do not tell it.
                    None => hidden += 1,
                }
                *kinds.entry(item["token"]["type"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
            }
            ensure!(expected.is_empty(), "{hash}: {expected:?}");
        }
    }
    ensure!(kinds.len() == 3 && kinds.values().all(|count| *count > 3) && hidden > 0, "{kinds:?}, {hidden} hidden");
    Ok(())
}

#[test]
fn of_what_is_wrong_are_refused() -> anyhow::Result<()> {
    let hive = chain("hive");
    let hash = reported_transactions()?[0].hash.clone();
    let unknown = format!("0x{}", "12".repeat(32));
    for (path, status) in [
        ("0x12/state-changes".to_owned(), 422),
        (format!("{unknown}/state-changes"), 404),
        (format!("{hash}/state-changes?state_changes=x"), 422),
        (format!("{hash}/state-changes?state_changes=4_0x{}", "0".repeat(40)), 422),
        (format!("{hash}/state-changes?state_changes=9_0x{}", "0".repeat(40)), 422),
        (format!("{hash}/state-changes?index=1"), 422),
        (format!("{hash}/state-changes?state_changes=0_0x{}", "0".repeat(40)), 200),
    ] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/transactions/{path}", hive.api))?;
        ensure!(answer.status == status, "{path}: {} {}", answer.status, answer.text());
    }
    ensure!(get(hive, &format!("transactions/{hash}/state-changes"))?["next_page_params"].is_null());
    Ok(())
}
