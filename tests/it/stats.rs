//! Figures about the chain, worked out here from what the nodes reported for each block.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::BlockRange;
use trawl_query::stats::days::{fees_since, of_settled};
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::pages::get;
use crate::plans::explain_in;

mod fees;
mod withdrawals;

const DAY: u64 = 86_400;

/// What the node reported for a block.
#[derive(Clone, Copy)]
struct NodeFigures {
    number: u64,
    time: u64,
    transactions: u64,
    gas_used: u64,
    gas_limit: u64,
    fees: u128,
    /// Wei for each gas, and blob gas.
    base_fee: Option<u128>,
    blob_gas: Option<u64>,
}

fn node_figures(chain: &Chain) -> Vec<NodeFigures> {
    let wide = |value: &Value| {
        u128::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or_default()
    };
    let of_line = |line: &Value| {
        let block = &line["block"];
        let receipts = line["receipts"].as_array().cloned().unwrap_or_default();
        NodeFigures {
            number: quantity(&block["number"]),
            time: quantity(&block["timestamp"]),
            transactions: block["transactions"].as_array().map_or(0, Vec::len) as u64,
            gas_used: quantity(&block["gasUsed"]),
            gas_limit: quantity(&block["gasLimit"]),
            fees: receipts.iter().map(|one| wide(&one["gasUsed"]) * wide(&one["effectiveGasPrice"])).sum(),
            base_fee: block["baseFeePerGas"].is_string().then(|| wide(&block["baseFeePerGas"])),
            blob_gas: block["blobGasUsed"].is_string().then(|| quantity(&block["blobGasUsed"])),
        }
    };
    let mut all: Vec<NodeFigures> = chain.lines.iter().map(of_line).collect();
    all.sort_by_key(|block| block.number);
    all
}

/// The text of a number, or null.
fn text(number: Option<u128>) -> Value {
    number.map_or(Value::Null, |number| number.to_string().into())
}

fn is_near(found: &Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() <= expected.abs() * 1e-9)
}

/// The blocks of a day, if they are all loaded.
fn of_day(blocks: &[NodeFigures], day: u64) -> Option<Vec<NodeFigures>> {
    let own: Vec<NodeFigures> = blocks.iter().filter(|block| block.time / DAY == day).copied().collect();
    let (first, last) = (own.first()?.number, own.last()?.number);
    let is_there = |number: u64| blocks.iter().any(|block| block.number == number);
    let begins = first == 0 || is_there(first - 1);
    let ends = is_there(last + 1) || blocks.last().map(|newest| newest.number) == Some(last);
    (begins && ends && own.len() as u64 == last - first + 1).then_some(own)
}

