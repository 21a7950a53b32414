//! Exports of an address: all its rows of a time, against what the nodes answered; and the trailer that says whether it
//! is all.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use super::{ALL, listed, logs};
use crate::chains::{Chain, chain, quantity};
use crate::env;
use crate::transactions::{busiest, node_transactions};

/// The lines of an export between its header and its mark, as cells by name.
struct Export {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    mark: Option<Value>,
}

impl Export {
    fn of(chain: &Chain, path: &str) -> anyhow::Result<Self> {
        let path = format!("{path}{}columns=scan", if path.contains('?') { "&" } else { "?" });
        let answer = http::get(&http::agent(), &format!("{}/api/v2/addresses/{path}", chain.api))?;
        ensure!(answer.status == 200, "{path}: {}", answer.text());
        ensure!(answer.header("content-type") == "application/csv", "{}", answer.header("content-type"));
        let (address, rest) = path.split_once('/').context("a path")?;
        let kind = rest.split('/').next().unwrap_or_default();
        let file = format!("attachment; filename=\"{kind}-{}.csv\"", address.to_lowercase());
        ensure!(answer.header("content-disposition") == file, "{}", answer.header("content-disposition"));
        let text = answer.text();
        let mut lines: Vec<&str> = text.lines().collect();
        let mark = lines.last().and_then(|line| line.strip_prefix("# ")).map(serde_json::from_str).transpose()?;
        if mark.is_some() {
            lines.pop();
        }
        let cells = |line: &&str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let names = lines.first().map(cells).context("a header")?;
        let rows: Vec<_> = lines[1..].iter().map(cells).collect();
        ensure!(rows.iter().all(|row| row.len() == names.len()), "{path}: cells without a name");
        ensure!(mark.as_ref().is_none_or(|mark: &Value| mark["complete"] == true && mark["count"] == rows.len()));
        Ok(Self { names, rows, mark })
    }

    /// Some columns of all rows.
    fn columns(&self, names: &[&str]) -> anyhow::Result<Vec<Vec<String>>> {
        let column =
            |name: &&str| self.names.iter().position(|known| known == name).with_context(|| (*name).to_owned());
        let columns: Vec<usize> = names.iter().map(column).collect::<Result<_, _>>()?;
        Ok(self.rows.iter().map(|row| columns.iter().map(|column| row[*column].clone()).collect()).collect())
    }
}

/// A value as CSV spells it.
fn cell(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn decimal(value: &Value) -> String {
    let digits = value.as_str().unwrap_or("0x0").trim_start_matches("0x");
    alloy_primitives::U256::from_str_radix(digits, 16).unwrap_or_default().to_string()
}

#[test]
fn transactions_are_those_of_the_node() -> anyhow::Result<()> {
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        for (address, _) in busiest(&all).iter().take(5) {
            for side in ["", "from", "to"] {
                let path = format!("{address}/transactions/csv?filter_type=address&filter_value={side}");
                let export = Export::of(chain, &path)?;
                let expected = all.values().filter(|tx| tx.participants(side).contains(address));
                let expected: Vec<Vec<String>> = expected
                    .map(|tx| {
                        let (position, one) = (tx.position(), &tx.transaction);
                        let numbers = [position.0.to_string(), position.1.to_string(), decimal(&one["value"])];
                        let texts = [cell(&one["hash"]), cell(&one["from"]), cell(&one["to"]), cell(&one["input"])];
                        let paid = [decimal(&tx.receipt["gasUsed"]), decimal(&tx.receipt["effectiveGasPrice"])];
                        numbers.into_iter().chain(texts).chain(paid).collect()
                    })
                    .collect();
                let names =
                    ["block_number", "transaction_index", "value", "hash", "from_address", "to_address", "input"];
                let found = export.columns(&[&names[..], &["gas_used", "effective_gas_price"]].concat())?;
                ensure!(found == expected, "{name} {address} {side}: {} rows of {}", found.len(), expected.len());
            }
        }
    }
    Ok(())
}

