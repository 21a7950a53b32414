//! What the transactions of the chain add up to by day, week, month and year, against what the nodes reported.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use serde_json::{Value, json};
use trawl_core::primitives::U256;
use xtask::http;

use crate::activity::{RESOLUTIONS, date, first_of, list, text, wide};
use crate::chains::{chain, quantity};
use crate::pages::get;
use crate::transactions::node_transactions;

/// What the transactions of a period add up to.
#[derive(Debug, Default)]
struct ExpectedActivity {
    transactions: u64,
    failed: u64,
    /// Those before Byzantium, which do not say whether they failed.
    without_status: u64,
    /// Gas and fees of all, and of those that failed.
    gas: [U256; 4],
    senders: BTreeSet<String>,
    new_senders: BTreeSet<String>,
    /// What each paid for each gas.
    prices: Vec<U256>,
}

impl ExpectedActivity {
    fn of(&self, item: &Value) -> bool {
        let text = |sum: &U256| json!(sum.to_string());
        let of_failed = |value: Value| if self.without_status == 0 { value } else { Value::Null };
        item["transactions_count"] == self.transactions
            && item["failed_count"] == of_failed(json!(self.failed))
            && [&item["gas_used"], &item["fees"]] == [&text(&self.gas[0]), &text(&self.gas[1])]
            && item["failed_gas_used"] == of_failed(text(&self.gas[2]))
            && item["failed_fees"] == of_failed(text(&self.gas[3]))
            && item["senders_count"] == self.senders.len()
            && item["new_senders_count"] == self.new_senders.len()
            && [("p10", 10), ("p50", 50), ("p90", 90)].iter().all(|(name, percent)| self.is_price(item, name, *percent))
    }

    /// Whether a price is the exact percentile but for 1 %: that of the transaction below it or above it.
    fn is_price(&self, item: &Value, name: &str, percent: usize) -> bool {
        let mut prices = self.prices.clone();
        prices.sort_unstable();
        let Ok(found) = text(&item[format!("gas_price_{name}")]).parse::<U256>() else { return false };
        let rank = (prices.len() - 1) * percent;
        [rank / 100, rank.div_ceil(100)].iter().any(|at| {
            let off = found.abs_diff(prices[*at]);
            off * U256::from(100) <= prices[*at] + U256::from(100)
        })
    }
}

#[test]
fn sums_are_those_of_the_transactions() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let mut days = BTreeMap::new();
        for line in &chain.lines {
            days.insert(quantity(&line["block"]["number"]), date(quantity(&line["block"]["timestamp"]))?);
        }
        for resolution in RESOLUTIONS {
            let answer = get(chain, &format!("stats/activity?resolution={resolution}"))?;
            let counted = answer["block_number"].as_u64().unwrap_or_default();
            ensure!(counted <= chain.head() && counted >= chain.head() / 16 * 15, "{answer}");
            ensure!(answer["resolution"] == resolution && (counted == chain.head() || name == "mainnet"), "{answer}");
            let mut expected: BTreeMap<String, ExpectedActivity> = BTreeMap::new();
            for tx in node_transactions(chain).values().filter(|tx| tx.position().0 <= counted) {
                let sums = expected.entry(first_of(resolution, days[&tx.position().0])?.to_string()).or_default();
                let gas = wide(&tx.receipt["gasUsed"]);
                let fees = gas * wide(&tx.receipt["effectiveGasPrice"]);
                let has_failed = tx.receipt["status"] == "0x0";
                let of_failed = if has_failed { [gas, fees] } else { [U256::ZERO; 2] };
                sums.transactions += 1;
                sums.failed += u64::from(has_failed);
                sums.without_status += u64::from(tx.receipt["status"].is_null());
                for (sum, more) in sums.gas.iter_mut().zip([gas, fees].into_iter().chain(of_failed)) {
                    *sum += more;
                }
                sums.prices.push(wide(&tx.receipt["effectiveGasPrice"]));
                sums.senders.insert(text(&tx.transaction["from"]));
                if quantity(&tx.transaction["nonce"]) == 0 {
                    sums.new_senders.insert(text(&tx.transaction["from"]));
                }
            }
            let items = list(&answer["items"]);
            ensure!(items.len() == expected.len(), "{name} {resolution}: {items:#?}, not {expected:#?}");
            for item in &items {
                let expected = expected.get(&text(&item["date"]));
                ensure!(
                    expected.is_some_and(|expected| expected.of(item)),
                    "{name} {resolution}: {item}, not {expected:?}"
                );
            }
            let ended = items.iter().filter(|item| item["is_complete"] == true).count();
            ensure!(ended == if name == "mainnet" { 0 } else { items.len().saturating_sub(1) }, "{items:#?}");
        }
    }
    Ok(())
}

#[test]
fn days_are_cut_to_the_requested_range() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = list(&get(chain, "stats/activity")?["items"]);
    ensure!(!all.is_empty());
    for item in &all {
        let day = text(&item["date"]);
        let one = get(chain, &format!("stats/activity?from={day}&to={day}"))?;
        ensure!(list(&one["items"]) == std::slice::from_ref(item), "{one}, not {item}");
        let year = get(chain, &format!("stats/activity?from={day}&to={day}&resolution=YEAR"))?;
        let (found, part) = (&year["items"][0], ["transactions_count", "senders_count", "fees"]);
        ensure!(
            part.iter().all(|name| found[*name] == item[*name]) && found["is_complete"] == false,
            "{year}, not {item}"
        );
    }
    let none = get(chain, "stats/activity?to=1970-01-01&from=1970-01-01")?;
    ensure!(none == json!({"items": [], "loaded": [], "resolution": "DAY", "block_number": null}), "{none}");
    for query in ["resolution=HOUR", "from=2025-02-30", "from=2025-02-03&to=2025-02-02", "from=yesterday", "by=day"] {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/stats/activity?{query}", chain.api))?;
        ensure!(answer.status == 422, "{query}: {}", answer.text());
    }
    Ok(())
}