#[test]
fn figures_are_those_of_the_blocks() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = node_figures(chain);
        let newest = *blocks.last().context("a block")?;
        let is_whole = blocks.len() as u64 == newest.number + 1;
        ensure!(is_whole == (name != "mainnet"));
        let stats = get(chain, "stats")?;
        let sum = |of: fn(&NodeFigures) -> u64| blocks.iter().map(|block| u128::from(of(block))).sum::<u128>();
        let whole = |sum: u128| text(is_whole.then_some(sum));
        ensure!(stats["total_blocks"] == whole(blocks.len() as u128), "{name}: {stats}");
        ensure!(stats["total_transactions"] == whole(sum(|block| block.transactions)), "{name}: {stats}");
        ensure!(stats["total_gas_used"] == whole(sum(|block| block.gas_used)), "{name}: {stats}");
        let today = of_day(&blocks, newest.time / DAY);
        let of_today =
            |of: fn(&NodeFigures) -> u64| today.as_ref().map(|own| own.iter().map(|one| u128::from(of(one))).sum());
        ensure!(stats["transactions_today"] == text(of_today(|block| block.transactions)), "{name}: {stats}");
        ensure!(stats["gas_used_today"] == text(of_today(|block| block.gas_used)), "{name}: {stats}");
        let recent: Vec<&NodeFigures> = blocks.iter().filter(|block| block.number + 100 >= newest.number).collect();
        let share = recent.iter().map(|block| block.gas_used as f64).sum::<f64>() * 100.0
            / recent.iter().map(|block| block.gas_limit as f64).sum::<f64>();
        ensure!(is_near(&stats["network_utilization_percentage"], share), "{name}: {stats}, not {share}");
        let found = &stats["average_block_time"];
        let time = (newest.time - recent[0].time) as f64 * 1000.0 / (newest.number - recent[0].number) as f64;
        let is_known = if recent.len() > 1 { is_near(found, time) } else { found.is_null() };
        ensure!(is_known, "{name}: {stats}, not {time}");
        for unknown in ["total_addresses", "coin_price", "market_cap", "tvl", "coin_price_change_percentage"] {
            ensure!(stats.get(unknown).is_some_and(Value::is_null), "{name} {unknown}: {stats}");
        }
        if let Some(prices) = stats["gas_prices"].as_object() {
            let price = |name: &str| prices[name].as_f64().unwrap_or(-1.0);
            ensure!(0.0 <= price("slow") && price("slow") <= price("average") && price("average") <= price("fast"));
        }
        let chart = get(chain, "stats/charts/transactions")?;
        let chart = chart["chart_data"].as_array().context("chart")?;
        ensure!(chart.len() <= 30, "{chart:?}");
        for point in chart {
            let day: u64 = env::sql(
                "default",
                &format!("SELECT toUInt32(toDate({}))", point["date"].to_string().replace('"', "'")),
            )?
            .parse()?;
            let is_between = blocks.windows(2).any(|pair| {
                pair[0].time / DAY < day && day < pair[1].time / DAY && pair[0].number + 1 == pair[1].number
            });
            let expected = of_day(&blocks, day).map(|own| own.iter().map(|one| one.transactions).sum::<u64>());
            let expected = expected.or(is_between.then_some(0));
            ensure!(point["transactions_count"] == json!(expected), "{name}: {point}, not {expected:?}");
        }
    }
    Ok(())
}

#[test]
fn a_day_is_that_of_the_newest_block() -> anyhow::Result<()> {
    let mut known = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = node_figures(chain);
        let newest = *blocks.last().context("a block")?;
        let own: Vec<NodeFigures> = blocks.iter().filter(|block| block.time + DAY > newest.time).copied().collect();
        let first = own.first().map_or(0, |first| first.number);
        let is_there = |number: u64| blocks.iter().any(|block| block.number == number);
        let is_whole = own.len() as u64 == newest.number - first + 1 && (first == 0 || is_there(first - 1));
        let stats = get(chain, "transactions/stats")?;
        let count: u64 = own.iter().map(|block| block.transactions).sum();
        let fees: u128 = own.iter().map(|block| block.fees).sum();
        let average = fees.checked_div(u128::from(count)).filter(|_| is_whole);
        let expected = json!({
            "transactions_count_24h": text(is_whole.then_some(count.into())),
            "transaction_fees_sum_24h": text(is_whole.then_some(fees)),
            "transaction_fees_avg_24h": text(average),
            "pending_transactions_count": "0",
        });
        ensure!(stats == expected, "{name}: {stats}, not {expected}");
        known += usize::from(is_whole);
    }
    ensure!(known > 0);
    Ok(())
}

