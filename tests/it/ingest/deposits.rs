//! Lists of transactions from L1: real blocks of OP Mainnet and Scroll, and a message of Arbitrum put into the tables.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::BlockRange;
use trawl_query::transactions::of_types_beyond_first;
use trawl_query::walk::Walk;
use xtask::{http, workspace};

use super::{load, write_dump};
use crate::chains::lines_of;
use crate::{env, plans};

fn get(url: &str, path: &str) -> anyhow::Result<http::Answer> {
    http::get(&http::agent(), &format!("{url}/api/v2/{path}"))
}

/// Recorded blocks of a chain.
fn recorded(name: &str) -> anyhow::Result<Vec<Value>> {
    let text = std::fs::read_to_string(workspace::fixture(&format!("chains/{name}.ndjson")))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Loads each line for itself, as blocks that are far apart.
fn load_each(database: &str, chain_id: &str, lines: &[Value]) -> anyhow::Result<()> {
    for line in lines {
        let number = line["block"]["number"].as_str().and_then(|text| text.strip_prefix("0x")).context("a height")?;
        let number = u64::from_str_radix(number, 16)?.to_string();
        let file = write_dump(std::slice::from_ref(line))?;
        let flags = ["--chain-id", chain_id, "--from", &number, "--to", &number];
        load(database, &file.path().display().to_string(), &flags, 0)?;
    }
    Ok(())
}

/// The second transaction of block 109,279,675 is a deposit, the first one the protocol's, of the call of 2023 whose
/// arguments begin with height and time of the L1 block.
#[test]
fn of_the_op_stack_are_without_those_of_the_protocol() -> anyhow::Result<()> {
    let database = env::migrate("deposits_optimism")?;
    let lines = lines_of(&workspace::fixture("chains/prestates/blocks-without-receipts-10.ndjson.gz"))?;
    load_each(&database, "10", &lines)?;
    let transactions = &lines.last().context("a block")?["block"]["transactions"];
    let attributes = transactions[0]["input"].as_str().context("an input")?;
    let word = |position: usize| u64::from_str_radix(&attributes[10 + 64 * position..][..64], 16);
    let api = env::start_api(&database, &[])?;
    let page = get(&api.url, "optimism/deposits")?.json()?;
    let time = jiff::Timestamp::from_second(i64::try_from(word(1)?)?)?.strftime("%Y-%m-%dT%H:%M:%S").to_string();
    let gas = u64::from_str_radix(transactions[1]["gas"].as_str().context("gas")?.trim_start_matches("0x"), 16)?;
    let item = &page["items"][0];
    ensure!(item["l1_block_number"] == word(0)?, "{page}");
    ensure!(item["l1_block_timestamp"].as_str().is_some_and(|shown| shown.starts_with(&time)), "{time}: {page}");
    ensure!(item["l2_transaction_hash"] == transactions[1]["hash"], "{page}");
    ensure!(item["l2_transaction_gas_limit"] == json!(gas.to_string()), "{page}");
    ensure!(item["l1_transaction_hash"].is_null() && item["l1_transaction_origin"].is_null(), "{page}");
    ensure!(page["items"][1].is_null() && page["next_page_params"].is_null(), "{page}");
    ensure!(get(&api.url, "main-page/optimism-deposits")?.json()? == page["items"], "{page}");
    ensure!(get(&api.url, "main-page/arbitrum/messages/to-rollup")?.status == 400, "a list of another family");
    ensure!(get(&api.url, "scroll/deposits")?.status == 400 && get(&api.url, "optimism/deposits?l1=3")?.status == 422);
    Ok(())
}

#[test]
fn of_scroll_are_by_their_position_in_the_queue() -> anyhow::Result<()> {
    let database = env::migrate("deposits_scroll")?;
    let lines = recorded("scroll-without-receipts-534352")?;
    load_each(&database, "534352", &lines)?;
    let api = env::start_api(&database, &[])?;
    let mut path = "scroll/deposits?items_count=1".to_owned();
    let messages: Vec<&Value> = lines.iter().rev().map(|line| &line["block"]["transactions"][0]).collect();
    ensure!(messages.len() == 2, "{messages:?}");
    for (transaction, queue_index) in messages.into_iter().zip([4, 3]) {
        let page = get(&api.url, &path)?.json()?;
        let item = &page["items"][0];
        ensure!(item["id"] == queue_index && item["completion_transaction_hash"] == transaction["hash"], "{page}");
        // Selector, two addresses, amount.
        let input = transaction["input"].as_str().context("an input")?;
        let amount = u128::from_str_radix(&input[10 + 2 * 64 + 32..][..32], 16)?;
        ensure!(input.starts_with("0x8ef1332e") && item["value"] == amount.to_string(), "{page}");
        ensure!(item["origination_transaction_hash"].is_null(), "{page}");
        let next = &page["next_page_params"];
        path = format!("scroll/deposits?items_count=1&block_number={}&index={}", next["block_number"], next["index"]);
    }
    ensure!(get(&api.url, "scroll/withdrawals")?.json()?["items"] == json!([]), "withdrawals");
    Ok(())
}

#[test]
fn of_arbitrum_have_their_request() -> anyhow::Result<()> {
    let database = env::migrate("deposits_arbitrum")?;
    let lines = recorded("arbitrum-without-receipts-421614")?;
    load_each(&database, "421614", &lines)?;
    // No recorded block has one.
    let request = format!("0x{:064x}", 1_902_217);
    let insert = format!(
        "INSERT INTO transactions SELECT * REPLACE(toUInt8(105) AS transaction_type, 90 AS transaction_index, \
         '{{\"requestId\":\"{request}\"}}' AS raw_transaction) FROM transactions ORDER BY block_number, transactions.transaction_index LIMIT 1 OFFSET 1"
    );
    env::sql(&database, &insert)?;
    let api = env::start_api(&database, &[])?;
    let page = get(&api.url, "arbitrum/messages/to-rollup")?.json()?;
    let item = &page["items"][0];
    ensure!(item["id"] == 1_902_217 && item["status"] == "relayed", "{page}");
    let hash = &lines[0]["block"]["transactions"][1]["hash"];
    ensure!(item["completion_transaction_hash"] == *hash && item["origination_timestamp"].is_null(), "{page}");
    ensure!(page["items"][1].is_null(), "the transaction that begins the block is no message: {page}");
    let newest = get(&api.url, "main-page/arbitrum/messages/to-rollup")?.json()?;
    ensure!(newest == json!({"items": page["items"]}), "{newest}");
    ensure!(get(&api.url, "main-page/optimism-deposits")?.status == 400, "a list of another family");
    Ok(())
}

/// A deposit in 100,000 blocks is found in the granule that has it.
#[test]
fn are_found_without_reading_all_blocks() -> anyhow::Result<()> {
    let database = env::migrate("deposits_plan")?;
    let fill = "INSERT INTO transactions (block_number, transaction_index, transaction_type) \
                SELECT number, 0, 126 FROM numbers(100000) UNION ALL SELECT 5000, 1, 126";
    env::sql(&database, fill)?;
    let blocks = vec![BlockRange::new(0, 99_999).context("ordered")?].into();
    let reads = plans::explain_in(&database, &of_types_beyond_first(&[126], &blocks, Walk::newest(51)))?;
    let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
    ensure!(read.table.ends_with("transactions") && read.kind == "InReverseOrder", "{read:?}");
    ensure!(read.by_key.0 > 100 && read.left <= 2, "{read:?}");
    Ok(())
}
