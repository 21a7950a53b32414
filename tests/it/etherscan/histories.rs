//! What accounts had after earlier blocks: coins as JSON-RPC says, which `golden` and `rpc` hold against nodes; tokens
//! as the logs of the node add up.

use std::collections::BTreeSet;

use alloy_primitives::U256;
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::ask;
use super::transactions::lower;
use super::transfers::{Transfer, all};
use crate::chains::{Chain, chain, quantity};
use crate::transactions::{busiest, node_transactions};

#[test]
fn balances_are_those_after_the_requested_block() -> anyhow::Result<()> {
    let chain = chain("hive");
    let accounts: Vec<String> =
        busiest(&node_transactions(chain)).into_iter().take(3).map(|(account, _)| account).collect();
    let ask = |query: &str| ask(&chain.api, &format!("module=account&action={query}"));
    let mut different = BTreeSet::new();
    for height in (0..=chain.head()).step_by(9) {
        let mut due = Vec::new();
        for account in &accounts {
            let found =
                http::rpc(&http::agent(), &chain.rpc(), "eth_getBalance", &json!([account, format!("{height:#x}")]))?;
            let balance = lower(&found["result"]);
            let digits = U256::from_str_radix(balance.trim_start_matches("0x"), 16)?.to_string();
            for query in [
                format!("balance&address={account}&tag={height}"),
                format!("balance&address={account}&tag={height:#X}"),
                format!("balancehistory&address={account}&blockno={height}"),
            ] {
                let found = ask(&query)?;
                ensure!(found == json!({"status": "1", "message": "OK", "result": digits}), "{query}: {found}");
            }
            let hex = ask(&format!("eth_get_balance&address={account}&block={height}&id=5"))?;
            ensure!(hex == json!({"jsonrpc": "2.0", "id": 5, "result": balance}), "{hex}");
            different.insert((account, digits.clone()));
            due.push(json!({"account": account, "balance": digits}));
        }
        let many = ask(&format!("balancemulti&address={}&tag={height}", accounts.join(",")))?;
        ensure!(many["result"] == json!(due), "{many}");
    }
    ensure!(different.len() > 2 * accounts.len(), "{different:?}");
    let first = ask(&format!("balance&address={}&tag=earliest", accounts[0]))?;
    ensure!(first == ask(&format!("balance&address={}&tag=0", accounts[0]))?, "{first}");
    let newest = ask(&format!("balance&address={}", accounts[0]))?;
    ensure!(newest == ask(&format!("balance&address={}&tag=latest", accounts[0]))?, "{newest}");
    for action in ["balance&tag", "balancehistory&blockno"] {
        let above = ask(&format!("{action}={}&address={}", chain.head() + 1, accounts[0]))?;
        ensure!(above["status"] == "0" && above["message"] == "Block does not exist", "{above}");
    }
    Ok(())
}

/// What an account has of a token after a block, by the transfers of the node.
fn held(transfers: &[&Transfer], account: &str, height: u64) -> anyhow::Result<U256> {
    let mut held = U256::ZERO;
    for Transfer { row, .. } in transfers {
        let value: U256 = lower(&row["value"]).parse()?;
        if lower(&row["blockNumber"]).parse::<u64>()? > height {
            break;
        }
        held += if row["to"] == account { value } else { U256::ZERO };
        held -= if row["from"] == account { value } else { U256::ZERO };
    }
    Ok(held)
}

/// On the scenario chain with its state: tokens after the newest block and after earlier ones.
pub fn of_tokens_are_what_the_node_says(api: &str) -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let (transfers, mut earlier) = (all(chain)?, 0);
    let ask = |query: String| ask(api, &format!("module={query}"));
    for (token, of_token) in expected["erc20"].as_object().context("tokens")? {
        let (token, head) = (token.to_lowercase(), chain.head());
        let supply = ask(format!("stats&action=tokensupplyhistory&contractaddress={token}&blockno={head}"))?;
        ensure!(supply["result"] == of_token["totalSupply"], "{token}: {supply}, expected {of_token}");
        let of_token_moves: Vec<&Transfer> =
            transfers.iter().filter(|one| one.action == "tokentx" && one.row["contractAddress"] == *token).collect();
        for (holder, balance) in of_token["balances"].as_object().into_iter().flatten() {
            let query = format!("contractaddress={token}&address={}", holder.to_lowercase());
            let now = ask(format!("account&action=tokenbalancehistory&{query}&blockno={head}"))?;
            ensure!(now["result"] == *balance, "{query}: {now}, expected {balance}");
            // Deposits of this one are no transfers.
            if of_token["label"] == "Wrapped" {
                continue;
            }
            for height in [head / 3, head / 2, head - 1] {
                let found = ask(format!("account&action=tokenbalancehistory&{query}&blockno={height}"))?;
                let tagged = ask(format!("account&action=tokenbalance&{query}&tag={height:#x}"))?;
                ensure!(found == tagged, "{query}: {found}, by tag {tagged}");
                let due = held(&of_token_moves, &holder.to_lowercase(), height)?;
                match found["status"] == "1" {
                    true => ensure!(found["result"] == due.to_string(), "{query} at {height}: {found}, due {due}"),
                    // The contract was not there yet.
                    false => ensure!(due.is_zero(), "{query} at {height}: {found}, due {due}"),
                }
                earlier += usize::from(!due.is_zero() && due.to_string() != *balance);
            }
        }
    }
    ensure!(earlier > 0, "no balance changed");
    Ok(())
}