/// Sums of settled blocks are one range of the key.
#[test]
fn a_block_is_waited_for_at_the_pace_of_the_newest() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = node_figures(chain);
        let newest = *blocks.last().context("a block")?;
        let first = blocks.iter().find(|block| block.number + 100 >= newest.number).context("a block")?;
        let pace = (newest.time - first.time) as f64 / (newest.number - first.number) as f64;
        let countdown = get(chain, &format!("blocks/{}/countdown", newest.number + 250))?;
        ensure!(countdown["current_block_number"] == json!(newest.number.to_string()), "{name}: {countdown}");
        ensure!(countdown["countdown_block_number"] == json!((newest.number + 250).to_string()), "{name}: {countdown}");
        ensure!(countdown["remaining_blocks_count"] == "250", "{name}: {countdown}");
        let seconds = countdown["estimated_time_in_seconds"].as_str().map(str::parse::<f64>).transpose()?;
        // A block without neighbours has no pace.
        let is_right = seconds.map_or(pace.is_nan(), |seconds| (seconds - 250.0 * pace).abs() < 0.1);
        ensure!(is_right, "{name}: {countdown}, not {}", 250.0 * pace);
        let hash = format!("0x{}", "00".repeat(32));
        for (id, status) in [(newest.number.to_string(), 404), ("-1".into(), 422), (hash, 422)] {
            let answer = http::get(&http::agent(), &format!("{}/api/v2/blocks/{id}/countdown", chain.api))?;
            ensure!(answer.status == status, "{name} {id}: {}", answer.text());
        }
    }
    Ok(())
}

#[test]
fn days_are_a_range_of_blocks() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    let range = vec![BlockRange::new(15_040_000, 15_050_000).context("ordered")?];
    let since = trawl_core::primitives::Timestamp::from_micros(1_650_000_000_000_000);
    for reads in [explain_in(database, &of_settled(&range))?, explain_in(database, &fees_since(&range, since))?] {
        let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
        ensure!(read.table == "blocks" && read.keys[0] == "block_number" && read.by_key.0 <= 2, "{read:?}");
    }
    Ok(())
}

/// The entry of the zero address among the prices is that of the coin.
#[test]
fn the_coin_has_the_price_of_the_zero_address() -> anyhow::Result<()> {
    let database = "stats_coin";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "9"]), 0)?;
    let folder = env::directory()?;
    let file = folder.path().join("prices.json");
    let zero = format!("0x{}", "00".repeat(20));
    std::fs::write(&file, json!({zero: {"exchange_rate": "2500.5", "circulating_supply": "4"}}).to_string())?;
    let api = env::start_api(database, &["--token-prices", &file.display().to_string()])?;
    let ask = |path: &str| http::get(&http::agent(), &format!("{}/api/v2/{path}", api.url))?.json();
    env::eventually(env::SOON, || Ok(ask("stats")?["coin_price"] == "2500.5"))?;
    ensure!(ask("stats")?["market_cap"] == "10002", "{}", ask("stats")?);
    let address = ask(&format!("addresses/0x{}", "12".repeat(20)))?;
    ensure!(address["exchange_rate"] == "2500.5", "{address}");
    let chart = ask("stats/charts/market")?;
    ensure!(chart["available_supply"] == "4" && chart["chart_data"][0]["closing_price"] == "2500.5", "{chart}");
    ensure!(chart["chart_data"].as_array().map(Vec::len) == Some(1), "{chart}");
    api.stop()?;
    Ok(())
}

fn line(chain: &Chain, path: &str) -> anyhow::Result<Vec<Value>> {
    let answer = http::get(&http::agent(), &format!("{}/stats-service/api/v1/lines/{path}", chain.api))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    Ok(answer.json()?["chart"].as_array().context("chart")?.clone())
}

