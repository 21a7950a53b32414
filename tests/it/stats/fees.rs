//! The charts of fees, worked out here from what the nodes reported for each block.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::Value;

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
