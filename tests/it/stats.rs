//! Figures about the chain, worked out here from what the nodes said of each block.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::BlockRange;
use trawl_query::days::{fees_since, of_settled};
use xtask::http;

use crate::chains::{Chain, chain, dump, quantity};
use crate::env;
use crate::pages::get;
use crate::plans::explain_in;

const DAY: u64 = 86_400;

/// What the node told of a block.
#[derive(Clone, Copy)]
struct Told {
    number: u64,
    time: u64,
    transactions: u64,
    gas_used: u64,
    gas_limit: u64,
    fees: u128,
}

fn told(chain: &Chain) -> Vec<Told> {
    let wide = |value: &Value| {
        u128::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or_default()
    };
    let of_line = |line: &Value| {
        let block = &line["block"];
        let receipts = line["receipts"].as_array().cloned().unwrap_or_default();
        Told {
            number: quantity(&block["number"]),
            time: quantity(&block["timestamp"]),
            transactions: block["transactions"].as_array().map_or(0, Vec::len) as u64,
            gas_used: quantity(&block["gasUsed"]),
            gas_limit: quantity(&block["gasLimit"]),
            fees: receipts.iter().map(|one| wide(&one["gasUsed"]) * wide(&one["effectiveGasPrice"])).sum(),
        }
    };
    let mut all: Vec<Told> = chain.lines.iter().map(of_line).collect();
    all.sort_by_key(|block| block.number);
    all
}

/// The text of a number, or null.
fn text(number: Option<u128>) -> Value {
    number.map_or(Value::Null, |number| number.to_string().into())
}

fn is_near(found: &Value, wanted: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - wanted).abs() <= wanted.abs() * 1e-9)
}

/// The blocks of a day, if they are all loaded.
fn of_day(blocks: &[Told], day: u64) -> Option<Vec<Told>> {
    let own: Vec<Told> = blocks.iter().filter(|block| block.time / DAY == day).copied().collect();
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
        let blocks = told(chain);
        let newest = *blocks.last().context("a block")?;
        let is_whole = blocks.len() as u64 == newest.number + 1;
        ensure!(is_whole == (name != "mainnet"));
        let stats = get(chain, "stats")?;
        let sum = |of: fn(&Told) -> u64| blocks.iter().map(|block| u128::from(of(block))).sum::<u128>();
        let whole = |sum: u128| text(is_whole.then_some(sum));
        ensure!(stats["total_blocks"] == whole(blocks.len() as u128), "{name}: {stats}");
        ensure!(stats["total_transactions"] == whole(sum(|block| block.transactions)), "{name}: {stats}");
        ensure!(stats["total_gas_used"] == whole(sum(|block| block.gas_used)), "{name}: {stats}");
        let today = of_day(&blocks, newest.time / DAY);
        let of_today = |of: fn(&Told) -> u64| today.as_ref().map(|own| own.iter().map(|one| u128::from(of(one))).sum());
        ensure!(stats["transactions_today"] == text(of_today(|block| block.transactions)), "{name}: {stats}");
        ensure!(stats["gas_used_today"] == text(of_today(|block| block.gas_used)), "{name}: {stats}");
        let recent: Vec<&Told> = blocks.iter().filter(|block| block.number + 100 >= newest.number).collect();
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
            let wanted = of_day(&blocks, day).map(|own| own.iter().map(|one| one.transactions).sum::<u64>());
            let wanted = wanted.or(is_between.then_some(0));
            ensure!(point["transactions_count"] == json!(wanted), "{name}: {point}, not {wanted:?}");
        }
    }
    Ok(())
}

#[test]
fn a_day_is_that_of_the_newest_block() -> anyhow::Result<()> {
    let mut known = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = told(chain);
        let newest = *blocks.last().context("a block")?;
        let own: Vec<Told> = blocks.iter().filter(|block| block.time + DAY > newest.time).copied().collect();
        let first = own.first().map_or(0, |first| first.number);
        let is_there = |number: u64| blocks.iter().any(|block| block.number == number);
        let is_whole = own.len() as u64 == newest.number - first + 1 && (first == 0 || is_there(first - 1));
        let stats = get(chain, "transactions/stats")?;
        let count: u64 = own.iter().map(|block| block.transactions).sum();
        let fees: u128 = own.iter().map(|block| block.fees).sum();
        let average = fees.checked_div(u128::from(count)).filter(|_| is_whole);
        let wanted = json!({
            "transactions_count_24h": text(is_whole.then_some(count.into())),
            "transaction_fees_sum_24h": text(is_whole.then_some(fees)),
            "transaction_fees_avg_24h": text(average),
            "pending_transactions_count": null,
        });
        ensure!(stats == wanted, "{name}: {stats}, not {wanted}");
        known += usize::from(is_whole);
    }
    ensure!(known > 0);
    Ok(())
}

/// Sums of settled blocks are one range of the key.
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
    let chart = ask("stats/charts/market")?;
    ensure!(chart["available_supply"] == "4" && chart["chart_data"][0]["closing_price"] == "2500.5", "{chart}");
    ensure!(chart["chart_data"].as_array().map(Vec::len) == Some(1), "{chart}");
    api.stop()?;
    Ok(())
}
