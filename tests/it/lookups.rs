//! Lookups of REST: a block, what a transaction moved and called, and the same of a block.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::env;

const CHAINS: [&str; 3] = ["hive", "devchain", "mainnet"];

fn ask(chain: &Chain, path: &str) -> anyhow::Result<(u16, Value)> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
    Ok((answer.status, answer.json()?))
}

fn get(chain: &Chain, path: &str) -> anyhow::Result<Value> {
    let (status, answer) = ask(chain, path)?;
    ensure!(status == 200, "{path}: {status} {answer}");
    Ok(answer)
}

#[test]
fn a_block_is_that_of_the_list_by_height_and_by_hash() -> anyhow::Result<()> {
    for name in CHAINS {
        let chain = chain(name);
        for line in chain.lines.iter().step_by((chain.lines.len() / 12).max(1)) {
            let expected = &line["block"];
            let height = quantity(&expected["number"]);
            let hash = expected["hash"].as_str().context("a hash")?;
            let mut block = get(chain, &format!("blocks/{height}"))?;
            ensure!(block["hash"] == expected["hash"] && block["parent_hash"] == expected["parentHash"], "{block}");
            ensure!(
                block["gas_used"] == json!(quantity(&expected["gasUsed"]).to_string()) && block["type"] == "block",
                "{block}"
            );
            let count = expected["transactions"].as_array().map(Vec::len);
            ensure!(block["transactions_count"].as_u64() == count.map(|count| count as u64), "{block}");
            ensure!(get(chain, &format!("blocks/{hash}"))? == block, "{hash}");
            // Only a block that is shown alone has them.
            for alone in ["blob_gas_price", "burnt_blob_fees"] {
                block.as_object_mut().context("a block")?.remove(alone);
            }
            let list = get(chain, &format!("blocks?block_number={}&items_count=1", height + 1))?;
            ensure!(list["items"][0] == block, "{height}: {block}, in the list {list}");
        }
    }
    Ok(())
}

/// The price of blob gas is that of the receipts, where a transaction of the block carries blobs.
#[test]
fn a_block_has_the_price_of_its_blob_gas() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let wide = |value: &Value| {
        u128::from_str_radix(value.as_str().unwrap_or("0x0").trim_start_matches("0x"), 16).unwrap_or_default()
    };
    let (mut priced, mut paid) = (0, 0);
    for line in &chain.lines {
        let block = get(chain, &format!("blocks/{}", quantity(&line["block"]["number"])))?;
        let is_priced = block["blob_gas_price"].is_string();
        ensure!(is_priced == line["block"]["excessBlobGas"].is_string(), "{block}");
        priced += usize::from(is_priced);
        let receipts = line["receipts"].as_array().map_or(&[][..], Vec::as_slice);
        let with_blobs: Vec<&Value> = receipts.iter().filter(|one| one["blobGasPrice"].is_string()).collect();
        let Some(first) = with_blobs.first() else { continue };
        let price = wide(&first["blobGasPrice"]);
        let burnt: u128 = with_blobs.iter().map(|one| wide(&one["blobGasUsed"]) * price).sum();
        ensure!(block["blob_gas_price"] == price.to_string(), "{block}, not {price}");
        ensure!(block["burnt_blob_fees"] == burnt.to_string(), "{block}, not {burnt}");
        paid += 1;
    }
    ensure!(priced > 3 && paid > 0, "{priced} prices, {paid} paid");
    Ok(())
}

/// Without an ABI of its own a call is decoded as that of the transaction that made it.
#[test]
fn calldata_is_decoded_as_the_input_of_a_transaction() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let page = get(chain, "transactions?items_count=100")?;
    let mut decoded = 0;
    for item in page["items"].as_array().context("items")? {
        let (Some(input), Some(to)) = (item["raw_input"].as_str(), item["to"]["hash"].as_str()) else { continue };
        if item["decoded_input"].is_null() || input.len() > 4_000 {
            continue;
        }
        let found = get(chain, &format!("utils/decode-calldata?calldata={input}&address_hash={to}"))?;
        ensure!(found == json!({"result": item["decoded_input"]}), "{found}, not {item}");
        decoded += 1;
    }
    ensure!(decoded > 3, "{decoded} calls");
    let to = format!("address_hash=0x{}", "12".repeat(20));
    ensure!(get(chain, &format!("utils/decode-calldata?calldata=0x01020304&{to}"))? == json!({"result": null}));
    for (query, pointer) in [
        ("calldata=0xa9059cbb".to_owned(), "/address_hash"),
        (to.clone(), "/calldata"),
        (format!("calldata=a9059cbb&{to}"), "/calldata"),
        (format!("calldata=0xa9059cb&{to}"), "/calldata"),
        ("calldata=0xa9059cbb&address_hash=0x12".to_owned(), "/address_hash"),
    ] {
        let (status, answer) = ask(chain, &format!("utils/decode-calldata?{query}"))?;
        ensure!(status == 422 && answer["errors"][0]["source"]["pointer"] == pointer, "{query}: {answer}");
    }
    Ok(())
}

