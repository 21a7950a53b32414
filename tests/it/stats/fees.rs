//! The charts of fees, worked out here from what the nodes reported for each block.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{DAY, NodeFigures, is_near, line, node_figures, of_day};
use crate::chains::chain;
use crate::env;

/// The charts of fees, worked out from what the node reported for each block of a day.
fn fee_points(own: &[NodeFigures]) -> Option<Vec<(&'static str, f64)>> {
    let base: Vec<u128> = own.iter().map(|one| one.base_fee).collect::<Option<_>>()?;
    let burnt: u128 = own.iter().zip(&base).map(|(one, base)| base * u128::from(one.gas_used)).sum();
    let paid: u128 = own.iter().map(|one| one.fees).sum();
    Some(vec![
        ("lowestBaseFee", *base.iter().min()? as f64 / 1e9),
        ("averageBaseFee", (base.iter().sum::<u128>() / base.len() as u128) as f64 / 1e9),
        ("highestBaseFee", *base.iter().max()? as f64 / 1e9),
        ("burntFees", burnt as f64 / 1e18),
        ("priorityFees", (paid - burnt) as f64 / 1e18),
    ])
}

#[test]
fn charts_of_fees_are_those_of_the_blocks() -> anyhow::Result<()> {
    let mut seen = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let blocks = node_figures(chain);
        let days: BTreeSet<u64> = blocks.iter().map(|one| one.time / DAY).collect();
        let date = |point: &Value| {
            env::sql("default", &format!("SELECT toUInt32(toDate('{}'))", point["date"].as_str().unwrap_or("")))
        };
        for id in ["lowestBaseFee", "averageBaseFee", "highestBaseFee", "burntFees", "priorityFees"] {
            // A genesis alone on its day begins no chart.
            let known = days.iter().filter_map(|day| {
                let own = of_day(&blocks, *day).filter(|own| own.iter().any(|one| one.number > 0))?;
                let value = fee_points(&own)?.into_iter().find(|(known, _)| *known == id)?.1;
                Some((*day, value))
            });
            let known: Vec<(u64, f64)> = known.collect();
            let points = line(chain, id)?;
            ensure!(points.len() == known.len(), "{name} {id}: {points:?}, not {known:?}");
            for (point, (day, value)) in points.iter().zip(known) {
                let found: f64 = point["value"].as_str().context("a value")?.parse()?;
                ensure!(
                    date(point)? == day.to_string() && is_near(&found.into(), value),
                    "{name} {id}: {point}, not {value}"
                );
                seen += 1;
            }
        }
        let blob_gas = line(chain, "blobGasUsed?resolution=YEAR")?;
        let expected = blocks.iter().map(|one| one.blob_gas).sum::<Option<u64>>();
        let is_whole = name != "mainnet";
        if let Some(expected) = expected.filter(|_| is_whole) {
            let found: u64 = blob_gas.iter().filter_map(|point| point["value"].as_str()?.parse::<u64>().ok()).sum();
            ensure!(found == expected, "{name}: {blob_gas:?}, not {expected}");
            seen += 1;
        }
    }
    ensure!(seen > 5, "{seen}");
    Ok(())
}

/// The figures as a client of this family asks for them, with gas prices as objects.
fn with_parts(url: &str, tag: &str) -> anyhow::Result<ureq::http::Response<ureq::Body>> {
    let request = http::agent().get(url).header("updated-gas-oracle", "true");
    Ok(if tag.is_empty() { request } else { request.header("if-none-match", tag) }.call()?)
}

#[test]
fn gas_prices_have_parts_if_a_header_asks_for_them() -> anyhow::Result<()> {
    let mut compared = 0;
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let url = format!("{}/api/v2/stats", chain.api);
        // The form without parts first, so that it is in memory.
        let numbers = http::get(&http::agent(), &url)?.json()?;
        ensure!(numbers["gas_prices_update_in"] == 0 || numbers["average_block_time"].is_null(), "{name}: {numbers}");
        let answer = with_parts(&url, "")?;
        let names = |answer: &ureq::http::Response<ureq::Body>| {
            let all = answer.headers().get_all("vary").into_iter().filter_map(|value| value.to_str().ok());
            all.map(str::to_lowercase).collect::<Vec<_>>().join(", ")
        };
        ensure!(names(&answer).contains("updated-gas-oracle"), "{name}: {answer:?}");
        let tag = answer.headers()["etag"].to_str()?.to_owned();
        let objects: Value = answer.into_body().read_json()?;
        let again = with_parts(&url, &tag)?;
        ensure!(again.status() == 304 && names(&again).contains("updated-gas-oracle"), "{name}: {again:?}");
        ensure!(http::get(&http::agent(), &url)?.json()?["gas_prices"] == numbers["gas_prices"], "{name}");
        let alone = http::get(&http::agent(), &format!("{}/api/v1/gas-price-oracle", chain.api))?.json()?;
        let none = || json!({"slow": null, "average": null, "fast": null});
        let due = if numbers["gas_prices"].is_null() { none() } else { numbers["gas_prices"].clone() };
        ensure!(alone == due, "{name}: {alone}, due {due}");
        let Some(prices) = numbers["gas_prices"].as_object() else { continue };
        for (of, number) in prices {
            let object = &objects["gas_prices"][of];
            ensure!(object["price"] == *number, "{name}: {object}, not {number}");
            let wei: f64 = object["wei"].as_str().context("wei")?.parse()?;
            ensure!(is_near(number, wei / 1e9), "{name}: {object}");
            ensure!(object["time"].is_null() && object["fiat_price"].is_null(), "{name}: {object}");
            let Some(base_fee) = object["base_fee"].as_f64() else { continue };
            let is_of_block = |block: &NodeFigures| block.base_fee.is_some_and(|fee| fee as f64 / 1e9 == base_fee);
            ensure!(node_figures(chain).iter().any(is_of_block), "{name}: {object}");
            if let Some(tip) = object["priority_fee_wei"].as_str() {
                let tip: f64 = tip.parse()?;
                ensure!(is_near(&object["priority_fee"], tip / 1e9), "{name}: {object}");
                ensure!(is_near(&object["price"], base_fee + tip / 1e9), "{name}: {object}");
                compared += 1;
            }
        }
    }
    ensure!(compared > 0);
    Ok(())
}
