//! Wide scans of internal transactions, token transfers and transactions, against what the nodes answered.

use std::io::Cursor;

use anyhow::{Context as _, ensure};
use arrow::array::{Array, RecordBatch, StringArray, UInt64Array};
use arrow::ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Map, Value, json};
use xtask::http::{self, Answer};
use xtask::workspace;

use super::{ALL, lines};
use crate::chains::{Chain, chain, quantity};
use crate::env;

mod refusals;

const PATHS: [&str; 3] = ["internal-transactions", "token-transfers", "transactions"];

fn scan(chain: &Chain, path: &str, query: &str) -> anyhow::Result<Answer> {
    http::get(&http::agent(), &format!("{}/api/v2/scan/{path}?{query}", chain.api))
}

/// All rows of a scan of the whole chain, which has to be whole.
pub fn rows(chain: &Chain, path: &str, query: &str) -> anyhow::Result<Vec<Value>> {
    let answer = scan(chain, path, &format!("{ALL}&format=ndjson&{query}"))?;
    ensure!(answer.status == 200, "{path} {query}: {}", answer.text());
    let (rows, end) = lines(&answer)?;
    ensure!(end["complete"] == true && end["count"] == rows.len(), "{path} {query}: {end}");
    Ok(rows)
}

/// The frames that the node reported, as the scan shows them: no outermost calls, no rewards.
pub fn frames(chain: &Chain) -> Vec<Value> {
    let mut frames = Vec::new();
    for line in &chain.lines {
        for (position, trace) in line["parityTraces"].as_array().into_iter().flatten().enumerate() {
            let failed_paths: Vec<&[Value]> = trace
                .as_array()
                .into_iter()
                .flatten()
                .filter(|frame| frame["error"].is_string())
                .filter_map(|frame| frame["traceAddress"].as_array().map(Vec::as_slice))
                .collect();
            for (index, frame) in trace.as_array().into_iter().flatten().enumerate() {
                let action = &frame["action"];
                let failed = frame["error"].is_string();
                let path = frame["traceAddress"].as_array().map_or(&[][..], Vec::as_slice);
                let is_undone = failed_paths.iter().any(|above| path.starts_with(above));
                let call_type = action.get("callType").or(action.get("creationMethod")).unwrap_or(&Value::Null);
                let (kind, from, to, value) = match frame["type"].as_str() {
                    Some("suicide") => {
                        ("selfdestruct", &action["address"], &action["refundAddress"], &action["balance"])
                    }
                    Some("create") => ("create", &action["from"], &Value::Null, &action["value"]),
                    _ if index == 0 => continue,
                    _ => ("call", &action["from"], &action["to"], &action["value"]),
                };
                let moves = !matches!(call_type.as_str(), Some("delegatecall" | "staticcall"));
                let created = if kind == "create" && !failed { &frame["result"]["address"] } else { &Value::Null };
                frames.push(json!({
                    "blockNumber": line["block"]["number"],
                    "blockHash": line["block"]["hash"],
                    "blockTimestamp": line["block"]["timestamp"],
                    "transactionIndex": format!("{position:#x}"),
                    "transactionHash": line["block"]["transactions"][position]["hash"],
                    "frameIndex": format!("{index:#x}"),
                    "type": kind,
                    "callType": call_type,
                    "from": from,
                    "to": to,
                    "createdContract": created,
                    "value": if moves { value.clone() } else { json!("0x0") },
                    "gas": action.get("gas").cloned().unwrap_or(json!("0x0")),
                    "error": frame["error"],
                    "isUndone": is_undone,
                }));
            }
        }
    }
    frames
}

fn same(found: &[Value], expected: &[&Value], what: &str) -> anyhow::Result<()> {
    for (found, expected) in found.iter().zip(expected) {
        ensure!(found == *expected, "{what}: {found}\ninstead of\n{expected}");
    }
    ensure!(found.len() == expected.len(), "{what}: {} rows instead of {}", found.len(), expected.len());
    Ok(())
}

/// Who takes part in most rows, the busiest first.
pub fn busiest(rows: &[Value], members: &[&str]) -> Vec<String> {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for row in rows {
        for address in members.iter().filter_map(|member| row[*member].as_str()) {
            *counts.entry(address).or_default() += 1;
        }
    }
    let mut addresses: Vec<(usize, &str)> = counts.into_iter().map(|(address, count)| (count, address)).collect();
    addresses.sort_unstable_by(|one, other| other.cmp(one));
    addresses.into_iter().map(|(_, address)| address.to_owned()).collect()
}

