//! What contracts and tokens did by day, week, month and year, against the logs and transactions of the nodes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::pages::get;
use crate::transactions::node_transactions;

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const SINGLE: &str = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const BATCH: &str = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";
pub const RESOLUTIONS: [&str; 4] = ["DAY", "WEEK", "MONTH", "YEAR"];

pub fn date(seconds: u64) -> anyhow::Result<Date> {
    Ok(Timestamp::from_second(i64::try_from(seconds)?)?.to_zoned(TimeZone::UTC).date())
}

/// The first day of the period that a day is in.
pub fn first_of(resolution: &str, day: Date) -> anyhow::Result<Date> {
    Ok(match resolution {
        // Days before 1970 have no number.
        "WEEK" => {
            day.checked_sub(i64::from(day.weekday().to_monday_zero_offset()).days())?.max(jiff::civil::date(1970, 1, 1))
        }
        "MONTH" => day.first_of_month(),
        "YEAR" => day.first_of_year(),
        _ => day,
    })
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

pub fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// A number in hexadecimal digits.
pub fn wide(value: &Value) -> U256 {
    U256::from_str_radix(text(value).trim_start_matches("0x"), 16).unwrap_or_default()
}

/// Emitter, day and log of everything that was emitted.
fn logs(chain: &Chain) -> anyhow::Result<Vec<(String, Date, Value)>> {
    let mut logs = Vec::new();
    for line in &chain.lines {
        let day = date(quantity(&line["block"]["timestamp"]))?;
        for log in list(&line["receipts"]).iter().flat_map(|receipt| list(&receipt["logs"])) {
            logs.push((text(&log["address"]), day, log));
        }
    }
    Ok(logs)
}

/// A counterparty, a token, and whether the transfers are of ERC-20.
type Pair = (String, String, bool);

/// Giver, receiver, and the amount where there is one.
type Transfer = (String, String, Option<U256>);

/// Transactions, failed ones where receipts say so, gas and fees.
type Calls = (u64, Option<u64>, U256, U256);

/// The items of a chart.
fn items(chain: &Chain, path: &str, resolution: &str) -> anyhow::Result<Vec<Value>> {
    let answer = get(chain, &format!("{path}?resolution={resolution}"))?;
    ensure!(answer["resolution"] == resolution, "{answer}");
    ensure_loaded(chain, &answer, resolution)?;
    Ok(list(&answer["items"]))
}

/// Whether the days that are reported as loaded are those of complete periods; on a chain without gaps all but the
/// newest one.
fn ensure_loaded(chain: &Chain, answer: &Value, resolution: &str) -> anyhow::Result<()> {
    let (items, loaded) = (list(&answer["items"]), list(&answer["loaded"]));
    for item in &items {
        let [first, last] = ["date", "date_to"].map(|key| text(&item[key]));
        let is_in = |range: &Value| text(&range["date"]) <= first && last <= text(&range["date_to"]);
        ensure!(loaded.iter().any(is_in) == (item["is_complete"] == true), "{item}: {loaded:?}");
    }
    let (Some(first), Some(newest)) = (items.first(), chain.lines.last()) else {
        ensure!(loaded.is_empty(), "{answer}");
        return Ok(());
    };
    if chain.lines.len() as u64 != chain.head() + 1 {
        return Ok(());
    }
    let newest = first_of(resolution, date(quantity(&newest["block"]["timestamp"]))?)?;
    let before = newest.checked_sub(1.day())?.to_string();
    let all = json!({"date": first["date"], "date_to": before});
    let expected = if text(&first["date"]) < newest.to_string() { vec![all] } else { Vec::new() };
    ensure!(loaded == expected, "{loaded:?}, newest {newest}");
    Ok(())
}

/// The addresses with most of something.
fn busiest<T>(of: &BTreeMap<String, Vec<T>>) -> Vec<&String> {
    let mut all: Vec<(&String, usize)> = of.iter().map(|(address, things)| (address, things.len())).collect();
    all.sort_by_key(|(address, count)| (std::cmp::Reverse(*count), *address));
    all.into_iter().map(|(address, _)| address).take(12).collect()
}

#[test]
fn events_are_those_of_the_receipts() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let mut by_emitter: BTreeMap<String, Vec<(Date, Value)>> = BTreeMap::new();
        for (emitter, day, log) in logs(chain)? {
            by_emitter.entry(emitter).or_default().push((day, log["topics"][0].clone()));
        }
        for emitter in busiest(&by_emitter) {
            for resolution in RESOLUTIONS {
                let mut expected: BTreeMap<(String, String), u64> = BTreeMap::new();
                for (day, topic) in &by_emitter[emitter] {
                    *expected.entry((first_of(resolution, *day)?.to_string(), text(topic))).or_default() += 1;
                }
                let found = items(chain, &format!("addresses/{emitter}/activity/events"), resolution)?;
                let read = |item: &Value| {
                    ((text(&item["date"]), text(&item["topic0"])), item["logs_count"].as_u64().unwrap_or_default())
                };
                let counts: BTreeMap<(String, String), u64> = found.iter().map(read).collect();
                ensure!(
                    counts == expected && found.len() == expected.len(),
                    "{name} {emitter} {resolution}: {found:#?}"
                );
                let plain = found.iter().filter(|item| item["topic0"] == TRANSFER);
                ensure!(plain.clone().all(|item| text(&item["signature"]).starts_with("transfer(")), "{found:#?}");
            }
        }
    }
    Ok(())
}

