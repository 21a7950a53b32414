//! Wide scans: every format has all logs that the node had, says that it is whole, and goes on where it ended.

use std::io::Cursor;

use anyhow::{Context as _, ensure};
use arrow::array::{
    Array, BinaryArray, FixedSizeBinaryArray, RecordBatch, TimestampMicrosecondArray, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow::ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use xtask::http::{self, Answer};

use crate::chains::{Chain, chain, quantity};
use crate::env;

pub mod accounting;
mod blockscout_exports;
mod decode;
mod exports;
mod followed;
pub mod listed;
mod metadata;
pub mod slow;

/// The logs of a chain, as its node gave them, in order.
fn logs(chain: &Chain) -> Vec<Value> {
    let receipts = chain.lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    receipts.flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten()).cloned().collect()
}

fn scan(chain: &Chain, query: &str) -> anyhow::Result<Answer> {
    http::get(&http::agent(), &format!("{}/api/v2/scan/logs?{query}", chain.api))
}

/// All blocks of a chain.
const ALL: &str = "fromBlock=0&toBlock=latest";

/// Block and index of every log of an NDJSON answer, and its mark.
fn lines(answer: &Answer) -> anyhow::Result<(Vec<Value>, Value)> {
    let text = answer.text();
    let mut lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let end = lines.pop().context("a last line")?;
    ensure!(end["end"].is_object(), "{end}");
    Ok((lines, end["end"].clone()))
}

fn position_of(log: &Value) -> (u64, u64) {
    (quantity(&log["blockNumber"]), quantity(&log["logIndex"]))
}

/// The members that nodes agree on.
fn same_log(found: &Value, node: &Value) -> anyhow::Result<()> {
    for member in
        ["address", "topics", "data", "blockNumber", "transactionHash", "transactionIndex", "blockHash", "logIndex"]
    {
        ensure!(found[member] == node[member], "{member}: {found} instead of {node}");
    }
    Ok(())
}

#[test]
fn every_format_has_every_log() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let expected = logs(chain);
    ensure!(expected.len() == 1540, "{}", expected.len());
    let (found, end) = lines(&scan(chain, &format!("{ALL}&format=ndjson"))?)?;
    ensure!(found.len() == expected.len());
    found.iter().zip(&expected).try_for_each(|(found, node)| same_log(found, node))?;
    let last = &expected[expected.len() - 1];
    ensure!(end["complete"] == true && end["count"] == 1540 && end["missing"] == json!([]), "{end}");
    ensure!(end["fromBlock"] == "0x0" && end["toBlock"] == "0x5b" && end["headBlock"] == "0x5b", "{end}");
    ensure!(end["headHash"] == chain.lines[91]["block"]["hash"], "{end}");
    ensure!(end["firstBlock"] == expected[0]["blockNumber"] && end["lastBlock"] == last["blockNumber"], "{end}");

    let json = scan(chain, ALL)?;
    ensure!(json.header("content-type") == "application/json; charset=utf-8");
    let json = json.json()?;
    ensure!(json["items"] == Value::from(found) && json["end"] == end, "JSON is another answer than NDJSON");

    csv(&scan(chain, &format!("{ALL}&format=csv"))?, &expected, &end)?;
    let answer = scan(chain, &format!("{ALL}&format=arrow"))?;
    ensure!(answer.header("content-type") == "application/vnd.apache.arrow.stream");
    let reader = StreamReader::try_new(Cursor::new(answer.body.clone()), None)?;
    let begin: Value = serde_json::from_str(&reader.schema().metadata()["trawl.begin"])?;
    ensure!(begin["headHash"] == end["headHash"] && begin["toBlock"] == end["toBlock"], "{begin}");
    columns(&reader.collect::<Result<Vec<_>, _>>()?, &expected)?;
    // Cut off before its end, a stream is none.
    let cut = StreamReader::try_new(Cursor::new(answer.body[..answer.body.len() / 2].to_vec()), None)?;
    ensure!(cut.collect::<Result<Vec<_>, _>>().is_err(), "half a stream was read as a whole one");

    let file = bytes::Bytes::from(scan(chain, &format!("{ALL}&format=parquet"))?.body);
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone())?;
    let metadata = reader.metadata().file_metadata().key_value_metadata().context("metadata")?.clone();
    let mark = metadata.iter().find(|entry| entry.key == "trawl.end").and_then(|entry| entry.value.clone());
    ensure!(serde_json::from_str::<Value>(&mark.context("a mark")?)? == end);
    columns(&reader.build()?.collect::<Result<Vec<_>, _>>()?, &expected)?;
    ensure!(ParquetRecordBatchReaderBuilder::try_new(file.slice(..file.len() - 9)).is_err(), "half a file was read");

    let accepted =
        ureq::get(format!("{}/api/v2/scan/logs?{ALL}&limit=1", chain.api)).header("accept", "text/csv, */*;q=0.1");
    let accepted = accepted.call()?;
    ensure!(accepted.headers()["content-type"] == "text/csv; charset=utf-8");
    Ok(())
}

