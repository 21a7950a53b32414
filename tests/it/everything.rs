//! Lists over all blocks, against what the nodes reported and against the lists of single blocks and transactions.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::{BlockRange, FramePosition, TransactionPosition, TransferPosition};
use trawl_core::readable::Span;
use trawl_query::walk::Walk;
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::pages::{List, frames_in, get, transfers_in, walk};
use crate::plans::{ReadPlan, explain_in};

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// What the node reported, newest first.
fn transactions(chain: &Chain) -> Vec<String> {
    let of_line = |line: &Value| {
        let name = |transaction: &Value| {
            let (block, index) = (quantity(&transaction["blockNumber"]), quantity(&transaction["transactionIndex"]));
            format!("{block} {index} {}", transaction["hash"].as_str().unwrap_or_default())
        };
        list(&line["block"]["transactions"]).iter().map(name).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = chain.lines.iter().flat_map(of_line).collect();
    all.reverse();
    all
}

fn withdrawals(chain: &Chain) -> Vec<String> {
    let of_line = |line: &Value| {
        let number = quantity(&line["block"]["number"]);
        let name = |withdrawal: &Value| {
            let (index, validator) = (quantity(&withdrawal["index"]), quantity(&withdrawal["validatorIndex"]));
            let wei = u128::from(quantity(&withdrawal["amount"])) * 1_000_000_000;
            format!("{number} {index} {validator} {wei}")
        };
        list(&line["block"]["withdrawals"]).iter().map(name).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = chain.lines.iter().flat_map(of_line).collect();
    all.reverse();
    all
}

#[test]
fn walks_match_the_nodes() -> anyhow::Result<()> {
    let mut counts = [0; 4];
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let expected = [
            ("transactions", transactions(chain)),
            ("withdrawals", withdrawals(chain)),
            ("token-transfers", transfers_in(name, "1")?),
            ("internal-transactions", frames_in(name, "1")?),
        ];
        for (at, (kind, expected)) in expected.iter().enumerate() {
            List::of_everything(kind).is(&chain.api, expected, if name == "mainnet" { &[100] } else { &[100, 37] })?;
            counts[at] += expected.len();
        }
    }
    ensure!(counts.iter().all(|count| *count > 60), "{counts:?}");
    Ok(())
}

/// Items are those that the lists of single blocks and transactions have.
#[test]
fn items_are_those_of_single_lists() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for item in get(chain, "transactions?items_count=100")?["items"].as_array().context("items")?.iter().step_by(9) {
        let (block, hash) = (&item["block_number"], item["hash"].as_str().context("hash")?);
        let of_block = walk(chain, &format!("blocks/{block}/transactions"), 50)?;
        ensure!(of_block.contains(item), "{item}");
        let mut frames = walk(chain, &format!("transactions/{hash}/internal-transactions"), 50)?;
        frames.reverse();
        let found = walk(chain, &format!("internal-transactions?transaction_hash={hash}"), 2)?;
        ensure!(found == frames, "{hash}: {found:?}, of the transaction {frames:?}");
    }
    for item in get(chain, "token-transfers?items_count=60")?["items"].as_array().context("items")?.iter().step_by(7) {
        let hash = item["transaction_hash"].as_str().context("hash")?;
        ensure!(walk(chain, &format!("transactions/{hash}/token-transfers"), 50)?.contains(item), "{item}");
    }
    for item in
        get(chain, "internal-transactions?items_count=60")?["items"].as_array().context("items")?.iter().step_by(7)
    {
        let block = &item["block_number"];
        ensure!(walk(chain, &format!("blocks/{block}/internal-transactions"), 50)?.contains(item), "{item}");
    }
    Ok(())
}

