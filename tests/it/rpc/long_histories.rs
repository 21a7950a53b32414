//! State after any block of histories that are long, have gaps, begin late, or end: against what was put into them. And
//! who walks along the chain asks for a window of blocks at once.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::dump;
use crate::dice::Dice;
use crate::env;
use crate::ingest::proxy::Proxy;

const DATABASE: &str = "long_histories";
/// The last block. Blocks from 92 on have nothing but histories of state.
const LAST: u64 = 40_000;
/// Of each kind of history an account or a slot.
const ACCOUNT: &str = "e7e7e7e7e7e7e7e7e7e7e7e7e7e7e7e7e7e7e7";

/// A history: when it changes, and to what.
struct History {
    /// The method and its parameters without the block.
    question: (&'static str, Vec<String>),
    /// Its value after a block.
    value: fn(u64) -> u64,
}

/// The last of `blocks` that is not above `block`.
fn last_of(blocks: &[u64], block: u64) -> Option<u64> {
    blocks.iter().copied().filter(|changed| *changed <= block).max()
}

/// Changes in each block from 100 to 20,000, and from 39,000 on: between them for longer than is looked back at first.
fn with_a_gap(block: u64) -> u64 {
    match block {
        0..100 => 0,
        100..=20_000 => block + 1,
        20_001..39_000 => 20_001,
        _ => block + 1,
    }
}

/// A slot with three changes.
fn short(block: u64) -> u64 {
    last_of(&[300, 301, 25_000], block).unwrap_or(0)
}

/// Written in blocks 300, 500 and 900; its account ended in 500, before that, and in 700.
fn of_an_ended_account(block: u64) -> u64 {
    match block {
        0..300 | 700..900 => 0,
        _ => last_of(&[300, 500, 900], block).unwrap_or(0),
    }
}

/// A balance that is set in each block from 100 on to ten times its height, and a credit of 3 in each seventh block.
fn balance_with_credits(block: u64) -> u64 {
    if block < 100 { 0 } else { 10 * block + if block.is_multiple_of(7) { 3 } else { 0 } }
}

/// Credits of 3 in each seventh block from 105 on, on top of a balance of 1,000 that is set in blocks 120 and 30,000.
fn credited(block: u64) -> u64 {
    let credits_up_to = |block: u64| if block < 105 { 0 } else { 3 * ((block - 105) / 7 + 1) };
    match last_of(&[120, 30_000], block) {
        Some(set) => 1_000 + credits_up_to(block) - credits_up_to(set - 1),
        None => credits_up_to(block),
    }
}

/// A nonce that grows with each block from 100 on.
fn nonce(block: u64) -> u64 {
    if block < 100 { 0 } else { block - 99 }
}

/// A nonce that was set once.
fn nonce_of_a_contract(block: u64) -> u64 {
    u64::from(block >= 110)
}

fn histories() -> Vec<History> {
    let account = |number: u8| format!("0x{ACCOUNT}{number:02x}");
    let slot = |contract: u8, slot: u64, value| History {
        question: ("eth_getStorageAt", vec![account(contract), format!("{slot:#x}")]),
        value,
    };
    let balance = |number: u8, value| History { question: ("eth_getBalance", vec![account(number)]), value };
    let nonce_of = |number: u8, value| History { question: ("eth_getTransactionCount", vec![account(number)]), value };
    vec![
        slot(0, 0, with_a_gap),
        slot(0, 1, short),
        slot(0, 2, |_| 0),
        slot(1, 0, of_an_ended_account),
        balance(2, balance_with_credits),
        nonce_of(2, nonce_of_a_contract),
        balance(3, credited),
        nonce_of(3, nonce),
        balance(4, |_| 0),
    ]
}

/// Puts the histories above into the tables, each as its tables have it.
fn generate() -> anyhow::Result<env::Database> {
    let database = env::migrate(DATABASE)?;
    let genesis = xtask::workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(&database, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    let account = |number: u8| format!("unhex('{ACCOUNT}{number:02x}')");
    let word = |number: &str| format!("reverse(reinterpretAsFixedString(toUInt256({number})))");
    let numbers = "(SELECT number AS block FROM numbers(40001))";
    let slots = |contract: u8, slot: u64, condition: &str, value: &str| {
        let (account, slot, value) = (account(contract), word(&slot.to_string()), word(value));
        format!("INSERT INTO storage_history SELECT {account}, {slot}, block, {value} FROM {numbers} WHERE {condition}")
    };
    for sql in [
        slots(0, 0, "block BETWEEN 100 AND 20000 OR block >= 39000", "block + 1"),
        slots(0, 1, "block IN (300, 301, 25000)", "block"),
        slots(1, 0, "block IN (300, 500, 900)", "block"),
        format!(
            "INSERT INTO account_destructions SELECT {}, block FROM {numbers} WHERE block IN (500, 700)",
            account(1)
        ),
        format!(
            "INSERT INTO balance_history SELECT {}, block, 10 * block FROM {numbers} WHERE block >= 100",
            account(2)
        ),
        format!("INSERT INTO nonce_history VALUES ({}, 110, 1)", account(2)),
        format!("INSERT INTO balance_history VALUES ({0}, 120, 1000), ({0}, 30000, 1000)", account(3)),
        format!("INSERT INTO nonce_history SELECT {}, block, block - 99 FROM {numbers} WHERE block >= 100", account(3)),
        format!(
            "INSERT INTO balance_credits SELECT arrayJoin([{}, {}]), block, 'withdrawal', 3 FROM {numbers} \
             WHERE block >= 105 AND block % 7 = 0",
            account(2),
            account(3)
        ),
        format!(
            "INSERT INTO blocks SELECT block.* REPLACE (height.number AS block_number, \
             keccak256(toString(height.number)) AS hash, \
             block.timestamp + toIntervalSecond(height.number) AS timestamp) \
             FROM (SELECT * FROM blocks WHERE block_number = 91) AS block \
             CROSS JOIN (SELECT number FROM numbers(92, {})) AS height",
            LAST - 91
        ),
        format!(
            "INSERT INTO ingest_commits SELECT one.* REPLACE (92 AS first_block, {LAST} AS last_block, \
             keccak256('{LAST}') AS last_hash, [] AS rows) FROM ingest_commits AS one WHERE one.last_block = 91"
        ),
    ] {
        env::sql(&database, &sql).with_context(|| sql)?;
    }
    Ok(database)
}

/// Asks for many values at once, and returns their answers in order.
fn ask(url: &str, questions: &[(&History, u64)]) -> anyhow::Result<Vec<Value>> {
    let request = |(id, (history, block)): (usize, &(&History, u64))| {
        let (method, start) = &history.question;
        let mut params: Vec<Value> = start.iter().map(|param| json!(param)).collect();
        params.push(json!(format!("{block:#x}")));
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    };
    let body: Value = questions.iter().enumerate().map(request).collect();
    let answer = http::post(&http::agent(), &format!("{url}/rpc"), body.to_string().as_bytes())?.json()?;
    Ok(answer.as_array().context("a batch")?.clone())
}

fn check(url: &str, questions: &[(&History, u64)]) -> anyhow::Result<()> {
    for some in questions.chunks(50) {
        for ((history, block), answer) in some.iter().zip(ask(url, some)?) {
            let hex = answer["result"].as_str().with_context(|| format!("{block}: {answer}"))?;
            let number = u64::from_str_radix(hex.trim_start_matches("0x").trim_start_matches('0'), 16).unwrap_or(0);
            let expected = (history.value)(*block);
            ensure!(number == expected, "{:?} at {block}: {number} instead of {expected}", history.question);
        }
    }
    Ok(())
}

#[test]
fn are_read_in_part_and_answer_as_whole_ones() -> anyhow::Result<()> {
    let database = generate()?;
    let histories = histories();
    let turns = [
        99, 100, 104, 105, 110, 119, 120, 255, 256, 299, 300, 301, 499, 500, 511, 512, 699, 700, 899, 900, 20_000,
        20_100, 20_300, 24_999, 25_000, 29_999, 30_000, 36_000, 38_900, 38_999, 39_000, 39_935, 39_936, 39_999, LAST,
    ];
    let mut dice = Dice(17);
    // With the turns an even number of blocks: descending, every second question is one of the other half.
    let random: Vec<u64> = (0..env::amount(7, 30)).map(|_| dice.roll(40_001) as u64).collect();
    let mut questions: Vec<(&History, u64)> =
        turns.into_iter().chain(random).flat_map(|block| histories.iter().map(move |it| (it, block))).collect();
    // What is known of one block must not be taken for another, in whatever order they are requested.
    for order in ["ascending", "descending", "shuffled"] {
        match order {
            "descending" => questions.reverse(),
            "shuffled" => questions.sort_by_cached_key(|_| dice.roll(1 << 32)),
            _ => {}
        }
        let api = env::start_api(&database, &["--cache-size", "0"])?;
        // There are nine histories, so that every second question is about each of them.
        let questions: Vec<(&History, u64)> = questions.iter().copied().step_by(env::amount(2, 1)).collect();
        check(&api.url, &questions).context(order)?;
        // Now it is known which histories are long; nothing else is.
        let blocks: Vec<(&History, u64)> =
            questions.iter().map(|(history, block)| (*history, (block ^ 1).min(LAST))).collect();
        check(&api.url, &blocks).with_context(|| format!("{order}, next to it"))?;
        api.stop()?;
    }
    walks_take_few_statements(&database, &histories)
}

/// One statement reads a window of 256 blocks; each block for itself would be 1,800.
fn walks_take_few_statements(database: &str, histories: &[History]) -> anyhow::Result<()> {
    let proxy = Proxy::start(env::store())?;
    let api = env::start_api_at(&proxy.url, database, &["--cache-size", "0"])?;
    let walk: Vec<(&History, u64)> =
        (10_100..10_300).flat_map(|block| histories.iter().map(move |history| (history, block))).collect();
    for some in walk.chunks(10) {
        check(&api.url, some)?;
    }
    let read = proxy.matching(|request| request.contains("storage_history") || request.contains("nonce_history"));
    ensure!((2..=30).contains(&read.len()), "{} statements", read.len());
    api.stop()?;
    Ok(())
}
