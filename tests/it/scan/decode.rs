//! Logs of a known event in named values, against words cut out of the node's own logs by hand.

use std::io::Cursor;

use anyhow::{Context as _, ensure};
use arrow::array::{Array, StringArray};
use arrow::ipc::reader::StreamReader;
use serde_json::{Value, json};
use xtask::http;

use super::{ALL, lines, logs, scan};
use crate::chains::chain;

const HASH: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const EVENT: &str = "Transfer(address%20indexed%20from,%20address%20indexed%20to,%20uint256%20value)";

/// From, to and value by hand; none where the log is that of another standard.
fn words(log: &Value) -> Option<[String; 3]> {
    let topic = |position: usize| log["topics"][position].as_str().unwrap_or("").to_owned();
    let data = log["data"].as_str()?;
    if log["topics"].as_array()?.len() != 3 || data.len() != 66 {
        return None;
    }
    let value = alloy_primitives::U256::from_str_radix(&data[2..], 16).ok()?;
    Some([format!("0x{}", &topic(1)[26..]), format!("0x{}", &topic(2)[26..]), value.to_string()])
}

#[test]
fn decodes_an_event_in_every_format() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = logs(chain);
    let transfers: Vec<&Value> = all.iter().filter(|log| log["topics"][0] == HASH).collect();
    let fitting = transfers.iter().filter(|log| words(log).is_some()).count();
    ensure!(fitting == 276 && transfers.len() > 320, "{fitting} of {}", transfers.len());
    let query = format!("{ALL}&decode={EVENT}");

    let (found, end) = lines(&scan(chain, &format!("{query}&format=ndjson"))?)?;
    ensure!(found.len() == transfers.len() && end["count"] == found.len(), "{end}");
    for (found, log) in found.iter().zip(&transfers) {
        let expected = words(log).map(|[from, to, value]| json!({"from": from, "to": to, "value": value}));
        ensure!(found["decoded"] == json!(expected) && found["data"] == log["data"], "{found}");
    }
    let json = scan(chain, &query)?.json()?;
    ensure!(json["items"] == Value::from(found) && json["end"] == end);
    // As the body, with the option in the query.
    let body = json!({"fromBlock": "0x0", "toBlock": "latest"}).to_string();
    let posted =
        http::post(&http::agent(), &format!("{}/api/v2/scan/logs?decode={EVENT}", chain.api), body.as_bytes())?;
    ensure!(posted.json()? == json, "{}", posted.text());

    let text = scan(chain, &format!("{query}&format=csv"))?.text();
    let mut rows = text.lines();
    ensure!(rows.next().is_some_and(|names| names.ends_with(",data,from,to,value")), "{text}");
    for (row, log) in rows.zip(&transfers) {
        let cells: Vec<&str> = row.split(',').collect();
        ensure!(cells[cells.len() - 3..] == words(log).unwrap_or_default(), "{row}");
    }

    let reader = StreamReader::try_new(Cursor::new(scan(chain, &format!("{query}&format=arrow"))?.body), None)?;
    let mut logs = transfers.iter();
    for batch in reader {
        let batch = batch?;
        let column = |name: &str| {
            let column = batch.column_by_name(name).context(name.to_owned())?;
            column.as_any().downcast_ref::<StringArray>().context(name.to_owned()).cloned()
        };
        let columns = [column("from")?, column("to")?, column("value")?];
        for row in 0..batch.num_rows() {
            let texts = columns.each_ref().map(|column| column.is_valid(row).then(|| column.value(row).to_owned()));
            let expected = words(logs.next().context("more rows than logs")?);
            ensure!(texts == expected.map_or([None, None, None], |words| words.map(Some)), "{texts:?}");
        }
    }
    ensure!(logs.next().is_none());
    let parquet = scan(chain, &format!("{query}&format=parquet"))?;
    ensure!(parquet.status == 200 && parquet.body.ends_with(b"PAR1"));

    // What is decoded is no part of the filter: a cursor goes on with it and without.
    let (some, end) = lines(&scan(chain, &format!("{query}&format=ndjson&limit=100"))?)?;
    let cursor = end["cursor"].as_str().context("a cursor")?;
    let (rest, _) = lines(&scan(chain, &format!("{ALL}&topic0={HASH}&format=ndjson&cursor={cursor}"))?)?;
    ensure!(some.len() == 100 && rest.len() == transfers.len() - 100, "{} and {}", some.len(), rest.len());
    ensure!(rest[0].get("decoded").is_none());
    Ok(())
}

#[test]
fn refuses_what_is_no_event() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for text in ["", "Transfer", "Transfer(adress%20from)", "E(uint8[4000000000]%20a)", "E(%20"] {
        let answer = scan(chain, &format!("decode={text}"))?;
        ensure!(answer.status == 422, "{text}: {} {}", answer.status, answer.text());
        ensure!(answer.json()?["errors"][0]["source"]["pointer"] == "/decode", "{}", answer.text());
    }
    Ok(())
}
