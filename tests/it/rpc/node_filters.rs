//! Log filters, drawn at random, against the node that made the scenario chain: the answers are the same byte for byte
//! once members stand in one order.

use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};

use crate::chains::{lines, quantity};
use crate::dice::Dice;
use crate::env;
use crate::scenario::{DATABASE, answers, scenario};

/// How many filters are sent to both; more in the slow run.
const FILTERS: usize = 150;
const SLOW_FILTERS: usize = 10_000;
/// Filters in one message.
const BATCH: usize = 50;
/// The cap of eth_getLogs where no flag lifts it.
const CAP: usize = 1000;

/// What occurs on a chain.
struct ChainEvents {
    head: usize,
    block_hashes: Vec<Value>,
    addresses: Vec<Value>,
    /// Position by position, as often as it occurs.
    topics: Vec<Vec<Value>>,
}

impl ChainEvents {
    fn read() -> anyhow::Result<Self> {
        let lines = lines("devchain")?;
        let logs: Vec<&Value> = lines
            .iter()
            .flat_map(|line| line["receipts"].as_array().into_iter().flatten())
            .flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten())
            .collect();
        let at = |position: usize| logs.iter().filter_map(|log| log["topics"].get(position).cloned()).collect();
        let head = lines.last().map(|line| quantity(&line["block"]["number"])).context("a block")?;
        Ok(Self {
            head: usize::try_from(head)?,
            block_hashes: lines.iter().map(|line| line["block"]["hash"].clone()).collect(),
            addresses: logs.iter().map(|log| log["address"].clone()).collect(),
            topics: (0..4).map(at).collect(),
        })
    }

    fn filter(&self, dice: &mut Dice) -> Value {
        let mut filter = self.blocks(dice);
        match dice.roll(6) {
            0 | 1 => {}
            2 => drop(filter.insert("address".into(), Value::Null)),
            3 => drop(filter.insert("address".into(), spelt(dice.pick(&self.addresses), dice))),
            4 => drop(filter.insert("address".into(), json!(self.some(&self.addresses, 20, 4, dice)))),
            _ => drop(filter.insert("address".into(), json!(self.some(&self.addresses, 20, 60, dice)))),
        }
        if dice.roll(4) > 0 {
            let positions: Vec<Value> = (0..dice.roll(5)).map(|position| self.position(position, dice)).collect();
            filter.insert("topics".into(), json!(positions));
        }
        Value::Object(filter)
    }

    /// A block by its hash, or a range with heights and names at its ends; either end may be left out.
    fn blocks(&self, dice: &mut Dice) -> Map<String, Value> {
        let mut blocks = Map::new();
        if dice.roll(6) == 0 {
            blocks.insert("blockHash".into(), dice.pick(&self.block_hashes).clone());
            return blocks;
        }
        let first = dice.roll(self.head + 1);
        let last = first + dice.roll(self.head + 1 - first);
        // Both sides call the newest block so; `safe` and `finalized` are a matter of each node's own.
        match dice.roll(8) {
            0 => drop(blocks.insert("fromBlock".into(), json!("earliest"))),
            1 if last == self.head => {}
            _ => drop(blocks.insert("fromBlock".into(), json!(format!("{first:#x}")))),
        }
        match dice.roll(8) {
            0 => drop(blocks.insert("toBlock".into(), json!("latest"))),
            1 => {}
            _ => drop(blocks.insert("toBlock".into(), json!(format!("{last:#x}")))),
        }
        blocks
    }

    /// What one position allows: anything, one word, any of some.
    fn position(&self, position: usize, dice: &mut Dice) -> Value {
        match dice.roll(5) {
            0 | 1 => Value::Null,
            2 => json!([]),
            3 => spelt(dice.pick(&self.topics[position]), dice),
            _ => json!(self.some(&self.topics[position], 32, 6, dice)),
        }
    }

    /// Up to `most` of what occurs, with repetitions, and what does not occur.
    fn some(&self, occurring: &[Value], bytes: usize, most: usize, dice: &mut Dice) -> Vec<Value> {
        (0..=dice.roll(most))
            .map(|_| match dice.roll(4) {
                0 => json!(format!("0x{:0width$x}", dice.roll(1 << 20), width = 2 * bytes)),
                _ => spelt(dice.pick(occurring), dice),
            })
            .collect()
    }
}

/// The same bytes, sometimes in capital letters.
fn spelt(value: &Value, dice: &mut Dice) -> Value {
    match value.as_str() {
        Some(text) if dice.roll(8) == 0 => json!(format!("0x{}", text[2..].to_uppercase())),
        _ => value.clone(),
    }
}

/// The text of an answer's logs, at most `cap` of them, members in the order of their names; what is no result stays
/// apart.
///
/// A filter with three positions asks for logs with three topics or more, whatever the positions allow; anvil alone
/// also gives the others, where the positions beyond their topics allow anything.
fn text(answer: &Value, filter: &Value, cap: usize) -> String {
    let positions = filter["topics"].as_array().map_or(0, Vec::len);
    let has_all = |log: &&Value| log["topics"].as_array().is_some_and(|topics| topics.len() >= positions);
    match answer["result"].as_array() {
        Some(logs) => json!(logs.iter().filter(has_all).take(cap).collect::<Vec<_>>()).to_string(),
        None => format!("no list but {answer}"),
    }
}

#[test]
fn log_filters_equal_the_node() -> anyhow::Result<()> {
    let (scenario, occurring) = (scenario(), ChainEvents::read()?);
    let uncapped = env::start_api(DATABASE, &["--max-logs", "0"])?;
    let sides = [(scenario.trawl(), CAP), (format!("{}/api/eth-rpc", uncapped.url), usize::MAX)];
    let count = if env::is_slow_run() { SLOW_FILTERS } else { FILTERS };
    let mut dice = Dice(11);
    let (mut differing, mut filled, mut capped) = (Vec::new(), 0, 0);
    for _ in 0..count / BATCH {
        let questions: Vec<_> = (0..BATCH).map(|_| ("eth_getLogs", json!([occurring.filter(&mut dice)]))).collect();
        let (trawl, cap) = dice.pick(&sides);
        let (found, expected) = (answers(trawl, &questions)?, answers(&scenario.node, &questions)?);
        for ((question, found), expected) in questions.iter().zip(&found).zip(&expected) {
            let logs = expected["result"].as_array().map_or(0, Vec::len);
            filled += usize::from(logs > 0);
            capped += usize::from(logs > *cap);
            let filter = &question.1[0];
            let (found, expected) = (text(found, &Value::Null, usize::MAX), text(expected, filter, *cap));
            if found != expected {
                differing.push(format!("{filter}: {found:.600} instead of {expected:.600}"));
            }
        }
    }
    ensure!(differing.is_empty(), "{} of {count} differ: {:#?}", differing.len(), &differing[..differing.len().min(5)]);
    ensure!(filled > count / 4 && capped > 0, "{filled} of {count} filters found anything, {capped} more than {CAP}");
    Ok(())
}