#[test]
fn a_block_that_is_not_there_is_404_and_no_name_422() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for path in ["blocks/99999999", "blocks/99999999999999999999", &format!("blocks/0x{}", "ab".repeat(32))] {
        let (status, answer) = ask(chain, path)?;
        ensure!(status == 404 && answer["message"] == "Not found", "{path}: {status} {answer}");
    }
    for path in ["blocks/latest", "blocks/-1", "blocks/0x10", "blocks/1?items_count=3"] {
        ensure!(ask(chain, path)?.0 == 422, "{path}");
    }
    Ok(())
}

/// All items of a list, page by page; each page after the first is requested with the cursor of the one before.
fn walk(chain: &Chain, path: &str, size: u64) -> anyhow::Result<Vec<Value>> {
    let (mut items, mut cursor) = (Vec::new(), format!("items_count={size}"));
    loop {
        let separator = if path.contains('?') { '&' } else { '?' };
        let page = get(chain, &format!("{path}{separator}{cursor}"))?;
        let more = page["items"].as_array().context("items")?;
        ensure!(more.len() as u64 <= size, "{page}");
        items.extend(more.iter().cloned());
        let Some(next) = page["next_page_params"].as_object() else { return Ok(items) };
        let member = |(name, value): (&String, &Value)| match value.as_str() {
            Some(text) => format!("{name}={text}"),
            None => format!("{name}={value}"),
        };
        let members = next.iter().filter(|(name, _)| *name != "items_count").map(member);
        cursor = members.chain([format!("items_count={size}")]).collect::<Vec<_>>().join("&");
    }
}

/// Topics of the three transfer events of the standards.
const TRANSFER_EVENTS: [&str; 3] = [
    "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
    "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62",
    "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb",
];

#[test]
fn token_transfers_of_a_transaction_are_those_of_its_logs() -> anyhow::Result<()> {
    let (mut several, mut none) = (0, 0);
    for name in ["devchain", "mainnet"] {
        let chain = chain(name);
        let receipts = chain.lines.iter().flat_map(|line| line["receipts"].as_array().cloned().unwrap_or_default());
        let mut by_logs: Vec<Value> = receipts.collect();
        by_logs.sort_by_key(|receipt| std::cmp::Reverse(receipt["logs"].as_array().map_or(0, Vec::len)));
        let some: Vec<&Value> = by_logs
            .iter()
            .take(env::amount(4, 12))
            .chain(by_logs.iter().skip(12).step_by(env::amount(293, 97)))
            .collect();
        for receipt in some {
            let hash = receipt["transactionHash"].as_str().context("a hash")?;
            let logs = receipt["logs"].as_array().context("logs")?;
            let could = |log: &&Value| log["topics"][0].as_str().is_some_and(|topic| TRANSFER_EVENTS.contains(&topic));
            let possible: Vec<u64> = logs.iter().filter(could).map(|log| quantity(&log["logIndex"])).collect();
            let found = walk(
                chain,
                &format!("transactions/{hash}/token-transfers"),
                3.max(possible.len() as u64 / 5).min(100),
            )?;
            let whole = get(chain, &format!("transactions/{hash}/token-transfers?items_count=100"))?;
            let first = whole["items"].as_array().context("items")?;
            ensure!(found.iter().zip(first).all(|(one, other)| one == other), "{hash}");
            let positions: Vec<u64> = found.iter().filter_map(|item| item["log_index"].as_u64()).collect();
            ensure!(
                positions.is_sorted() && positions.iter().all(|position| possible.contains(position)),
                "{hash}: {positions:?}"
            );
            ensure!(found.iter().all(|item| item["transaction_hash"] == hash), "{hash}");
            let page = get(chain, &format!("transactions/{hash}"))?;
            let shown = page["token_transfers"].as_array().context("token_transfers")?;
            ensure!(shown.iter().eq(found.iter().take(10)), "{hash}: {page}");
            ensure!(page["token_transfers_overflow"] == (found.len() > 10), "{hash}: {page}");
            let kinds = ["ERC-20", "ERC-721", "ERC-1155"];
            let mut by_kind = 0;
            for kind in kinds {
                let of_kind = walk(chain, &format!("transactions/{hash}/token-transfers?type={kind}"), 50)?;
                ensure!(of_kind.iter().all(|item| item["token_type"] == kind), "{hash}");
                by_kind += of_kind.len();
            }
            ensure!(by_kind == found.len(), "{hash}: {by_kind} of {}", found.len());
            several += usize::from(found.len() > 3);
            none += usize::from(found.is_empty());
        }
    }
    ensure!(several > 4 && none > 1, "{several} with several, {none} without");
    Ok(())
}

