//! What the first page of an explorer shows: the newest of the lists, and how much is loaded.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::chains::{chain, lines, quantity};
use crate::env;
use crate::pages::get;

#[test]
fn the_newest_are_those_of_the_lists() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        for (kind, count) in [("blocks", 4), ("transactions", 6)] {
            let newest = get(chain, &format!("main-page/{kind}"))?;
            ensure!(newest == get(chain, &format!("{kind}?items_count={count}"))?["items"], "{name}: {newest}");
            ensure!(newest.as_array().map(Vec::len) == Some(count), "{name}: {newest}");
        }
    }
    Ok(())
}

#[test]
fn shares_are_those_of_the_blocks_that_are_loaded() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let heights: Vec<u64> = chain.lines.iter().map(|line| quantity(&line["block"]["number"])).collect();
        let share = heights.len() as f64 / (chain.head() + 1) as f64;
        let status = get(chain, "main-page/indexing-status")?;
        let found = status["indexed_blocks_ratio"].as_f64().context("a number")?;
        ensure!((found - share).abs() < 1e-9, "{name}: {status}, not {share}");
        let is_whole = heights.len() as u64 == chain.head() + 1;
        ensure!(status["finished_indexing_blocks"] == is_whole && (found == 1.0) == is_whole, "{name}: {status}");
        let traces = status["indexed_internal_transactions_ratio"].as_f64().context("a number")?;
        ensure!(status["finished_indexing"] == (is_whole && traces == 1.0), "{name}: {status}");
    }
    Ok(())
}

/// Without call frames there is no share of them, and nothing is missing.
#[test]
fn call_frames_that_are_not_requested_are_not_missing() -> anyhow::Result<()> {
    let database = "main_page_no_traces";
    let _database = env::migrate(database)?;
    let folder = env::directory()?;
    let file = folder.path().join("without_traces.ndjson");
    let without = |mut line: Value| {
        let members = line.as_object_mut().into_iter();
        members.for_each(|line| line.retain(|name, _| ["block", "receipts", "uncleHeaders"].contains(&name.as_str())));
        line.to_string()
    };
    let lines: Vec<String> = lines("devchain")?.into_iter().take(10).map(without).collect();
    std::fs::write(&file, lines.join("\n"))?;
    env::run(env::ingest(database, &["load", "--dump", &file.display().to_string()]), 0)?;
    let api = env::start_api(database, &[])?;
    let path = format!("{}/api/v2/main-page/indexing-status", api.url);
    let status: Value = xtask::http::get(&xtask::http::agent(), &path)?.json()?;
    let expected = json!({
        "finished_indexing": true,
        "finished_indexing_blocks": true,
        "indexed_blocks_ratio": 1.0,
        "indexed_internal_transactions_ratio": null,
    });
    ensure!(status == expected, "{status}");
    api.stop()?;
    Ok(())
}