/// A query, and which rows it is about.
type Case<'a> = (String, Box<dyn Fn(&Value) -> bool + 'a>);

/// Each combination of participants, of few and of many.
fn cases<'a>(all: &[Value], from: &'a [&'a str], to: &'a [&'a str]) -> anyhow::Result<Vec<Case<'a>>> {
    let addresses = busiest(all, &[from, to].concat());
    ensure!(addresses.len() > 12, "{addresses:?}");
    let is = |row: &Value, members: &[&str], expected: &[String]| {
        members
            .iter()
            .filter_map(|member| row[*member].as_str())
            .any(|one| expected.iter().any(|expected| expected == one))
    };
    let mut cases: Vec<Case<'a>> = vec![(String::new(), Box::new(|_| true))];
    for some in [addresses[..1].to_vec(), addresses[2..3].to_vec(), addresses[..3].to_vec(), addresses[..12].to_vec()] {
        let list = some.join(",");
        let (one, other, both) = (some.clone(), some.clone(), some.clone());
        cases.push((format!("address={list}"), Box::new(move |row| is(row, from, &one) || is(row, to, &one))));
        cases.push((format!("fromAddress={list}"), Box::new(move |row| is(row, from, &other))));
        cases.push((format!("toAddress={list}"), Box::new(move |row| is(row, to, &both))));
        let (first, partner) = (some, addresses[1..3].to_vec());
        cases.push((
            format!("fromAddress={}&toAddress={list}", partner.join(",")),
            Box::new(move |row| is(row, from, &partner) && is(row, to, &first)),
        ));
    }
    Ok(cases)
}

#[test]
fn internal_transactions_are_the_frames_of_the_node() -> anyhow::Result<()> {
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let all = frames(chain);
        ensure!(all.len() > 80, "{name}: {}", all.len());
        let mut hits = 0;
        for (query, keep) in cases(&all, &["from"], &["to", "createdContract"])? {
            let expected: Vec<&Value> = all.iter().filter(|row| keep(row)).collect();
            hits += usize::from(!expected.is_empty());
            same(&rows(chain, "internal-transactions", &query)?, &expected, &format!("{name} {query}"))?;
        }
        ensure!(hits > 6, "{name}: only {hits} queries had rows");
    }
    Ok(())
}

#[test]
fn transactions_are_those_of_the_node() -> anyhow::Result<()> {
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let mut all = Vec::new();
        for line in &chain.lines {
            let bodies = line["block"]["transactions"].as_array().into_iter().flatten();
            for (body, receipt) in bodies.zip(line["receipts"].as_array().into_iter().flatten()) {
                let mut row = Map::new();
                for member in ["blockNumber", "blockHash", "transactionIndex", "hash", "type", "from", "to", "nonce"] {
                    row.insert(member.into(), body[member].clone());
                }
                for member in ["value", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "input"] {
                    row.insert(member.into(), body[member].clone());
                }
                for member in ["status", "gasUsed", "effectiveGasPrice", "contractAddress"] {
                    row.insert(member.into(), receipt[member].clone());
                }
                row.insert("blockTimestamp".into(), line["block"]["timestamp"].clone());
                all.push(Value::Object(row));
            }
        }
        ensure!(all.len() > 200, "{name}: {}", all.len());
        for (query, keep) in cases(&all, &["from"], &["to", "contractAddress"])? {
            let expected: Vec<&Value> = all.iter().filter(|row| keep(row)).collect();
            same(&rows(chain, "transactions", &query)?, &expected, &format!("{name} {query}"))?;
        }
        let expected: Vec<&Value> = all.iter().filter(|row| (5..=9).contains(&quantity(&row["blockNumber"]))).collect();
        let (found, end) = lines(&scan(chain, "transactions", "fromBlock=5&toBlock=0x9&format=ndjson")?)?;
        same(&found, &expected, name)?;
        ensure!(end["fromBlock"] == "0x5" && end["toBlock"] == "0x9" && !found.is_empty(), "{end}");
    }
    Ok(())
}