fn csv(answer: &Answer, expected: &[Value], end: &Value) -> anyhow::Result<()> {
    let text = answer.text();
    let mut lines: Vec<&str> = text.lines().collect();
    let mark = lines.pop().and_then(|line| line.strip_prefix("# ")).context("a mark")?;
    ensure!(serde_json::from_str::<Value>(mark)? == *end, "{mark}");
    let names: Vec<&str> = lines.remove(0).split(',').collect();
    ensure!(lines.len() == expected.len(), "{} lines", lines.len());
    for (line, log) in lines.iter().zip(expected) {
        let values: Vec<&str> = line.split(',').collect();
        ensure!(values.len() == names.len(), "{line}");
        let value = |name: &str| values[names.iter().position(|known| *known == name).unwrap_or(0)];
        ensure!(value("block_number") == quantity(&log["blockNumber"]).to_string(), "{line}");
        ensure!(value("log_index") == quantity(&log["logIndex"]).to_string(), "{line}");
        ensure!(value("address") == log["address"] && value("data") == log["data"], "{line}");
        let topics = ["topic0", "topic1", "topic2", "topic3"].map(value);
        let given: Vec<&str> = topics.into_iter().filter(|topic| !topic.is_empty()).collect();
        ensure!(json!(given) == log["topics"], "{line}");
    }
    Ok(())
}

/// The rows of Arrow batches are the logs, with all their columns.
fn columns(batches: &[RecordBatch], expected: &[Value]) -> anyhow::Result<()> {
    let mut logs = expected.iter();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let log = logs.next().context("more rows than logs")?;
            for (name, member) in [
                ("block_number", "blockNumber"),
                ("log_index", "logIndex"),
                ("transaction_index", "transactionIndex"),
                ("block_timestamp", "blockTimestamp"),
            ] {
                // Not every node tells the time of a log.
                let expected_number = log.get(member).map(quantity);
                ensure!(
                    expected_number.is_none_or(|expected| number(batch, name, row).ok() == Some(expected)),
                    "{name} of {log}"
                );
            }
            let of_log = ["address", "transactionHash", "blockHash", "data"].map(|member| log[member].clone());
            let columns = ["address", "transaction_hash", "block_hash", "data"];
            let shown = columns.map(|name| Value::from(bytes(batch, name, row).unwrap_or_default()));
            ensure!(shown == of_log, "{shown:?} is not {log}");
            let topics = usize::try_from(number(batch, "topics_count", row)?)?;
            let shown: Vec<String> =
                (0..4).map(|position| bytes(batch, &format!("topic{position}"), row)).collect::<Result<_, _>>()?;
            ensure!(json!(shown[..topics]) == log["topics"], "{shown:?} are not {log}");
        }
    }
    ensure!(logs.next().is_none(), "fewer rows than logs");
    Ok(())
}

/// A number of any width, or a time in seconds.
fn number(batch: &RecordBatch, name: &str, row: usize) -> anyhow::Result<u64> {
    let column = batch.column_by_name(name).with_context(|| name.to_owned())?.as_any();
    let number = column.downcast_ref::<UInt64Array>().map(|column| column.value(row));
    let number = number.or_else(|| column.downcast_ref::<UInt32Array>().map(|column| column.value(row).into()));
    let number = number.or_else(|| column.downcast_ref::<UInt8Array>().map(|column| column.value(row).into()));
    let time = |column: &TimestampMicrosecondArray| u64::try_from(column.value(row) / 1_000_000).unwrap_or_default();
    number.or_else(|| column.downcast_ref().map(time)).with_context(|| format!("{name} is no number"))
}

/// Bytes of a fixed length or of any, in digits.
fn bytes(batch: &RecordBatch, name: &str, row: usize) -> anyhow::Result<String> {
    let column = batch.column_by_name(name).with_context(|| name.to_owned())?.as_any();
    let fixed = column.downcast_ref::<FixedSizeBinaryArray>().map(|column| column.value(row));
    let bytes = fixed.or_else(|| column.downcast_ref::<BinaryArray>().map(|column| column.value(row)));
    Ok(alloy_primitives::hex::encode_prefixed(bytes.with_context(|| format!("{name} is no bytes"))?))
}