/// Givers, receivers and amount of the transfers that a log is; none for most logs.
fn transfers(log: &Value) -> Vec<Transfer> {
    let topics: Vec<String> = list(&log["topics"]).iter().map(text).collect();
    let data = text(&log["data"]);
    let words: Vec<&str> = (0..(data.len() - 2) / 64).map(|at| &data[2 + 64 * at..66 + 64 * at]).collect();
    let side = |at: usize| topics[at][26..].to_owned();
    match (topics.first().map(String::as_str), topics.len(), words.as_slice()) {
        (Some(TRANSFER), 3, [amount]) => vec![(side(1), side(2), U256::from_str_radix(amount, 16).ok())],
        (Some(TRANSFER), 4, []) => vec![(side(1), side(2), None)],
        (Some(SINGLE), 4, [_, _]) => vec![(side(2), side(3), None)],
        (Some(BATCH), 4, [_, _, rest @ ..]) if rest.len() % 2 == 0 && !rest.is_empty() => {
            let ids: BTreeSet<&&str> = rest[1..rest.len() / 2].iter().collect();
            ids.iter().map(|_| (side(2), side(3), None)).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn transfers_are_those_of_the_logs() -> anyhow::Result<()> {
    let zero = "0".repeat(40);
    let mut kinds = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let mut by_token: BTreeMap<String, Vec<(Date, Transfer)>> = BTreeMap::new();
        for (emitter, day, log) in logs(chain)? {
            let found = transfers(&log).into_iter().map(|transfer| (day, transfer));
            by_token.entry(emitter).or_default().extend(found);
        }
        by_token.retain(|_, transfers| !transfers.is_empty());
        for token in busiest(&by_token) {
            for resolution in RESOLUTIONS {
                let mut expected: BTreeMap<String, (u64, u64, u64, Option<U256>)> = BTreeMap::new();
                let mut sides: BTreeMap<String, [BTreeSet<&String>; 2]> = BTreeMap::new();
                for (day, (from, to, amount)) in &by_token[token] {
                    let first = first_of(resolution, *day)?.to_string();
                    let [senders, receivers] = sides.entry(first.clone()).or_default();
                    senders.extend(Some(from).filter(|from| **from != zero));
                    receivers.extend(Some(to).filter(|to| **to != zero));
                    let sums = expected.entry(first).or_insert((0, 0, 0, Some(U256::ZERO)));
                    let sum = sums.3.zip(*amount).and_then(|(sum, amount)| sum.checked_add(amount));
                    let (mints, burns) = (u64::from(*from == zero), u64::from(*to == zero));
                    *sums = (sums.0 + 1, sums.1 + mints, sums.2 + burns, sum);
                    kinds.insert((mints, burns, sum.is_some()));
                }
                let found = items(chain, &format!("tokens/{token}/activity"), resolution)?;
                ensure!(found.len() == expected.len(), "{name} {token} {resolution}: {found:#?}, not {expected:#?}");
                for item in &found {
                    let (transfers, mints, burns, amount) =
                        expected.get(&text(&item["date"])).with_context(|| item.to_string())?;
                    let amount = amount.map_or(Value::Null, |amount| json!(amount.to_string()));
                    let [senders, receivers] = &sides[&text(&item["date"])];
                    let same = item["transfers_count"] == *transfers
                        && item["senders_count"] == senders.len()
                        && item["receivers_count"] == receivers.len()
                        && item["mints_count"] == *mints
                        && item["burns_count"] == *burns
                        && item["amount"] == amount;
                    ensure!(same, "{name} {token} {resolution}: {item}, not {:?}", expected.get(&text(&item["date"])));
                }
            }
        }
    }
    ensure!(kinds.len() >= 4, "{kinds:?}");
    Ok(())
}

/// What each address received from whom and sent to whom.
#[test]
fn counterparties_are_those_of_the_logs() -> anyhow::Result<()> {
    let mut to_oneself = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        // By address: counterparty, token and whether it is ERC-20, and what was received and sent.
        let mut expected: BTreeMap<String, BTreeMap<Pair, [(u64, U256); 2]>> = BTreeMap::new();
        for (token, _, log) in logs(chain)? {
            for (from, to, amount) in transfers(&log) {
                let sides = [(0, &to, &from), (1, &from, &to)];
                to_oneself += u64::from(from == to);
                for (side, own, other) in sides {
                    let pairs = expected.entry(own.clone()).or_default();
                    let sums = pairs.entry((format!("0x{other}"), token.clone(), amount.is_some())).or_default();
                    sums[side] = (sums[side].0 + 1, sums[side].1 + amount.unwrap_or_default());
                }
            }
        }
        let mut most: Vec<_> = expected.into_iter().collect();
        most.sort_by_key(|(_, pairs)| std::cmp::Reverse(pairs.len()));
        let is_mainnet = name == "mainnet";
        for (address, pairs) in most.iter().take(20).chain(most.iter().rev().take(10)) {
            let answer = get(chain, &format!("addresses/0x{address}/activity/counterparties"))?;
            let items = list(&answer["items"]);
            let is_whole = answer["items_in_all"] == pairs.len() && items.len() == pairs.len().min(100);
            ensure!(is_whole && answer["is_complete"] == !is_mainnet, "{name} {address}: {answer}, not {pairs:#?}");
            let count = |item: &Value| item["received_count"].as_u64().zip(item["sent_count"].as_u64());
            let counts: Vec<u64> = items.iter().filter_map(count).map(|(one, other)| one + other).collect();
            ensure!(counts.is_sorted_by(|one, next| one >= next) && counts.len() == items.len(), "{items:#?}");
            for item in &items {
                let is_plain = item["token_type"] == "ERC-20";
                let pair = (text(&item["address"]["hash"]), text(&item["token"]["address_hash"]), is_plain);
                let [received, sent] = pairs.get(&pair).with_context(|| format!("{name} {address}: {item}"))?;
                let amounts = [&item["received_amount"], &item["sent_amount"]];
                let same_amounts = amounts == [&json!(received.1.to_string()), &json!(sent.1.to_string())];
                let same = count(item) == Some((received.0, sent.0)) && (same_amounts || !is_plain);
                ensure!(same, "{name} {address}: {item}, not {received:?}, {sent:?}");
            }
        }
    }
    ensure!(to_oneself > 0);
    Ok(())
}

#[test]
fn methods_are_those_of_the_transactions() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let days: BTreeMap<u64, Date> = chain
            .lines
            .iter()
            .map(|line| Ok((quantity(&line["block"]["number"]), date(quantity(&line["block"]["timestamp"]))?)))
            .collect::<anyhow::Result<_>>()?;
        let transactions = node_transactions(chain);
        let mut by_contract: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for tx in transactions.values().filter(|tx| tx.transaction["to"].is_string()) {
            by_contract.entry(text(&tx.transaction["to"])).or_default().push(tx);
        }
        for contract in busiest(&by_contract) {
            for resolution in RESOLUTIONS {
                let mut expected: BTreeMap<(String, String), Calls> = BTreeMap::new();
                for tx in &by_contract[contract] {
                    let first = first_of(resolution, days[&tx.position().0])?.to_string();
                    let input = text(&tx.transaction["input"]);
                    let method = if input.len() >= 10 { json!(input[..10]) } else { Value::Null };
                    let sums =
                        expected.entry((first, method.to_string())).or_insert((0, Some(0), U256::ZERO, U256::ZERO));
                    let gas = wide(&tx.receipt["gasUsed"]);
                    let failed = tx.receipt["status"].as_str().map(|status| u64::from(status == "0x0"));
                    sums.0 += 1;
                    sums.1 = sums.1.zip(failed).map(|(sum, failed)| sum + failed);
                    sums.2 += gas;
                    sums.3 += gas * wide(&tx.receipt["effectiveGasPrice"]);
                }
                let found = items(chain, &format!("addresses/{contract}/activity/methods"), resolution)?;
                ensure!(found.len() == expected.len(), "{name} {contract} {resolution}: {found:#?}");
                for item in &found {
                    let key = (text(&item["date"]), item["method_id"].to_string());
                    let (calls, failed, gas, fees) = expected.get(&key).with_context(|| item.to_string())?;
                    let same = item["transactions_count"] == *calls
                        && item["failed_count"] == json!(failed)
                        && item["gas_used"] == json!(gas.to_string())
                        && item["fees"] == json!(fees.to_string());
                    ensure!(same, "{name} {contract} {resolution}: {item}, not {:?}", expected.get(&key));
                }
            }
        }
    }
    Ok(())
}