/// What ethereum-etl exported from the same node; the id of an ERC-721 transfer is its value there.
#[test]
fn token_transfers_are_those_another_program_found() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let text = std::fs::read_to_string(workspace::fixture("ethereum-etl/devchain-csv/token_transfers.csv"))?;
    // The one with nothing indexed, which is no shape of a standard.
    let plain = "0x71c95911e9a5d330f4d621842ec243ee1343292e";
    let mut expected: Vec<&str> = text.lines().skip(1).filter(|line| !line.starts_with(plain)).collect();
    let found = rows(chain, "token-transfers", "type=erc-20,ERC-721")?;
    let number = |value: &Value| {
        alloy_primitives::U256::from_str_radix(value.as_str().unwrap_or("").trim_start_matches("0x"), 16)
    };
    let line = |row: &Value| -> anyhow::Result<String> {
        let amount = number(if row["tokenId"].is_null() { &row["value"] } else { &row["tokenId"] })?;
        let word = |member: &str| row[member].as_str().unwrap_or("").to_owned();
        Ok(format!(
            "{},{},{},{amount},{},{},{}",
            word("token"),
            word("from"),
            word("to"),
            word("transactionHash"),
            quantity(&row["logIndex"]),
            quantity(&row["blockNumber"]),
        ))
    };
    let mut found: Vec<String> = found.iter().map(line).collect::<Result<_, _>>()?;
    found.sort_unstable();
    expected.sort_unstable();
    ensure!(found == expected && found.len() == 325, "{} transfers", found.len());
    // As many as the node's logs hold by hand: four singles and five ids of batches.
    ensure!(rows(chain, "token-transfers", "type=ERC-1155")?.len() == 9);
    Ok(())
}

#[test]
fn token_transfers_of_participants_are_those_of_the_lists() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = rows(chain, "token-transfers", "")?;
    ensure!(all.len() == 334, "{}", all.len());
    for (query, keep) in cases(&all, &["from"], &["to"])? {
        let expected: Vec<&Value> = all.iter().filter(|row| keep(row)).collect();
        same(&rows(chain, "token-transfers", &query)?, &expected, &query)?;
    }
    // The list of an address, whose pages are read in another order from another table.
    let wallet = &busiest(&all, &["from", "to"])[1];
    for (query, parameters) in [
        (format!("address={wallet}"), String::new()),
        (format!("toAddress={wallet}&type=ERC-721"), "filter=to&type=ERC-721".into()),
        (
            format!("address={wallet}&token={}", all[0]["token"].as_str().unwrap_or("")),
            format!("token={}", all[0]["token"].as_str().unwrap_or("")),
        ),
    ] {
        let list = crate::pages::List::of_token_transfers(wallet, &parameters).walk(&chain.api, 50)?;
        let found = rows(chain, "token-transfers", &query)?;
        let position = |row: &Value| format!("{} {} ", quantity(&row["blockNumber"]), quantity(&row["logIndex"]));
        ensure!(found.len() == list.len(), "{query}: {} rows instead of {}", found.len(), list.len());
        ensure!(
            found.iter().rev().zip(&list).all(|(row, name)| name.starts_with(&position(row))),
            "{query}: {list:#?}"
        );
    }
    let tokens = busiest(&all, &["token"]);
    for tokens in [tokens[..1].join(","), tokens[..2].join(",")] {
        let keep = |row: &&Value| tokens.contains(row["token"].as_str().unwrap_or("none"));
        let expected: Vec<&Value> = all.iter().filter(keep).collect();
        same(&rows(chain, "token-transfers", &format!("token={tokens}"))?, &expected, &tokens)?;
    }
    Ok(())
}

/// Heights and amounts of Arrow batches.
fn columns(batches: &[RecordBatch]) -> anyhow::Result<Vec<(u64, String)>> {
    let mut rows = Vec::new();
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).context(name.to_owned());
        let heights = column("block_number")?.as_any().downcast_ref::<UInt64Array>().context("heights")?.clone();
        let values = column("value")?.as_any().downcast_ref::<StringArray>().context("amounts")?.clone();
        rows.extend((0..batch.num_rows()).map(|row| (heights.value(row), values.value(row).to_owned())));
    }
    Ok(rows)
}