#[test]
fn call_frames_and_logs_are_those_of_the_node() -> anyhow::Result<()> {
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let all = listed::frames(chain);
        for address in &listed::busiest(&all, &["from", "to", "createdContract"])[..4] {
            for (side, members) in [
                ("null", &["from", "to", "createdContract"][..]),
                ("from", &["from"]),
                ("to", &["to", "createdContract"]),
            ] {
                let path = format!("{address}/internal-transactions/csv?filter_type=address&filter_value={side}");
                let found =
                    Export::of(chain, &path)?.columns(&["transaction_hash", "frame_index", "value", "block_hash"])?;
                let is_expected = |row: &&Value| members.iter().any(|member| row[*member] == **address);
                let cells = |row: &Value| {
                    vec![
                        cell(&row["transactionHash"]),
                        decimal(&row["frameIndex"]),
                        decimal(&row["value"]),
                        cell(&row["blockHash"]),
                    ]
                };
                let expected: Vec<_> = all.iter().filter(is_expected).map(cells).collect();
                ensure!(found == expected, "{name} {address} {side}: {} rows of {}", found.len(), expected.len());
            }
        }
        let all = logs(chain);
        let emitters: BTreeSet<&str> = all.iter().filter_map(|log| log["address"].as_str()).collect();
        let mut with_topic = 0;
        for emitter in emitters {
            let of_emitter: Vec<&Value> = all.iter().filter(|log| log["address"] == emitter).collect();
            let topics = of_emitter.iter().filter_map(|log| log["topics"].as_array()?.last()?.as_str());
            for topic in [""].into_iter().chain(topics.take(2)) {
                let path = format!("{emitter}/logs/csv?filter_type=topic&filter_value={topic}");
                let found = Export::of(chain, &path)?.columns(&["block_number", "log_index", "data"])?;
                let has = |log: &&&Value| {
                    topic.is_empty() || log["topics"].as_array().is_some_and(|all| all.iter().any(|one| one == topic))
                };
                let cells =
                    |log: &&Value| vec![decimal(&log["blockNumber"]), decimal(&log["logIndex"]), cell(&log["data"])];
                let expected: Vec<_> = of_emitter.iter().filter(has).map(cells).collect();
                ensure!(found == expected, "{name} {emitter} {topic}: {} rows of {}", found.len(), expected.len());
                with_topic += usize::from(!topic.is_empty() && found.len() < of_emitter.len());
            }
        }
        ensure!(with_topic > 3, "{name}: {with_topic} exports with a topic that not all logs have");
    }
    Ok(())
}

/// The scan was held against what another program found.
#[test]
fn token_transfers_are_those_of_the_scan() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let all = listed::rows(chain, "token-transfers", "")?;
    for address in &listed::busiest(&all, &["from", "to"])[..4] {
        for (side, parameter) in [("", "address"), ("from", "fromAddress"), ("to", "toAddress")] {
            let url =
                format!("{}/api/v2/scan/token-transfers?{ALL}&format=csv&mark=0&{parameter}={address}", chain.api);
            let expected = http::get(&http::agent(), &url)?.text();
            // Older pages send the last two with each export.
            let ignored = format!("address_id={address}&recaptcha_response=x");
            let path = format!("{address}/token-transfers/csv?filter_value={side}&columns=scan&mark=0&{ignored}");
            let found = http::get(&http::agent(), &format!("{}/api/v2/addresses/{path}", chain.api))?.text();
            ensure!(found == expected && (found.lines().count() > 1 || !side.is_empty()), "{address} {side}: {found}");
        }
    }
    Ok(())
}

/// Seconds of Unix time as `2024-02-17T08:49:36Z`.
fn iso(seconds: u64) -> anyhow::Result<String> {
    Ok(jiff::Timestamp::from_second(i64::try_from(seconds)?)?.to_string())
}

#[test]
fn periods_are_moments_or_days() -> anyhow::Result<()> {
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let all = node_transactions(chain);
        let (address, _) = busiest(&all)[0].clone();
        let time = |height: u64| quantity(&chain.lines[usize::try_from(height).unwrap_or(0)]["block"]["timestamp"]);
        let expected = |first: u64, last: u64| {
            let is_meant = |height: u64| (first..=last).contains(&time(height));
            all.iter().filter(|((height, _), tx)| is_meant(*height) && tx.participants("").contains(&address)).count()
        };
        let count = |query: &str| -> anyhow::Result<usize> {
            Ok(Export::of(chain, &format!("{address}/transactions/csv?{query}"))?.rows.len())
        };
        let (first, last) = (time(chain.head() / 4), time(chain.head() / 2));
        let both = format!("from_period={}&to_period={}", iso(first)?, iso(last)?);
        ensure!(count(&both)? == expected(first, last) && count(&both)? > 0, "{name}: {both}");
        ensure!(count(&format!("from_period={}", iso(first)?))? == expected(first, u64::MAX));
        ensure!(count(&format!("to_period={}&from_period=null", iso(last)?))? == expected(0, last));
        // Just after a block and just before another, so that neither is meant.
        let inner = format!("from_period={}&to_period={}", iso(first + 1)?, iso(last - 1)?);
        ensure!(count(&inner)? == expected(first + 1, last - 1), "{name}: {inner}");
        let day = |seconds: u64| -> anyhow::Result<String> { Ok(iso(seconds)?.chars().take(10).collect()) };
        let whole = format!("from_period={}&to_period={}", day(first)?, day(first)?);
        let midnight = first - first % 86_400;
        ensure!(count(&whole)? == expected(midnight, midnight + 86_399), "{name}: {whole}");
        // Before the chain, and after it.
        ensure!(count("to_period=1970-01-01T00:00:01Z")? == expected(0, 1) && count("from_period=2200-01-01")? == 0);
        let mark = Export::of(chain, &format!("{address}/transactions/csv?{both}"))?.mark.context("a mark")?;
        ensure!(quantity(&mark["fromBlock"]) > 0 && quantity(&mark["toBlock"]) < chain.head(), "{mark}");
        for (query, pointer) in [
            ("from_period=yesterday", "/from_period"),
            ("to_period=2024-02-30", "/to_period"),
            ("from_period=2024-02-02&to_period=2024-02-01", "/to_period"),
            ("filter_value=sideways", "/filter_value"),
            ("mark=2", "/mark"),
            ("columns=all", "/columns"),
            ("limit=5", "/limit"),
        ] {
            let answer = http::get(
                &http::agent(),
                &format!("{}/api/v2/addresses/{address}/transactions/csv?{query}", chain.api),
            )?;
            ensure!(answer.status == 422, "{query}: {}", answer.text());
            ensure!(answer.json()?["errors"][0]["source"]["pointer"] == pointer, "{query}: {}", answer.text());
        }
        let topic =
            http::get(&http::agent(), &format!("{}/api/v2/addresses/{address}/logs/csv?filter_value=0x12", chain.api))?;
        ensure!(topic.status == 422, "{}", topic.text());
    }
    let gaps = chain("mainnet");
    let (address, _) = busiest(&node_transactions(gaps))[0].clone();
    let refused = http::get(&http::agent(), &format!("{}/api/v2/addresses/{address}/transactions/csv", gaps.api))?;
    ensure!(refused.status == 404 && refused.json()?["data"]["missing"].is_array(), "{}", refused.text());
    Ok(())
}