/// Sums of days are those of their blocks, and those of years are those of their days.
#[test]
fn charts_of_the_statistics_service_are_sums_of_blocks() -> anyhow::Result<()> {
    let mut seen = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = node_figures(chain);
        let is_whole = name != "mainnet";
        for (id, of) in
            [("newTxns", (|one: &NodeFigures| one.transactions) as fn(&NodeFigures) -> u64), ("newBlocks", |_| 1)]
        {
            let days = line(chain, id)?;
            for point in &days {
                let day: u64 = env::sql(
                    "default",
                    &format!("SELECT toUInt32(toDate('{}'))", point["date"].as_str().unwrap_or("")),
                )?
                .parse()?;
                let expected: u64 = of_day(&blocks, day).unwrap_or_default().iter().map(of).sum();
                ensure!(
                    point["value"] == text(Some(expected.into())) && point["date"] == point["date_to"],
                    "{name}: {point}"
                );
                seen += 1;
            }
            let newest = days.last().map(|point| point["is_approximate"] == true);
            ensure!(newest == Some(true) || !is_whole, "{name}: {days:?}");
            let sum = |points: &[Value]| -> u64 {
                points.iter().filter_map(|point| point["value"].as_str()?.parse::<u64>().ok()).sum()
            };
            for resolution in ["WEEK", "MONTH", "YEAR"] {
                let periods = line(chain, &format!("{id}?resolution={resolution}"))?;
                ensure!(!is_whole || sum(&periods) == sum(&days), "{name} {resolution}: {periods:?}");
            }
        }
        let growth = line(chain, "txnsGrowth")?;
        let all: u64 = blocks.iter().map(|block| block.transactions).sum();
        let last = growth.last().map(|point| point["value"].clone());
        ensure!(last == is_whole.then(|| text(Some(all.into()))), "{name}: {last:?}");
        let fees: f64 = line(chain, "txnsFee?resolution=YEAR")?
            .iter()
            .filter_map(|point| point["value"].as_str()?.parse::<f64>().ok())
            .sum();
        // The genesis alone on its day has no fees.
        let expected: f64 = blocks.iter().map(|block| block.fees as f64 / 1e18).sum();
        ensure!(!is_whole || (fees - expected).abs() <= expected * 1e-9, "{name}: {fees}, not {expected}");
    }
    ensure!(seen > 3, "{seen}");
    Ok(())
}

#[test]
fn the_statistics_service_lists_what_it_has() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let ask = |path: &str| -> anyhow::Result<Value> {
        let answer = http::get(&http::agent(), &format!("{}/stats-service/api/v1/{path}", chain.api))?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        answer.json()
    };
    let lines = ask("lines")?;
    let mut charts = 0;
    for section in lines["sections"].as_array().context("sections")? {
        for chart in section["charts"].as_array().context("charts")? {
            let id = chart["id"].as_str().context("id")?;
            ensure!(!line(chain, id)?.is_empty() && ask(&format!("lines/{id}"))?["info"] == *chart, "{id}");
            charts += 1;
        }
    }
    ensure!(charts == 15, "{lines}");
    let counters = ask("counters")?;
    let value = |id: &str| -> Value {
        let all = counters["counters"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|one| one["id"] == id).map_or(Value::Null, |one| one["value"].clone())
    };
    let stats = get(chain, "stats")?;
    ensure!(
        value("totalBlocks") == stats["total_blocks"] && value("totalTxns") == stats["total_transactions"],
        "{counters}"
    );
    let day = get(chain, "transactions/stats")?;
    ensure!(value("newTxns24h") == day["transactions_count_24h"], "{counters}, {day}");
    let page = ask("pages/main")?;
    ensure!(page["total_blocks"]["value"] == stats["total_blocks"] && page.get("total_addresses").is_none(), "{page}");
    ensure!(page["daily_new_transactions"]["info"]["id"] == "newTxns", "{page}");
    ensure!(ask("pages/transactions")?["transactions_24h"]["value"] == value("newTxns24h"));
    // What is not known is left out, as proto3 does, and so is a unit where there is none.
    ensure!(ask("pages/contracts")?["total_contracts"].is_null() && page["total_blocks"].get("units").is_none());
    let verified = &ask("pages/contracts")?["total_verified_contracts"];
    ensure!(verified["value"] == get(chain, "smart-contracts/counters")?["verified_smart_contracts"], "{verified}");
    for (path, status) in [
        ("lines/nothing", 404),
        ("lines/newTxns?from=yesterday", 422),
        ("lines/newTxns?resolution=HOUR", 422),
        ("lines/newTxns?page=1", 422),
        ("pages/other", 404),
        ("counters?a=b", 422),
    ] {
        let answer = http::get(&http::agent(), &format!("{}/stats-service/api/v1/{path}", chain.api))?;
        ensure!(answer.status == status, "{path}: {} {}", answer.status, answer.text());
    }
    // A window without blocks, and one that is over before it begins.
    ensure!(line(chain, "newTxns?from=2001-01-01&to=2001-02-01")?.is_empty());
    ensure!(line(chain, "newTxns?from=9999-01-01&to=2001-02-01")?.is_empty());
    Ok(())
}

