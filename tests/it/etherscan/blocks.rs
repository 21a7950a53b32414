//! `module=block`: heights by time, against the headers; what is in blocks; and the newest height as JSON-RPC says it.

use anyhow::ensure;
use serde_json::{Value, json};

use super::ask;
use super::frames::node_frames;
use super::transfers;
use crate::chains::{chain, quantity};

#[test]
fn blocks_are_found_by_time_from_both_sides() -> anyhow::Result<()> {
    for name in ["hive", "devchain"] {
        let chain = chain(name);
        let times: Vec<(u64, u64)> = chain
            .lines
            .iter()
            .map(|line| (quantity(&line["block"]["timestamp"]), quantity(&line["block"]["number"])))
            .collect();
        let (first, last) = (times[0].0, times[times.len() - 1].0);
        let some = times.iter().step_by(times.len() / 15);
        let between = some.flat_map(|(time, _)| [time.saturating_sub(1), *time, time + 1]);
        for time in between.chain([0, first / 2, last + 1_000_000]) {
            let before = times.iter().rfind(|(at, _)| *at <= time).map(|(_, number)| number);
            let after = times.iter().find(|(at, _)| *at >= time).map(|(_, number)| number);
            for (closest, due) in [("before", before), ("after", after)] {
                let query = format!("module=block&action=getblocknobytime&timestamp={time}&closest={closest}");
                let found = ask(&chain.api, &query)?;
                // The side before is what clients of Etherscan get without a word.
                let bare = query.replace("&closest=before", "");
                let bare = ask(&chain.api, &format!("{bare}&chainid=1"))?;
                match due {
                    Some(number) => {
                        ensure!(found["result"] == json!({"blockNumber": number.to_string()}), "{query}: {found}");
                        ensure!(bare["result"] == json!(number.to_string()), "{query}: {bare}");
                    }
                    None => ensure!(found["message"] == "No closest block found", "{query}: {found}"),
                }
            }
        }
    }
    Ok(())
}

/// Between blocks that are loaded there are others on mainnet, of which one is closer.
#[test]
fn a_closest_block_that_may_not_be_loaded_is_missing() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let numbers: Vec<u64> = chain.lines.iter().map(|line| quantity(&line["block"]["number"])).collect();
    let gap = numbers.windows(2).position(|pair| pair[1] > pair[0] + 1).unwrap_or_default();
    let of = |index: usize| quantity(&chain.lines[index]["block"]["timestamp"]);
    let between = of(gap) + (of(gap + 1) - of(gap)) / 2;
    for closest in ["before", "after"] {
        let query = format!("module=block&action=getblocknobytime&timestamp={between}&closest={closest}");
        let missing = ask(&chain.api, &query)?;
        ensure!(missing["status"] == "2" && missing["result"].is_null(), "{missing}");
    }
    for (query, message) in [
        ("timestamp=x&closest=before", "Invalid timestamp"),
        ("timestamp=1&closest=near", "Invalid closest"),
        ("timestamp=1", "Query parameter 'closest' is required"),
        ("closest=before", "Query parameter 'timestamp' is required"),
        ("timestamp=18446744073709551615&closest=before", "Invalid timestamp"),
    ] {
        let refused = ask(&chain.api, &format!("module=block&action=getblocknobytime&{query}"))?;
        let text = refused["message"].as_str().unwrap_or_default();
        ensure!(refused["status"] == "0" && text.starts_with(message), "{query}: {refused}");
    }
    Ok(())
}

#[test]
fn the_newest_height_is_an_answer_of_json_rpc() -> anyhow::Result<()> {
    let chain = chain("hive");
    let newest = ask(&chain.api, "module=block&action=eth_block_number&id=7")?;
    let due: Value = json!({"jsonrpc": "2.0", "id": 7, "result": format!("{:#x}", chain.head())});
    ensure!(newest == due, "{newest}");
    Ok(())
}

/// Frames are those of `txlistinternal`, and transfers those of the three lists of them.
#[test]
fn what_is_in_a_block_is_counted() -> anyhow::Result<()> {
    let mut kinds = [0; 5];
    for (name, step) in [("hive", 4), ("devchain", 1)] {
        let chain = chain(name);
        let (frames, transfers) = (node_frames(chain), transfers::all(chain)?);
        for line in chain.lines.iter().step_by(step) {
            let height = quantity(&line["block"]["number"]);
            let listed = frames.iter().filter(|frame| frame.block == height && !frame.is_idle_call()).count();
            let of = |action: &str| {
                let text = json!(height.to_string());
                transfers.iter().filter(|one| one.action == action && one.row["blockNumber"] == text).count()
            };
            let transactions = line["block"]["transactions"].as_array().map_or(0, Vec::len);
            let due = [transactions, listed, of("tokentx"), of("tokennfttx"), of("token1155tx")];
            let found = ask(&chain.api, &format!("module=block&action=getblocktxnscount&blockno={height}"))?;
            let expected = json!({
                "block": height, "txsCount": due[0], "internalTxsCount": due[1],
                "erc20TxsCount": due[2], "erc721TxsCount": due[3], "erc1155TxsCount": due[4],
            });
            ensure!(found["status"] == "1" && found["result"] == expected, "{name} {height}: {found}, due {expected}");
            kinds.iter_mut().zip(due).for_each(|(sum, count)| *sum += count);
        }
    }
    ensure!(kinds.iter().all(|count| *count > 0), "{kinds:?}");
    Ok(())
}

/// No traces of the mainnet blocks are loaded.
#[test]
fn what_is_in_a_block_is_not_counted_in_part() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    for height in [chain.head(), 7] {
        let missing = ask(&chain.api, &format!("module=block&action=getblocktxnscount&blockno={height}"))?;
        ensure!(missing["status"] == "2" && missing["result"].is_null(), "{missing}");
    }
    let above = ask(&chain.api, "module=block&action=getblocktxnscount&blockno=999999999")?;
    ensure!(above["status"] == "0" && above["message"] == "No record found", "{above}");
    Ok(())
}
