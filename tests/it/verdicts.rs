//! What was proven of blocks, as the API says it: of settled blocks, of those at the head, and of blocks proven again.

use anyhow::ensure;
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{chain, quantity};
use crate::env;
use crate::ingest::follow::{Follower, reaches};
use crate::ingest::node::Node;
use crate::pages::get;

/// Headers, bodies and receipts of the bundled chains are whole, so every check that no neighbour is needed for held.
#[test]
fn every_block_of_the_bundled_chains_is_verified() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let count = chain.lines.len();
        let totals = get(chain, "stats/verdicts")?;
        let expected =
            json!({"blocks": count, "verified": count, "partial": 0, "unverified": 0, "refused": 0, "unknown": 0});
        ensure!(totals == expected, "{name}: {totals}");
        for line in [&chain.lines[count / 2], &chain.lines[count - 1]] {
            let (height, hash) = (quantity(&line["block"]["number"]), &line["block"]["hash"]);
            for id in [height.to_string(), hash.as_str().unwrap_or_default().to_owned()] {
                let verdict = get(chain, &format!("blocks/{id}/verdict"))?;
                ensure!(verdict["verdict"] == "verified" && verdict["block_hash"] == *hash, "{name} {id}: {verdict}");
                // Another test proves these chains again from what is stored.
                let is_known = verdict["source"] == "dump" || verdict["source"] == "tables";
                ensure!(verdict["block_number"] == height && is_known, "{name} {id}: {verdict}");
                let checked: Vec<&str> =
                    verdict["checked"].as_array().into_iter().flatten().flat_map(Value::as_str).collect();
                for check in ["header hash", "sender", "transactions root", "receipts root", "logs bloom"] {
                    ensure!(checked.contains(&check), "{name} {id}: {verdict}");
                }
            }
        }
    }
    let absent = http::get(&http::agent(), &format!("{}/api/v2/blocks/999999/verdict", chain("hive").api))?;
    ensure!(absent.status == 404, "{}", absent.text());
    Ok(())
}

/// A block that is loaded without checks says so until it is proven from what is stored; then the newest verdict
/// counts.
#[test]
fn the_newest_verdict_counts() -> anyhow::Result<()> {
    let database = "verdicts";
    let _database = env::migrate(database)?;
    let node = Node::start("devchain", &["--head", "40", "--finality", "20"])?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--to", "9", "--verify", "off"]), 0)?;
    let follower = Follower::start(database, &node.url, &["--from", "10"])?;
    let api = env::start_api(database, &[])?;
    let all = chain("devchain");
    reaches(&api.url, all.lines[40]["block"]["hash"].as_str().unwrap_or_default())?;
    let read = |path: &str| http::get(&http::agent(), &format!("{}/api/v2/{path}", api.url))?.json();
    // Some of these are settled, some in memory.
    let totals = read("stats/verdicts")?;
    ensure!(totals["blocks"] == 41 && totals["unverified"] == 10 && totals["unknown"] == 0, "{totals}");
    ensure!(totals["verified"].as_u64() == Some(31), "{totals}");
    for (height, expected) in [(9, "unverified"), (15, "verified"), (40, "verified")] {
        let verdict = read(&format!("blocks/{height}/verdict"))?;
        let hash = &all.lines[height]["block"]["hash"];
        ensure!(verdict["verdict"] == expected && verdict["block_hash"] == *hash, "{height}: {verdict}");
    }
    let storage = read("stats/storage")?;
    let settled = storage["blocks"]["newest_settled"].as_u64().unwrap_or_default();
    ensure!(storage["blocks"]["newest"] == 40 && (9..=20).contains(&settled), "{storage}");
    ensure!(storage["blocks"]["unsettled"] == 40 - settled, "{storage}");
    let headers = storage["tables"].as_array().into_iter().flatten().find(|table| table["name"] == "blocks");
    let has_settled = |table: &Value| table["rows"].as_u64() > Some(9) && table["parts"].as_u64() > Some(0);
    ensure!(headers.is_some_and(has_settled) && storage["disks"][0]["free_bytes"].is_u64(), "{storage}");
    ensure!(storage["clickhouse"]["memory_bytes"].is_u64(), "{storage}");
    follower.stop()?;
    env::run(env::ingest(database, &["verify", "--from", "0", "--to", "9"]), 0)?;
    let again = read("blocks/9/verdict")?;
    ensure!(again["verdict"] != "unverified" && again["source"] == "tables", "{again}");
    api.stop()?;
    Ok(())
}
