//! Sentences of all bundled mainnet transactions, held against what moved by their receipts and traces: worked out here
//! again, by adding up, without the rules of the product.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{I256, U256, keccak256};
use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::chains::chain;
use crate::env;
use crate::pages::get;

/// Stands for the coin among tokens.
const COIN: &str = "coin";

/// Assets that went out of (below zero) and into an account.
type Flows = BTreeMap<String, I256>;

fn topic(event: &str) -> String {
    keccak256(event).to_string()
}

fn number(value: &Value) -> U256 {
    let digits = value.as_str().unwrap_or("0x0").trim_start_matches("0x");
    U256::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16).unwrap_or_default()
}

fn signed(value: U256) -> I256 {
    I256::try_from(value).unwrap_or(I256::MAX)
}

/// A transaction with what the node reported for it.
struct NodeTransaction<'c> {
    transaction: &'c Value,
    receipt: &'c Value,
    /// Its call frames; none where the node gave none.
    frames: Option<Vec<&'c Value>>,
}

impl NodeTransaction<'_> {
    fn logs(&self) -> impl Iterator<Item = (&str, Vec<&str>, &str)> {
        self.receipt["logs"].as_array().into_iter().flatten().map(|log| {
            let topics = log["topics"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            (log["address"].as_str().unwrap_or_default(), topics, log["data"].as_str().unwrap_or("0x"))
        })
    }

    fn sender(&self) -> &str {
        self.transaction["from"].as_str().unwrap_or_default()
    }

    /// Whether a pool of Uniswap, or of a fork of it, traded.
    fn is_trade(&self) -> bool {
        let trades = [
            "Swap(address,uint256,uint256,uint256,uint256,address)",
            "Swap(address,address,int256,int256,uint160,uint128,int24)",
            "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        ]
        .map(topic);
        self.logs().any(|(_, topics, _)| topics.first().is_some_and(|first| trades.iter().any(|trade| trade == first)))
    }

    /// ERC-20 tokens that went from and to the sender.
    fn tokens(&self) -> Flows {
        let transfer = topic("Transfer(address,address,uint256)");
        let me = format!("0x{:0>64}", self.sender().trim_start_matches("0x"));
        let mut flows = Flows::new();
        for (token, topics, data) in self.logs().filter(|(_, topics, _)| topics.len() == 3 && topics[0] == transfer) {
            let amount = signed(number(&Value::String(data.chars().take(66).collect())));
            let sum = flows.entry(token.to_owned()).or_default();
            *sum += if topics[2] == me { amount } else { I256::ZERO };
            *sum -= if topics[1] == me { amount } else { I256::ZERO };
        }
        flows.retain(|_, sum| !sum.is_zero());
        flows
    }

    /// Amounts of an event of the wrapped coin.
    fn wrapped(&self, event: &str) -> U256 {
        let event = topic(event);
        let of_event = self.logs().filter(|(_, topics, _)| topics.len() == 2 && topics[0] == event);
        of_event
            .map(|(_, _, data)| number(&Value::String(data.into())))
            .fold(U256::ZERO, |sum, one| sum.wrapping_add(one))
    }

    /// Coins that went from and to the sender: by its frames; else what was unwrapped less what was wrapped, as
    /// contracts on the way seldom keep any. What they wrap beyond the transaction's value was theirs before.
    fn coins(&self) -> I256 {
        let Some(frames) = &self.frames else {
            let (back, given) = (self.wrapped("Withdrawal(address,uint256)"), self.wrapped("Deposit(address,uint256)"));
            return (signed(back) - signed(given)).max(-signed(number(&self.transaction["value"])));
        };
        let failed: Vec<&Value> =
            frames.iter().filter(|frame| frame.get("error").is_some()).map(|frame| &frame["traceAddress"]).collect();
        let begins = |path: &Value, start: &Value| {
            let (path, start) = (path.as_array(), start.as_array());
            path.zip(start).is_some_and(|(path, start)| path.starts_with(start))
        };
        let mut sum = I256::ZERO;
        for frame in frames.iter().filter(|frame| !failed.iter().any(|start| begins(&frame["traceAddress"], start))) {
            let action = &frame["action"];
            if frame["type"] == "call" && action["callType"] != "call" {
                continue;
            }
            let amount = signed(number(&action["value"]));
            sum -= if action["from"] == self.sender() { amount } else { I256::ZERO };
            sum += if action["to"] == self.sender() { amount } else { I256::ZERO };
        }
        sum
    }

    /// One asset out, another in, and a trade in between.
    fn is_plain_swap(&self) -> bool {
        let mut flows = self.tokens();
        let value = number(&self.transaction["value"]);
        let moved = self.frames.is_some() || !value.is_zero() || self.is_unwrapped_by_what_it_called();
        let coins = if moved { self.coins() } else { I256::ZERO };
        if !coins.is_zero() {
            flows.insert(COIN.into(), coins);
        }
        let given = flows.values().filter(|sum| sum.is_negative()).count();
        self.is_trade() && given == 1 && flows.len() == 2
    }

    fn is_unwrapped_by_what_it_called(&self) -> bool {
        let event = topic("Withdrawal(address,uint256)");
        let called = self.transaction["to"].as_str().unwrap_or_default().trim_start_matches("0x");
        self.logs().any(|(_, topics, _)| topics.len() == 2 && topics[0] == event && topics[1].ends_with(called))
    }
}

/// The amount of a variable in smallest units, and what it is an amount of.
fn amount(variables: &Value, side: &str) -> anyhow::Result<(String, U256)> {
    let text = variables[format!("{side}_amount")]["value"].as_str().context("an amount")?;
    let token = &variables[format!("{side}_token")];
    let decimals = match token["type"].as_str() {
        None => 18,
        Some("token") => token["value"]["decimals"].as_str().context("decimals")?.parse()?,
        Some(_) => 0,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    ensure!(fraction.len() <= decimals, "{text} of {decimals} decimals");
    let digits = format!("{whole}{fraction:0<decimals$}");
    let asset = ["address_hash", "hash"].iter().find_map(|key| token["value"][key].as_str());
    Ok((asset.map_or(COIN.into(), str::to_lowercase), U256::from_str_radix(&digits, 10)?))
}

/// A summarized swap against the flows of its sender.
fn ensure_agrees(tx: &NodeTransaction<'_>, template: &str, variables: &Value) -> anyhow::Result<()> {
    let (mut flows, coins) = (tx.tokens(), tx.coins());
    flows.insert(COIN.into(), coins);
    let (given, out) = amount(variables, "outgoing")?;
    let (received, back) = amount(variables, "incoming")?;
    let case = || format!("{} {template} {variables}: {flows:?}", tx.transaction["hash"]);
    let flow = |asset: &str| flows.get(asset).copied().unwrap_or_default();
    let (left, came) = (-flow(&given), flow(&received));
    if template.contains("at most {outgoing_amount}") {
        ensure!(given == COIN && left <= signed(out) && left.is_positive(), "{}", case());
        ensure!(out == number(&tx.transaction["value"]) && came == signed(back), "{}", case());
    } else if template.contains("at most {incoming_amount}") {
        ensure!(received == COIN && came <= signed(back) && left == signed(out), "{}", case());
    } else {
        ensure!((left, came) == (signed(out), signed(back)), "{}", case());
    }
    // Nothing else went: of tokens there is proof, of coins where a side is one or frames tell.
    let others = flows.iter().filter(|(asset, sum)| **asset != given && **asset != received && !sum.is_zero());
    let others: Vec<_> = others.filter(|(asset, _)| *asset != COIN || tx.frames.is_some()).collect();
    ensure!(others.is_empty(), "{}: beside {others:?}", case());
    Ok(())
}

/// What every sentence keeps to.
fn ensure_informs(sentence: &Value, tx: &NodeTransaction<'_>) -> anyhow::Result<()> {
    let template = sentence["summary_template"].as_str().context("a template")?;
    let variables = &sentence["summary_template_variables"];
    let mut names = BTreeSet::new();
    for name in template.split('{').skip(1).filter_map(|rest| rest.split('}').next()) {
        ensure!(name == "native" || !variables[name]["value"].is_null(), "{name} in {sentence}");
        names.insert(name);
    }
    ensure!(template.starts_with("{action_type} "), "{sentence}");
    let sender = variables["sender_address"]["value"]["hash"].as_str().map(str::to_lowercase);
    ensure!(names.contains("sender_address") && sender.as_deref() == Some(tx.sender()), "{sentence}");
    ensure!(!template.replace("#{token_id}", "").contains("{token_id}"), "{sentence}");
    let is_token = |name: &&&str| name.ends_with("token") && variables[**name]["type"] == "token";
    for token in names.iter().filter(is_token) {
        let has_amount = names.iter().any(|name| ["token_id", "count"].contains(name) || name.ends_with("amount"));
        ensure!(has_amount, "{token} without an amount in {sentence}");
    }
    Ok(())
}

/// Figures of the sentences, which docs/reference/http-contract.md#summaries has too.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    transactions: usize,
    with_status: usize,
    failed: usize,
    with_summary: usize,
    plain_swaps: usize,
    plain_with_summary: usize,
    exact_swaps: usize,
    bounded_swaps: usize,
}

#[test]
fn sentences_of_mainnet_agree_with_what_moved() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let each = env::amount(5, 1);
    let mut count = Count::default();
    for line in &chain.lines {
        let (block, receipts) = (&line["block"], line["receipts"].as_array().context("receipts")?);
        let traces = line["parityTraces"].as_array();
        let transactions = block["transactions"].as_array().context("transactions")?;
        for (position, (transaction, receipt)) in transactions.iter().zip(receipts).enumerate().step_by(each) {
            let frames = traces.map(|traces| traces[position].as_array().into_iter().flatten().collect());
            let tx = NodeTransaction { transaction, receipt, frames };
            let hash = transaction["hash"].as_str().context("a hash")?;
            let answer = get(chain, &format!("transactions/{hash}/summary"))?;
            let sentences = answer["data"]["summaries"].as_array().with_context(|| format!("{hash}: {answer}"))?;
            sentences.iter().try_for_each(|sentence| ensure_informs(sentence, &tx))?;
            count.transactions += 1;
            count.with_summary += usize::from(!sentences.is_empty());
            count.with_status += usize::from(!receipt["status"].is_null());
            let action = |sentence: &Value| sentence["summary_template_variables"]["action_type"]["value"].clone();
            if receipt["status"] == "0x0" {
                count.failed += 1;
                ensure!(sentences.len() == 1 && action(&sentences[0]) == "Failed", "{hash}: {answer}");
                continue;
            }
            let swap = sentences.iter().find(|sentence| action(sentence) == "Swapped");
            if let Some(sentence) = swap {
                let template = sentence["summary_template"].as_str().context("a template")?;
                ensure_agrees(&tx, template, &sentence["summary_template_variables"])?;
                let is_bounded = template.contains("at most");
                count.bounded_swaps += usize::from(is_bounded);
                count.exact_swaps += usize::from(!is_bounded);
            }
            if receipt["status"] == "0x1" && tx.is_plain_swap() {
                count.plain_swaps += 1;
                count.plain_with_summary += usize::from(swap.is_some());
            }
        }
    }
    println!("{count:?}");
    ensure!(count.plain_with_summary * 10 >= count.plain_swaps * 8, "{count:?}");
    let of_all = Count {
        transactions: 2173,
        with_status: 2171,
        failed: 100,
        with_summary: 2134,
        plain_swaps: 222,
        plain_with_summary: 216,
        exact_swaps: 163,
        bounded_swaps: 55,
    };
    let of_each_fifth = Count {
        transactions: 442,
        with_status: 441,
        failed: 23,
        with_summary: 428,
        plain_swaps: 44,
        plain_with_summary: 41,
        exact_swaps: 31,
        bounded_swaps: 11,
    };
    let expected = if each == 1 { of_all } else { of_each_fifth };
    ensure!(count == expected, "{count:?}, expected {expected:?}");
    Ok(())
}