/// A first gift of the node's call frames: block, giver and value.
type FirstFunding = (u64, String, U256);

/// The values that frames move which were not undone, in the order of execution.
fn gifts(frame: &Value, block: u64, gifts: &mut Vec<(String, FirstFunding)>) {
    if frame["error"].is_string() {
        return;
    }
    let kind = lower(&frame["type"]);
    let value = U256::from_str_radix(lower(&frame["value"]).trim_start_matches("0x"), 16).unwrap_or_default();
    if !["delegatecall", "staticcall", "callcode"].contains(&&*kind) && !value.is_zero() {
        gifts.push((lower(&frame["to"]), (block, lower(&frame["from"]), value)));
    }
    frame["calls"].as_array().into_iter().flatten().for_each(|below| self::gifts(below, block, gifts));
}

/// Accounts are funded by the first frame of the node's trees that gave them something.
#[test]
fn accounts_are_funded_by_who_first_gave() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain: &Chain = chain(name);
        let mut all = Vec::new();
        for line in &chain.lines {
            let block = quantity(&line["block"]["number"]);
            line["traces"].as_array().into_iter().flatten().for_each(|trace| gifts(&trace["result"], block, &mut all));
        }
        let receivers: BTreeSet<&String> = all.iter().map(|(receiver, _)| receiver).collect();
        ensure!(receivers.len() > 4, "{name}: {receivers:?}");
        for receiver in receivers {
            let due = all.iter().find(|(to, (_, from, _))| to == receiver && from != receiver).map(|(_, gift)| gift);
            let found = ask(&chain.api, &format!("module=account&action=fundedby&address={receiver}"))?;
            let result = &found["result"];
            match due {
                Some((block, giver, value)) => {
                    ensure!(
                        result["block"] == *block && result["fundingAddress"] == **giver,
                        "{receiver}: {found}, due {due:?}"
                    );
                    ensure!(result["value"] == value.to_string(), "{receiver}: {found}, due {due:?}");
                }
                None => ensure!(found["status"] == "0" && result.is_null(), "{receiver}: {found}"),
            }
        }
    }
    let missing = ask(&chain("mainnet").api, &format!("module=account&action=fundedby&address=0x{}", "12".repeat(20)))?;
    ensure!(missing["status"] == "2", "{missing}");
    Ok(())
}

/// Withdrawals are those that the blocks of the node have.
#[test]
fn withdrawals_are_those_of_the_blocks() -> anyhow::Result<()> {
    for (name, status) in [("hive", "1"), ("mainnet", "2")] {
        let chain = chain(name);
        let mut all: Vec<(String, Value)> = Vec::new();
        for line in &chain.lines {
            for one in line["block"]["withdrawals"].as_array().into_iter().flatten() {
                let decimal = |value: &Value| quantity(value).to_string();
                all.push((
                    lower(&one["address"]),
                    json!({
                        "withdrawalIndex": decimal(&one["index"]),
                        "validatorIndex": decimal(&one["validatorIndex"]),
                        "address": lower(&one["address"]),
                        "amount": decimal(&one["amount"]),
                        "blockNumber": decimal(&line["block"]["number"]),
                        "timestamp": decimal(&line["block"]["timestamp"]),
                    }),
                ));
            }
        }
        let accounts: BTreeSet<&String> = all.iter().map(|(account, _)| account).collect();
        ensure!(!accounts.is_empty(), "{name}");
        for account in accounts.into_iter().take(5) {
            let due: Vec<&Value> = all.iter().filter(|(of, _)| of == account).map(|(_, row)| row).collect();
            let query = format!("module=account&action=txsBeaconWithdrawal&address={account}");
            let found = ask(&chain.api, &format!("{query}&sort=asc"))?;
            ensure!(found["status"] == status && found["result"] == json!(due), "{query}: {found}, due {due:?}");
            let down = ask(&chain.api, &format!("{query}&sort=desc&page=2&offset=1"))?;
            let due: Vec<&&Value> = due.iter().rev().skip(1).take(1).collect();
            ensure!(down["result"] == json!(due), "{query}: {down}, due {due:?}");
        }
    }
    Ok(())
}
