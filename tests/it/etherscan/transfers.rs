//! `module=account`, `tokentx`, `tokennfttx`, `token1155tx`: the transfers that the node's logs are.

use std::collections::BTreeMap;

use alloy_primitives::{U256, b256};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::ask;
use super::transactions::{block, decimal, lower};
use crate::chains::{Chain, chain, quantity};
use crate::transactions::{NodeTransaction, node_transactions};

/// Most rows of an answer.
const MAX_ROWS: usize = 10_000;

/// A transfer as a row, but for what is known of its token, and of the names of functions.
pub struct Transfer {
    pub action: &'static str,
    pub row: Value,
}

/// `0x` and the last 20 bytes of a word.
fn account(word: &Value) -> String {
    format!("0x{}", &lower(word)[26..])
}

fn words(data: &Value) -> Vec<U256> {
    let bytes = alloy_primitives::hex::decode(lower(data)).unwrap_or_default();
    bytes.chunks(32).map(U256::from_be_slice).collect()
}

/// Action, giver, receiver, id and amount.
type TransferFacts = (&'static str, String, String, Option<U256>, U256);

/// The transfers of a log: those of a batch one by one.
fn transfers(log: &Value) -> Vec<TransferFacts> {
    let transfer = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
    let single = b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62");
    let batch = b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");
    let topics = log["topics"].as_array().cloned().unwrap_or_default();
    let (name, data) = (lower(&topics.first().cloned().unwrap_or_default()), words(&log["data"]));
    let is = |hash: alloy_primitives::B256| name == hash.to_string();
    if is(transfer) && topics.len() == 3 && data.len() == 1 {
        return vec![("tokentx", account(&topics[1]), account(&topics[2]), None, data[0])];
    }
    if is(transfer) && topics.len() == 4 && data.is_empty() {
        let id = words(&topics[3])[0];
        return vec![("tokennfttx", account(&topics[1]), account(&topics[2]), Some(id), U256::ONE)];
    }
    if is(single) && topics.len() == 4 && data.len() == 2 {
        return vec![("token1155tx", account(&topics[2]), account(&topics[3]), Some(data[0]), data[1])];
    }
    if is(batch) && topics.len() == 4 && data.len() >= 4 {
        let list = |at: U256| {
            let at = at.to::<usize>() / 32;
            data[at + 1..].iter().take(data[at].to::<usize>()).copied().collect::<Vec<_>>()
        };
        // Of an id that comes several times there is one transfer of the sum.
        let mut sums: Vec<(U256, U256)> = Vec::new();
        for (id, value) in list(data[0]).into_iter().zip(list(data[1])) {
            match sums.iter_mut().find(|(known, _)| *known == id) {
                Some((_, sum)) => *sum += value,
                None => sums.push((id, value)),
            }
        }
        let ends = || (account(&topics[2]), account(&topics[3]));
        let of = |(id, value): (U256, U256)| ("token1155tx", ends().0, ends().1, Some(id), value);
        return sums.into_iter().map(of).collect();
    }
    Vec::new()
}

pub fn all(chain: &Chain) -> anyhow::Result<Vec<Transfer>> {
    let mut all = Vec::new();
    for NodeTransaction { transaction, receipt } in node_transactions(chain).values() {
        let number = quantity(&transaction["blockNumber"]);
        for log in receipt["logs"].as_array().into_iter().flatten() {
            for (action, from, to, id, value) in transfers(log) {
                let mut row = json!({
                    "blockNumber": number.to_string(),
                    "timeStamp": decimal(&block(chain, number)?["timestamp"])?,
                    "hash": transaction["hash"],
                    "nonce": decimal(&transaction["nonce"])?,
                    "blockHash": transaction["blockHash"],
                    "from": from,
                    "contractAddress": lower(&log["address"]),
                    "to": to,
                    "transactionIndex": decimal(&transaction["transactionIndex"])?,
                    "gas": decimal(&transaction["gas"])?,
                    "gasPrice": decimal(&receipt["effectiveGasPrice"])?,
                    "gasUsed": decimal(&receipt["gasUsed"])?,
                    "cumulativeGasUsed": decimal(&receipt["cumulativeGasUsed"])?,
                    "input": "deprecated",
                    "methodId": lower(&transaction["input"]).chars().take(10).collect::<String>(),
                    "logIndex": decimal(&log["logIndex"])?,
                    "confirmations": (chain.head() - number + 1).to_string(),
                });
                let (id, value) = (id.map(|id| json!(id.to_string())), json!(value.to_string()));
                match action {
                    "tokentx" => row["value"] = value,
                    "tokennfttx" => row["tokenID"] = id.context("an id")?,
                    _ => {
                        row["tokenID"] = id.context("an id")?;
                        row["tokenValue"] = value;
                    }
                }
                all.push(Transfer { action, row });
            }
        }
    }
    Ok(all)
}

fn rows(answer: &Value) -> Vec<Value> {
    let mut rows = answer["result"].as_array().cloned().unwrap_or_default();
    for row in &mut rows {
        let Some(members) = row.as_object_mut() else { continue };
        let names = ["tokenName", "tokenSymbol", "tokenDecimal", "functionName"].map(|key| members.remove(key));
        assert!(names.iter().all(|text| text.as_ref().is_some_and(Value::is_string)), "{names:?}");
        if members.get("methodId") == Some(&json!("0xa9059cbb")) {
            assert!(names[3] == Some(json!("transfer")), "{names:?}");
        }
    }
    rows
}

/// Those of a token by its contract alone, from both ends and in pages.
fn ensure_of_contract(chain: &Chain, (action, token): (&str, &str), all: &[Transfer]) -> anyhow::Result<()> {
    let of = all.iter().filter(|transfer| transfer.action == action && transfer.row["contractAddress"] == *token);
    let due: Vec<&Value> = of.map(|transfer| &transfer.row).collect();
    let base = format!("module=account&action={action}&contractaddress={token}");
    let up = rows(&ask(&chain.api, &format!("{base}&sort=asc"))?);
    ensure!(up.iter().eq(due.iter().copied().take(MAX_ROWS)), "{base}: {} of {}", up.len(), due.len());
    // Newest first is the order for clients of Blockscout; some clients misspell the parameter.
    for page in [format!("{base}&sort=desc"), base.clone(), base.replace("contractaddress", "contractaress")] {
        let down = rows(&ask(&chain.api, &format!("{page}&page=2&offset=3"))?);
        ensure!(down.iter().eq(due.iter().rev().copied().skip(3).take(3)), "{page}: {down:?}");
    }
    let oldest = rows(&ask(&chain.api, &format!("{base}&chainid=1&offset=3"))?);
    ensure!(oldest.iter().eq(due.iter().copied().take(3)), "{base}: {oldest:?}");
    let block = due[due.len() / 2]["blockNumber"].as_str().context("a height")?;
    let of_block = rows(&ask(&chain.api, &format!("{base}&startblock={block}&endblock={block}&sort=asc"))?);
    ensure!(of_block.iter().eq(due.iter().copied().filter(|row| row["blockNumber"] == block)), "{base}: {of_block:?}");
    Ok(())
}

/// Some lists of the mainnet blocks have more rows than can be reached. After the last row of a shorter one pages are
/// empty, which is where clients end that go on until then.
fn ensure_far_pages(chain: &Chain, all: &[Transfer]) -> anyhow::Result<()> {
    let zero = format!("0x{}", "00".repeat(20));
    let mut counts = BTreeMap::<&str, usize>::new();
    for transfer in all.iter().filter(|transfer| transfer.row["from"] == *zero || transfer.row["to"] == *zero) {
        *counts.entry(transfer.action).or_default() += 1;
    }
    let (action, count) =
        counts.into_iter().max_by_key(|(_, count)| *count).context("transfers of the zero address")?;
    ensure!(count > MAX_ROWS, "{count}");
    let list = |query: &str| ask(&chain.api, &format!("module=account&action={action}&{query}"));
    for page in ["page=2&offset=10000", "page=2&offset=6000", "page=2", "page=10001&offset=1"] {
        let refused = list(&format!("address={zero}&{page}"))?;
        let text = refused["message"].as_str().unwrap_or_default();
        ensure!(refused["status"] == "0" && text.starts_with("Result window is too large"), "{page}: {refused}");
    }
    let last = list(&format!("address={zero}&page=10000&offset=1"))?;
    ensure!(last["result"].as_array().map(Vec::len) == Some(1), "{last}");
    for page in ["page=2", "page=2&offset=10000", "page=99999999&offset=7", "page=18446744073709551615&offset=10000"] {
        let query = format!("module=account&action=txlist&address=0x{}&{page}", "12".repeat(20));
        let empty = ask(&self::chain("hive").api, &query)?;
        ensure!(empty == json!({"status": "0", "message": "No transactions found", "result": []}), "{page}: {empty}");
    }
    Ok(())
}

#[test]
fn token_transfers_are_the_logs_of_the_node() -> anyhow::Result<()> {
    let mut actions = BTreeMap::<&str, usize>::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let all = all(chain)?;
        let mut counts = BTreeMap::<(&str, String), usize>::new();
        for transfer in &all {
            let ends = [&transfer.row["from"], &transfer.row["to"]].map(lower);
            ends.into_iter().for_each(|end| *counts.entry((transfer.action, end)).or_default() += 1);
        }
        let mut busiest: Vec<_> = counts.into_iter().collect();
        busiest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for action in ["tokentx", "tokennfttx", "token1155tx"] {
            for ((_, account), _) in busiest.iter().filter(|((one, _), _)| *one == action).take(4) {
                let takes_part = |row: &Value| row["from"] == **account || row["to"] == **account;
                let of = all.iter().filter(|transfer| transfer.action == action && takes_part(&transfer.row));
                let due: Vec<Value> = of.map(|transfer| transfer.row.clone()).collect();
                let query = format!("module=account&action={action}&address={account}");
                let found = rows(&ask(&chain.api, &format!("{query}&sort=asc"))?);
                ensure!(found == due[..due.len().min(MAX_ROWS)], "{name} {query}: {} of {}", found.len(), due.len());
                *actions.entry(action).or_default() += due.len();
                let down: Vec<Value> = due.iter().rev().skip(4).take(4).cloned().collect();
                let page = ask(&chain.api, &format!("{query}&sort=desc&page=2&offset=4"))?;
                ensure!(rows(&page) == down, "{name} {query}: {page}");
                let token = lower(&due[0]["contractAddress"]);
                let of_token = due.into_iter().filter(|row| row["contractAddress"] == token);
                let of_token: Vec<Value> = of_token.take(MAX_ROWS).collect();
                let found = ask(&chain.api, &format!("{query}&contractaddress={token}&sort=asc"))?;
                ensure!(rows(&found) == of_token, "{name} {query} of {token}");
                ensure_of_contract(chain, (action, &token), &all)?;
            }
        }
    }
    ensure!(actions.len() == 3 && actions.values().all(|count| *count > 3), "{actions:?}");
    ensure_far_pages(chain("mainnet"), &all(chain("mainnet"))?)?;
    let empty = format!("module=account&action=tokentx&address=0x{}", "12".repeat(20));
    let empty = ask(&chain("hive").api, &empty)?;
    ensure!(empty == json!({"status": "0", "message": "No transactions found", "result": []}), "{empty}");
    Ok(())
}