/// A period is complete if it is over, was requested as a whole, and all its blocks are there.
#[test]
fn periods_say_whether_they_are_complete() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let mut days: Vec<Date> =
        chain.lines.iter().map(|line| date(quantity(&line["block"]["timestamp"]))).collect::<anyhow::Result<_>>()?;
    days.dedup();
    let newest = days.last().context("a day")?.to_string();
    let mut found = BTreeSet::new();
    for (emitter, ..) in logs(chain)? {
        found.insert(emitter);
    }
    let mut complete = 0;
    for emitter in &found {
        for item in items(chain, &format!("addresses/{emitter}/activity/events"), "DAY")? {
            let is_over = item["date"].as_str() < Some(&newest);
            ensure!(
                item["is_complete"] == is_over && item["date"] == item["date_to"],
                "{item}, the newest is {newest}"
            );
            complete += u64::from(is_over);
        }
        // Half a year is no whole one.
        let year = days.last().context("a day")?.year();
        let cut = get(chain, &format!("addresses/{emitter}/activity/events?resolution=YEAR&to={year}-01-02"))?;
        ensure!(
            list(&cut["items"])
                .iter()
                .all(|item| text(&item["date"]) < format!("{year}") || item["is_complete"] == false),
            "{cut}"
        );
    }
    let mainnet = items(
        crate::chains::chain("mainnet"),
        "addresses/0xdac17f958d2ee523a2206206994597c13d831ec7/activity/events",
        "DAY",
    )?;
    ensure!(!mainnet.is_empty() && mainnet.iter().all(|item| item["is_complete"] == false), "{mainnet:?}");
    ensure!(complete > 0 || days.len() == 1, "{days:?}");
    Ok(())
}