#[test]
fn filters_are_those_of_eth_get_logs() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = logs(chain);
    let (address, topic) = (all[700]["address"].as_str().unwrap_or(""), all[700]["topics"][0].as_str().unwrap_or(""));
    let other =
        all.iter().map(|log| log["address"].as_str().unwrap_or("")).find(|one| *one != address).context("two")?;
    let topic_of = |log: &Value, position: usize| log["topics"][position].as_str().unwrap_or("").to_owned();
    let wallet = all.iter().map(|log| topic_of(log, 1)).find(|topic| !topic.is_empty()).context("a wallet")?;
    type RowPredicate<'a> = Box<dyn Fn(&Value) -> bool + 'a>;
    let cases: [(String, Value, RowPredicate<'_>); 4] = [
        (format!("address={address}"), json!({"address": address}), Box::new(|log| log["address"] == address)),
        (
            format!("address={address},{other}&topic0={topic}"),
            json!({"address": [address, other], "topics": [topic]}),
            Box::new(|log| (log["address"] == address || log["address"] == other) && log["topics"][0] == topic),
        ),
        (format!("topic1={wallet}"), json!({"topics": [null, wallet]}), Box::new(|log| topic_of(log, 1) == wallet)),
        (
            format!("topic0={topic}&topic1={wallet}"),
            json!({"topics": [[topic], [wallet]]}),
            Box::new(|log| topic_of(log, 0) == topic && topic_of(log, 1) == wallet),
        ),
    ];
    for (query, body, keep) in cases {
        let expected: Vec<(u64, u64)> = all.iter().filter(|log| keep(log)).map(position_of).collect();
        ensure!(!expected.is_empty(), "{query} matches nothing");
        let (found, end) = lines(&scan(chain, &format!("{ALL}&format=ndjson&{query}"))?)?;
        ensure!(
            found.iter().map(position_of).collect::<Vec<_>>() == expected && end["count"] == expected.len(),
            "{query}"
        );
        let mut body = body;
        body["fromBlock"] = json!("earliest");
        body["toBlock"] = json!("latest");
        let url = format!("{}/api/v2/scan/logs?format=ndjson", chain.api);
        let (posted, _) = lines(&http::post(&http::agent(), &url, body.to_string().as_bytes())?)?;
        ensure!(posted == found, "{query}: another answer by POST");
    }
    let hash = chain.lines[5]["block"]["hash"].as_str().unwrap_or("");
    let (found, end) = lines(&scan(chain, &format!("format=ndjson&blockHash={hash}"))?)?;
    ensure!(
        !found.is_empty() && found.iter().all(|log| log["blockHash"] == hash) && end["fromBlock"] == "0x5",
        "{end}"
    );
    Ok(())
}

#[test]
fn goes_on_at_a_cursor() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let (all, _) = lines(&scan(chain, &format!("{ALL}&format=ndjson"))?)?;
    let mut found = Vec::new();
    let mut cursor = String::new();
    loop {
        let (some, end) = lines(&scan(chain, &format!("{ALL}&format=ndjson&limit=317{cursor}"))?)?;
        ensure!(end["count"] == some.len() && some.len() <= 317, "{end}");
        if some.is_empty() {
            break;
        }
        found.extend(some);
        cursor = format!("&cursor={}", end["cursor"].as_str().context("a cursor")?);
    }
    ensure!(found == all, "{} logs instead of {}", found.len(), all.len());
    // A client that was cut off makes one from the last log it has.
    let answer = scan(chain, &format!("{ALL}&format=ndjson&limit=10"))?;
    let log = &lines(&answer)?.0[4];
    let (block, index) = position_of(log);
    let hash = log["blockHash"].as_str().unwrap_or("").trim_start_matches("0x");
    let cursor = format!("{block}-{index}-{hash}-{}", answer.header("x-trawl-filter"));
    let (rest, _) = lines(&scan(chain, &format!("{ALL}&format=ndjson&cursor={cursor}"))?)?;
    ensure!(rest == all[5..], "{} logs", rest.len());
    let other = scan(chain, &format!("{ALL}&cursor={cursor}&topic0=0x{}", "ab".repeat(32)))?;
    ensure!(other.status == 422 && other.text().contains("belongs to another filter"), "{}", other.text());
    let unknown = format!("{block}-{index}-{}-{}", "00".repeat(32), answer.header("x-trawl-filter"));
    let unknown = scan(chain, &format!("{ALL}&cursor={unknown}"))?;
    ensure!(unknown.status == 409 && unknown.json()?["data"]["forkBlock"].is_null(), "{}", unknown.text());
    Ok(())
}