#[test]
fn what_is_no_ordered_read_is_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let refused = [
        "transactions?type=coin_transfer",
        "transactions?method=transfer",
        "transactions?filter=failed",
        "transactions?block_number=7",
        "transactions?inserted_at=2024-02-17T08:49:36Z",
        "token-transfers?type=ERC-21",
        "token-transfers?index=1",
        "token-transfers?limit=0",
        "withdrawals?block_number=3",
        "internal-transactions?transaction_hash=0x12",
        "internal-transactions?index=1",
        "withdrawals/counters?index=1",
    ];
    for path in refused {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
        ensure!(answer.status == 422, "{path}: {} {}", answer.status, answer.text());
    }
    let none = json!({"items": [], "next_page_params": null});
    ensure!(get(chain, "transactions?filter=pending")? == none);
    ensure!(get(chain, &format!("internal-transactions?transaction_hash=0x{}", "9e".repeat(32)))? == none);
    ensure!(get(chain, "transactions?block_number=0&index=0")? == none);
    let some = "items_count=20";
    ensure!(
        get(chain, &format!("transactions?filter=validated&{some}"))? == get(chain, &format!("transactions?{some}"))?
    );
    Ok(())
}

/// What Blockscout 11.2.7 takes: a type, a limit, and the members that its own cursors have.
#[test]
fn parameters_of_blockscout_are_honoured() -> anyhow::Result<()> {
    let (hive, devchain) = (chain("hive"), chain("devchain"));
    let blobs: Vec<Value> = transactions(hive)
        .iter()
        .filter_map(|name| name.rsplit(' ').next().map(|hash| json!(hash)))
        .filter(|hash| {
            let all = hive.lines.iter().flat_map(|line| line["block"]["transactions"].as_array().into_iter().flatten());
            all.clone().any(|transaction| transaction["hash"] == *hash && transaction["type"] == "0x3")
        })
        .collect();
    let found = walk(hive, "transactions?type=blob_transaction", 3)?;
    let hashes: Vec<Value> = found.iter().map(|item| item["hash"].clone()).collect();
    ensure!(hashes == blobs && !blobs.is_empty(), "{hashes:?}, expected {blobs:?}");
    let all = walk(devchain, "token-transfers", 100)?;
    for types in ["ERC-20", "ERC-721", "erc-1155,ERC-721"] {
        let is_expected = |item: &&Value| {
            item["token_type"].as_str().is_some_and(|kind| types.to_uppercase().split(',').any(|one| one == kind))
        };
        let expected: Vec<&Value> = all.iter().filter(is_expected).collect();
        let found = walk(devchain, &format!("token-transfers?type={types}"), 40)?;
        ensure!(found.iter().eq(expected.iter().copied()) && !found.is_empty(), "{types}: {} rows", found.len());
    }
    for list in ["token-transfers", "internal-transactions"] {
        ensure!(get(devchain, &format!("{list}?limit=7"))? == get(devchain, &format!("{list}?items_count=7"))?);
    }
    let newest = get(devchain, "transactions?items_count=1")?;
    let address = newest["items"][0]["from"]["hash"].as_str().context("a sender")?.to_owned();
    for list in ["transactions", "internal-transactions", "token-transfers"] {
        let list = format!("addresses/{address}/{list}");
        for both in ["to%20%7C%20from", "to+|+from", "from%7Cto"] {
            ensure!(get(devchain, &format!("{list}?filter={both}"))? == get(devchain, &list)?, "{list} {both}");
        }
    }
    for (list, name, all) in [
        ("blocks", "type", "block%20%7C%20uncle%20%7C%20reorg"),
        ("transactions", "filter", "pending%20%7C%20validated"),
        ("transactions", "filter", "validated+|+pending"),
        ("smart-contracts", "filter", "vyper%20%7C%20solidity%20%7C%20yul"),
    ] {
        ensure!(get(hive, &format!("{list}?{name}={all}"))? == get(hive, list)?, "{list} {all}");
    }
    // The cursor of withdrawals has the index alone there, and that of transactions what pending ones need.
    let withdrawals = walk(hive, "withdrawals", 50)?;
    for index in [1, 5, 40] {
        let expected: Vec<&Value> =
            withdrawals.iter().filter(|item| item["index"].as_u64().is_some_and(|one| one < index)).collect();
        let found = get(hive, &format!("withdrawals?index={index}&items_count=100"))?;
        let found = found["items"].as_array().context("items")?;
        ensure!(found.iter().eq(expected.iter().take(100).copied()), "{index}: {found:?}");
    }
    let position = "block_number=30&index=0";
    let more = format!("{position}&inserted_at=2024-02-17T08:49:36Z&hash=0x{}", "9e".repeat(32));
    ensure!(get(hive, &format!("transactions?{more}"))? == get(hive, &format!("transactions?{position}"))?);
    Ok(())
}