#[test]
fn what_cannot_be_meant_is_refused() -> anyhow::Result<()> {
    let chain = chain("hive");
    let address = format!("0x{}", "12".repeat(20));
    let others = get(chain, &format!("addresses/{address}/activity/counterparties"))?;
    ensure!(others == json!({"items": [], "items_in_all": 0, "is_complete": true}), "{others}");
    let wrong = http::get(
        &http::agent(),
        &format!("{}/api/v2/addresses/{address}/activity/counterparties?resolution=DAY", chain.api),
    )?;
    ensure!(wrong.status == 422, "{}", wrong.text());
    for path in ["addresses/{}/activity/events", "addresses/{}/activity/methods", "tokens/{}/activity"] {
        let path = path.replace("{}", &address);
        ensure!(get(chain, &path)?["items"] == json!([]));
        for query in ["resolution=HOUR", "from=2025-02-30", "from=2025-02-03&to=2025-02-02", "from=yesterday", "by=day"]
        {
            let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}?{query}", chain.api))?;
            ensure!(answer.status == 422, "{path}?{query}: {}", answer.text());
        }
        let wrong = http::get(&http::agent(), &format!("{}/api/v2/{}", chain.api, path.replace("1212", "xyzw")))?;
        ensure!(wrong.status == 422, "{}", wrong.text());
    }
    Ok(())
}