/// Twenty thousand blocks of half an hour each: many days, in runs of several lengths, and a gap that takes totals
/// away.
#[test]
fn many_days_are_added_up_run_by_run() -> anyhow::Result<()> {
    let database = "stats_days";
    let _database = env::migrate(database)?;
    let insert = |first: u64, count: u64| {
        let rows = format!(
            "INSERT INTO blocks (block_number, timestamp, transactions_count, gas_used, gas_limit, transaction_fees, size)
             SELECT {first} + number, toDateTime64(1500000000 + ({first} + number) * 1800, 6, 'UTC'), number % 7, 21000 * (number % 7),
                    30000000, toUInt256(number % 7) * 1000000000000000, 700
             FROM numbers({count})"
        );
        env::sql(database, &rows)
    };
    insert(0, 20_000)?;
    env::commit(database, 19_999)?;
    withdrawals::add(database)?;
    let api = env::start_api(database, &[])?;
    let ask = |path: &str| -> anyhow::Result<Value> {
        let answer = http::get(&http::agent(), &format!("{}{path}", api.url))?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        answer.json()
    };
    let by_period = |function: &str| -> anyhow::Result<Vec<(String, String)>> {
        let sql = format!(
            "SELECT toString(toDate({function})) AS day, toString(sum(transactions_count)) FROM blocks GROUP BY day ORDER BY day"
        );
        let lines = env::sql(database, &sql)?;
        Ok(lines.lines().filter_map(|line| line.split_once('\t')).map(|(day, sum)| (day.into(), sum.into())).collect())
    };
    for (resolution, function) in [
        ("DAY", "timestamp"),
        ("WEEK", "toMonday(timestamp)"),
        ("MONTH", "toStartOfMonth(timestamp)"),
        ("YEAR", "toStartOfYear(timestamp)"),
    ] {
        let chart = ask(&format!("/stats-service/api/v1/lines/newTxns?resolution={resolution}"))?;
        let points = chart["chart"].as_array().context("chart")?;
        let found: Vec<(String, String)> = points
            .iter()
            .filter_map(|point| Some((point["date"].as_str()?.to_owned(), point["value"].as_str()?.to_owned())))
            .collect();
        ensure!(found == by_period(function)?, "{resolution}: {found:?}");
        ensure!(points.iter().filter(|point| point["is_approximate"] == true).count() == 1);
    }
    let sum = |what: &str| env::sql(database, &format!("SELECT toString(sum({what})) FROM blocks"));
    let stats = ask("/api/v2/stats")?;
    ensure!(
        stats["total_transactions"] == sum("transactions_count")? && stats["total_gas_used"] == sum("gas_used")?,
        "{stats}"
    );
    ensure!(ask("/api/v2/withdrawals/counters")? == withdrawals::counters());
    ensure!(stats["total_blocks"] == "20000" && stats["average_block_time"] == 1_800_000.0, "{stats}");
    let chart = ask("/api/v2/stats/charts/transactions")?;
    ensure!(chart["chart_data"].as_array().map(Vec::len) == Some(30), "{chart}");
    let day = ask("/api/v2/transactions/stats")?;
    let of_day = env::sql(database, "SELECT toString(sum(transactions_count)) FROM blocks WHERE block_number > 19951")?;
    ensure!(day["transactions_count_24h"] == of_day, "{day}, not {of_day}");
    let fees = ask("/stats-service/api/v1/lines/txnsFee?resolution=DAY&from=2017-08-01&to=2017-08-03")?;
    ensure!(fees["chart"].as_array().map(Vec::len) == Some(3) && fees["chart"][0]["value"] == "0.143", "{fees}");
    api.stop()?;
    Ok(())
}