/// The sums of whole chains; a chain with a gap has a count, for indices have none, and no sum.
#[test]
fn withdrawals_are_counted_and_added_up_where_all_are_there() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let chain = chain(name);
        let all = withdrawals(chain);
        let counters = get(chain, "withdrawals/counters")?;
        let amount = |name: &String| name.rsplit(' ').next().and_then(|wei| wei.parse::<u128>().ok()).unwrap_or(0);
        let expected = match name {
            "mainnet" => {
                // The newest blocks are loaded without a gap from the last withdrawal on.
                let index = all.first().and_then(|name| name.split(' ').nth(1)?.parse::<u64>().ok()).context("one")?;
                json!({"withdrawals_count": (index + 1).to_string(), "withdrawals_sum": null})
            }
            _ => {
                let sum: u128 = all.iter().map(amount).sum();
                json!({"withdrawals_count": all.len().to_string(), "withdrawals_sum": sum.to_string()})
            }
        };
        ensure!(counters == expected, "{name}: {counters}, not {expected}");
    }
    Ok(())
}

/// A page of any list is read from its cursor down, however deep.
#[test]
fn pages_are_read_in_order() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    let head = chain("mainnet").head();
    let blocks = <Span as From<Vec<BlockRange>>>::from(vec![BlockRange::new(0, head).context("ordered")?]);
    let number = 15_040_708;
    let position = TransactionPosition { block_number: number, transaction_index: 3 };
    let frame = FramePosition { block_number: number, transaction_index: 3, frame_index: 4 };
    let transfer = TransferPosition { block_number: number, log_index: 7, batch_index: 0 };
    let only = |reads: anyhow::Result<Vec<ReadPlan>>| -> anyhow::Result<ReadPlan> {
        let mut reads = reads?;
        ensure!(reads.len() == 1, "{reads:?}");
        reads.pop().context("a read")
    };
    for is_deep in [false, true] {
        let walk = Walk { beyond: is_deep.then_some(position), ..Walk::newest(51) };
        let frames = trawl_query::transactions::internal::of_all(&blocks, is_deep.then_some(frame), 51);
        let searched = trawl_query::transactions::internal::of_all_searched(&blocks, is_deep.then_some(frame), 51);
        let transfers = trawl_query::tokens::transfers::of_all(&blocks, is_deep.then_some(transfer), 51);
        let withdrawals =
            trawl_query::blocks::withdrawals::of_all(&blocks, is_deep.then_some((17_062_257, 438_100)), 51);
        let reads = [
            only(explain_in(database, &trawl_query::transactions::of_all(&blocks, walk)))?,
            only(explain_in(database, &trawl_query::transactions::moves(None, &blocks, walk)))?,
            only(explain_in(database, &frames))?,
            only(explain_in(database, &searched))?,
            only(explain_in(database, &transfers))?,
            only(explain_in(database, &withdrawals))?,
        ];
        for read in reads {
            ensure!(read.kind == "InReverseOrder" && read.keys[0] == "block_number", "{read:?}");
        }
    }
    let days = [BlockRange::new(17_062_000, 17_063_000).context("ordered")?];
    let read = only(explain_in(database, &trawl_query::blocks::withdrawals::sums(&days)))?;
    ensure!(read.table == "withdrawals_by_block" && read.keys[0] == "block_number" && read.by_key.0 <= 2, "{read:?}");
    let block = <Span as From<Vec<BlockRange>>>::from(vec![BlockRange::single(number)]);
    let frames = trawl_query::transactions::internal::of_transaction_down(&block, 3, Some(frame), 51);
    let read = only(explain_in(database, &frames))?;
    ensure!(read.by_key.0 <= 2 && read.keys.contains(&"transaction_index".into()), "{read:?}");
    Ok(())
}