#[test]
fn frames_of_transactions_and_blocks_are_those_of_the_traces() -> anyhow::Result<()> {
    let (mut frames, mut failed) = (0, 0);
    for name in ["devchain", "mainnet"] {
        let chain = chain(name);
        let is_devchain = name == "devchain";
        let (blocks, every) =
            if is_devchain { (env::amount(2, 1), env::amount(3, 1)) } else { (1, env::amount(41, 7)) };
        let full = chain.lines.iter().filter(|line| line["block"]["transactions"][0].is_object());
        for line in full.step_by(blocks) {
            let height = quantity(&line["block"]["number"]);
            let (status, _) = ask(chain, &format!("blocks/{height}/internal-transactions"))?;
            if status != 200 {
                continue;
            }
            let of_block = walk(chain, &format!("blocks/{height}/internal-transactions"), 100)?;
            let position = |item: &Value| (item["transaction_index"].as_u64(), item["index"].as_u64());
            ensure!(of_block.is_sorted_by_key(position), "{height}");
            for transaction in line["block"]["transactions"].as_array().context("transactions")?.iter().step_by(every) {
                let hash = transaction["hash"].as_str().context("a hash")?;
                let raw = get(chain, &format!("transactions/{hash}/raw-trace"))?;
                let raw = raw.as_array().context("frames")?;
                let listed = |(position, frame): &(usize, &Value)| *position > 0 || frame["type"] == "create";
                let expected: Vec<usize> =
                    raw.iter().enumerate().filter(listed).map(|(position, _)| position).collect();
                let found = walk(chain, &format!("transactions/{hash}/internal-transactions"), 4)?;
                let ahead = "block_number=0&transaction_index=0&index=-1";
                let from_start = walk(chain, &format!("transactions/{hash}/internal-transactions?{ahead}"), 100)?;
                ensure!(from_start == found, "{hash}: a cursor ahead of the first frame");
                let positions: Vec<usize> =
                    found.iter().filter_map(|item| usize::try_from(item["index"].as_u64()?).ok()).collect();
                ensure!(positions == expected, "{hash}: {positions:?} of {expected:?}");
                let of_block = of_block.iter().filter(|item| item["transaction_hash"] == hash);
                ensure!(of_block.eq(found.iter()), "{hash} in block {height}");
                let fails = raw.iter().skip(1).any(|frame| !frame["error"].is_null());
                let page = get(chain, &format!("transactions/{hash}"))?;
                ensure!(page["has_error_in_internal_transactions"] == fails, "{hash}: {page}");
                frames += found.len();
                failed += usize::from(fails);
            }
        }
    }
    ensure!(frames > env::amount(20, 60) && failed > 0, "{frames} frames, {failed} transactions with a failed call");
    Ok(())
}

#[test]
fn frames_of_a_block_are_filtered_by_what_they_do() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let mut creations = 0;
    for line in chain.lines.iter().step_by(env::amount(3, 1)) {
        let height = quantity(&line["block"]["number"]);
        let path = format!("blocks/{height}/internal-transactions");
        if ask(chain, &path)?.0 != 200 {
            continue;
        }
        let all = walk(chain, &path, 100)?;
        for ahead in ["transaction_index=0&index=-1", "transaction_index=-1&index=7"] {
            ensure!(
                walk(chain, &format!("{path}?{ahead}"), 100)? == all,
                "{height}: a cursor ahead of the first frame"
            );
        }
        for kind in ["call", "callcode", "delegatecall", "staticcall", "create", "create2", "selfdestruct"] {
            let expected = all.iter().filter(|item| item["type"] == kind).count();
            let name =
                if ["create", "create2", "selfdestruct"].contains(&kind) { "internal_type" } else { "call_type" };
            let found = walk(chain, &format!("{path}?{name}={kind}"), 7)?;
            ensure!(found.len() == expected && found.iter().all(|item| item["type"] == kind), "{height} {kind}");
            creations += usize::from(kind == "create" && expected > 0);
        }
        ensure!(walk(chain, &format!("{path}?internal_type=stop"), 7)?.is_empty(), "{height}");
    }
    ensure!(creations > 0);
    ensure!(ask(chain, "blocks/1/internal-transactions?internal_type=x")?.0 == 422);
    ensure!(ask(chain, "blocks/1/internal-transactions?index=1")?.0 == 422);
    ensure!(ask(chain, &format!("transactions/0x{}/token-transfers", "ab".repeat(32)))?.0 == 404);
    ensure!(ask(chain, "transactions/0x12/internal-transactions")?.0 == 422);
    Ok(())
}