#[test]
fn lists_have_the_same_rows_in_every_format() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for path in PATHS {
        let found = rows(chain, path, "")?;
        let amount = |row: &Value| -> anyhow::Result<(u64, String)> {
            let digits = row["value"].as_str().context("an amount")?.trim_start_matches("0x").to_owned();
            Ok((quantity(&row["blockNumber"]), alloy_primitives::U256::from_str_radix(&digits, 16)?.to_string()))
        };
        let expected: Vec<(u64, String)> = found.iter().map(amount).collect::<Result<_, _>>()?;
        let json = scan(chain, path, ALL)?.json()?;
        ensure!(json["items"] == Value::from(found), "{path}: JSON is another answer than NDJSON");

        let csv = scan(chain, path, &format!("{ALL}&format=csv"))?;
        ensure!(csv.header("content-disposition") == format!("attachment; filename=\"{path}.csv\""));
        let mut reader = csv.text();
        let mark = reader.lines().last().and_then(|line| line.strip_prefix("# ")).context("a mark")?.to_owned();
        ensure!(serde_json::from_str::<Value>(&mark)? == json["end"], "{path}: {mark}");
        reader.truncate(reader.len() - mark.len() - 3);
        let names: Vec<&str> = reader.lines().next().unwrap_or("").split(',').collect();
        let position = |name: &str| names.iter().position(|known| *known == name).context(name.to_owned());
        let (height, value) = (position("block_number")?, position("value")?);
        let cells: Vec<Vec<&str>> = reader.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let amounts: Vec<(u64, String)> = cells
            .iter()
            .map(|cells| Ok((cells[height].parse()?, cells[value].to_owned())))
            .collect::<Result<_, std::num::ParseIntError>>()?;
        ensure!(amounts == expected && cells.iter().all(|cells| cells.len() == names.len()), "{path}: CSV differs");

        let arrow = scan(chain, path, &format!("{ALL}&format=arrow"))?.body;
        let reader = StreamReader::try_new(Cursor::new(arrow.clone()), None)?;
        let begin: Value = serde_json::from_str(&reader.schema().metadata()["trawl.begin"])?;
        ensure!(begin["headHash"] == json["end"]["headHash"], "{begin}");
        let shown: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        ensure!(shown == names, "{path}: {shown:?}");
        ensure!(columns(&reader.collect::<Result<Vec<_>, _>>()?)? == expected, "{path}: Arrow differs");
        let cut = StreamReader::try_new(Cursor::new(arrow[..arrow.len() / 2].to_vec()), None)?;
        ensure!(cut.collect::<Result<Vec<_>, _>>().is_err(), "half a stream was read as a whole one");

        let file = bytes::Bytes::from(scan(chain, path, &format!("{ALL}&format=parquet"))?.body);
        let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone())?;
        let metadata = reader.metadata().file_metadata().key_value_metadata().context("metadata")?.clone();
        let mark = metadata.iter().find(|entry| entry.key == "trawl.end").and_then(|entry| entry.value.clone());
        ensure!(serde_json::from_str::<Value>(&mark.context("a mark")?)? == json["end"]);
        ensure!(columns(&reader.build()?.collect::<Result<Vec<_>, _>>()?)? == expected, "{path}: Parquet differs");
        ensure!(ParquetRecordBatchReaderBuilder::try_new(file.slice(..file.len() - 9)).is_err());
    }
    Ok(())
}

#[test]
fn lists_go_on_at_a_cursor() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for path in PATHS {
        let all = rows(chain, path, "")?;
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let (some, end) = lines(&scan(chain, path, &format!("{ALL}&format=ndjson&limit=67{cursor}"))?)?;
            ensure!(end["count"] == some.len() && some.len() <= 67, "{end}");
            if some.is_empty() {
                break;
            }
            found.extend(some);
            cursor = format!("&cursor={}", end["cursor"].as_str().context("a cursor")?);
        }
        ensure!(found == all, "{path}: {} rows instead of {}", found.len(), all.len());
        let other = scan(chain, path, &format!("{ALL}{cursor}&fromAddress=0x{}", "ab".repeat(20)))?;
        ensure!(other.status == 422 && other.text().contains("belongs to another filter"), "{}", other.text());
        for stranger in PATHS.iter().filter(|stranger| **stranger != path) {
            let answer = scan(chain, stranger, &format!("{ALL}{cursor}"))?;
            ensure!(answer.status == 422, "{path} {stranger}: {}", answer.text());
        }
    }
    // By participant a page begins inside several ranges of the key at once.
    let all = rows(chain, "token-transfers", "")?;
    let busy = busiest(&all, &["from", "to"])[..3].join(",");
    let all = rows(chain, "token-transfers", &format!("address={busy}"))?;
    let query = format!("{ALL}&format=ndjson&address={busy}");
    let (mut found, mut end) = lines(&scan(chain, "token-transfers", &format!("{query}&limit=20"))?)?;
    while let Some(cursor) = end["cursor"].as_str() {
        let (more, next) = lines(&scan(chain, "token-transfers", &format!("{query}&limit=20&cursor={cursor}"))?)?;
        found.extend(more);
        end = next;
    }
    ensure!(found == all && all.len() > 60, "{} rows instead of {}", found.len(), all.len());
    Ok(())
}