#[test]
fn says_what_is_missing() -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let refused = scan(chain, ALL)?;
    let ranges = refused.json()?["data"]["missing"].clone();
    ensure!(
        refused.status == 404 && ranges[0] == json!({"fromBlock": "0x1f", "toBlock": "0x24"}),
        "{}",
        refused.text()
    );
    let api = env::start_api("mainnet", &["--gaps", "serve"])?;
    let served = http::get(&http::agent(), &format!("{}/api/v2/scan/logs?{ALL}&format=ndjson", api.url))?;
    let (found, end) = lines(&served)?;
    ensure!(found.len() == logs(chain).len(), "{}", found.len());
    ensure!(end["complete"] == false && end["missing"] == ranges, "{end}");
    Ok(())
}

#[test]
fn shows_its_plan() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let address = logs(chain)[0]["address"].as_str().unwrap_or("").to_owned();
    let explained = scan(chain, &format!("{ALL}&address={address}&explain=1"))?.json()?;
    ensure!(explained["plan"] == "table=logs addresses=1 settled=0-91 hot=", "{explained}");
    let lines: Vec<&str> = explained["explain"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    ensure!(lines.iter().any(|line| line.contains("PrimaryKey")), "{lines:#?}");
    let url = format!("{}/api/v2/scan/logs?fromBlock=3&toBlock=4", chain.api);
    let answer = ureq::get(&url).header("x-trawl-plan", "1").call()?;
    ensure!(answer.headers()["x-trawl-plan"] == "table=logs_by_block addresses=0 settled=3-4 hot=");
    ensure!(http::get(&http::agent(), &url)?.header("x-trawl-plan").is_empty());
    // So do the other scans.
    let from = chain.lines[1]["block"]["transactions"][0]["from"].as_str().context("a sender")?;
    for (path, table, filter) in [
        ("internal-transactions", "internal_transactions_by_direction addresses=0,1,0", format!("fromAddress={from}")),
        ("token-transfers", "token_transfers_by_block addresses=0,0,0,0", "limit=9".to_owned()),
        ("transactions", "transactions addresses=1,0,0", format!("address={from}")),
    ] {
        let url = format!("{}/api/v2/scan/{path}?fromBlock=1&toBlock=91&{filter}", chain.api);
        let plan = format!("table={table} settled=1-91 hot=");
        let explained = http::get(&http::agent(), &format!("{url}&explain=1"))?.json()?;
        ensure!(explained["plan"] == plan, "{explained}");
        let read = explained["reads"][0]["table"].as_str().unwrap_or_default();
        ensure!(plan.starts_with(&format!("table={read} ")), "{explained}");
        let answer = ureq::get(&url).header("x-trawl-plan", "1").call()?;
        ensure!(answer.headers()["x-trawl-plan"] == plan.as_str(), "{:?}", answer.headers());
    }
    Ok(())
}

#[test]
fn wrong_parameters_are_refused() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for (query, pointer) in [
        ("format=xml", "/format"),
        ("cursor=1-2", "/cursor"),
        ("limit=-1", "/limit"),
        ("limit=x", "/limit"),
        ("fromBlock=0&address=0x12", "/filter"),
        ("fromBlock=0&topic0=0x12", "/filter"),
        ("topic0=0x12", "/fromBlock"),
        ("toBlock=latest", "/fromBlock"),
        ("fromBlock=newest", "/filter"),
        ("fromBlock=5&toBlock=4", "/filter"),
        ("fromBlock=0&toBlock=5000", "/filter"),
        ("blockHash=0x12", "/filter"),
        ("block=5", "/block"),
        ("topic4=0x12", "/topic4"),
    ] {
        let answer = scan(chain, query)?;
        ensure!(answer.status == 422, "{query}: {} {}", answer.status, answer.text());
        ensure!(answer.json()?["errors"][0]["source"]["pointer"] == pointer, "{query}: {}", answer.text());
    }
    let url = format!("{}/api/v2/scan/logs", chain.api);
    for body in ["", "[", "[]", "5", r#"{"topics": 5}"#] {
        let answer = http::post(&http::agent(), &url, body.as_bytes())?;
        ensure!(answer.status == 422, "{body}: {} {}", answer.status, answer.text());
    }
    let twice = http::post(&http::agent(), &format!("{url}?address=0x12"), b"{}")?;
    ensure!(twice.status == 422 && twice.text().contains("belongs in the body"), "{}", twice.text());
    Ok(())
}