/// The whole answer to a request as it was sent.
fn raw(chain: &Chain, path: &str, headers: &str) -> anyhow::Result<Vec<u8>> {
    let mut socket = env::connect(chain.api.trim_start_matches("http://"))?;
    socket.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(socket, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}\r\n")?;
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer)?;
    Ok(answer)
}

/// What stands behind the last chunk of a body.
fn trailers(answer: &[u8]) -> anyhow::Result<String> {
    let end = answer.windows(5).rposition(|bytes| bytes == b"\r\n0\r\n").context("no last chunk")?;
    Ok(String::from_utf8(answer[end + 5..].to_vec())?)
}

#[test]
fn a_trailer_says_whether_it_is_all() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let (address, transactions) = busiest(&node_transactions(chain))[0].clone();
    for (path, rows) in [
        (format!("/api/v2/scan/logs?{ALL}&format=csv&mark=0"), logs(chain).len()),
        (format!("/api/v2/scan/logs?{ALL}&format=csv"), logs(chain).len()),
        (format!("/api/v2/scan/logs?{ALL}&format=ndjson&limit=9"), 9),
        (format!("/api/v2/scan/transactions?{ALL}&format=parquet"), node_transactions(chain).len()),
        (format!("/api/v2/addresses/{address}/transactions/csv?mark=0"), transactions),
    ] {
        for encoding in ["", "accept-encoding: gzip\r\n", "accept-encoding: zstd\r\n"] {
            let answer = raw(chain, &path, &format!("te: trailers\r\n{encoding}"))?;
            let head = String::from_utf8_lossy(&answer[..answer.len().min(2_000)]).to_lowercase();
            ensure!(
                head.starts_with("http/1.1 200") && head.contains("\r\ntrailer: x-trawl-end\r\n"),
                "{path}: {head}"
            );
            let is_encoded = head.contains("\r\ncontent-encoding: ");
            ensure!(
                is_encoded == (!encoding.is_empty() && !path.contains("parquet")) || path.contains("parquet"),
                "{head}"
            );
            let trailers = trailers(&answer)?;
            let mark = trailers.strip_prefix("x-trawl-end: ").context(trailers.clone())?;
            let mark: Value = serde_json::from_str(mark.trim_end())?;
            ensure!(mark["complete"] == true && mark["count"] == rows && mark["headBlock"] == "0x5b", "{path}: {mark}");
            ensure!(trailers.ends_with("\r\n\r\n"), "{trailers:?}");
        }
        // Who did not ask for trailers gets none.
        ensure!(trailers(&raw(chain, &path, "")?)? == "\r\n", "{path}");
    }
    let answer = raw(chain, &format!("/api/v2/scan/logs?{ALL}&format=csv&mark=0"), "te: trailers\r\n")?;
    ensure!(!String::from_utf8_lossy(&answer).contains("\n# "), "a mark that was switched off");
    // Only of CSV is a mark no part.
    for format in ["json", "ndjson", "arrow", "parquet"] {
        let answer = raw(chain, &format!("/api/v2/scan/logs?{ALL}&format={format}&mark=0"), "")?;
        ensure!(answer.starts_with(b"HTTP/1.1 422"), "{format}: {}", String::from_utf8_lossy(&answer));
    }
    Ok(())
}
