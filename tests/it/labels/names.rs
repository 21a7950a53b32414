//! Which part of the calls and logs of the recorded blocks of mainnet has a name without that anything was loaded. The
//! floors are a little below what was measured when the lists were made (docs/reference/labels.md).

use std::io::{BufRead as _, BufReader};

use alloy_primitives::hex;
use anyhow::{Context as _, ensure};
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use trawl_core::primitives::{Address, B256};
use trawl_json::JsonWriter;
use trawl_json::vocabulary::Vocabulary;
use trawl_json::vocabulary::decoded::write_decoded;
use xtask::workspace;

use crate::chains;

/// How many there are, and how many of them have a name.
#[derive(Debug, Default)]
struct NameCount {
    all: usize,
    named: usize,
}

impl NameCount {
    fn add(&mut self, has_name: bool) {
        self.all += 1;
        self.named += usize::from(has_name);
    }

    fn ensure_at_least(&self, floor: f64) -> anyhow::Result<()> {
        ensure!(self.all > 1_000 && self.named as f64 >= floor * self.all as f64, "{self:?} is below {floor}");
        Ok(())
    }
}

fn bytes(value: &Value) -> anyhow::Result<Vec<u8>> {
    Ok(hex::decode(value.as_str().context("hexadecimal text")?)?)
}

/// A creation has no method, and data of fewer than four bytes no selector.
fn add_call(calls: &mut NameCount, to: &Value, input: &Value) -> anyhow::Result<()> {
    let Some(to) = to.as_str() else { return Ok(()) };
    let method = Vocabulary::default().method(Some(&to.parse::<Address>()?), 0, &bytes(input)?);
    if let Some(method) = method {
        calls.add(!method.starts_with("0x"));
    }
    Ok(())
}

fn add_frames(calls: &mut NameCount, frame: &Value) -> anyhow::Result<()> {
    let is_call = frame["type"].as_str().is_some_and(|kind| kind.ends_with("CALL") || kind == "CALLCODE");
    if is_call {
        add_call(calls, &frame["to"], &frame["input"])?;
    }
    frame["calls"].as_array().into_iter().flatten().try_for_each(|below| add_frames(calls, below))
}

#[test]
fn calls_and_logs_of_mainnet_have_names() -> anyhow::Result<()> {
    let (mut calls, mut logs, mut frames) = (NameCount::default(), NameCount::default(), NameCount::default());
    for line in chains::lines("mainnet")? {
        for transaction in line["block"]["transactions"].as_array().into_iter().flatten() {
            add_call(&mut calls, &transaction["to"], &transaction["input"])?;
        }
        let receipts = line["receipts"].as_array().into_iter().flatten();
        for log in receipts.flat_map(|receipt| receipt["logs"].as_array()).flatten() {
            let topics: Vec<B256> = serde_json::from_value(log["topics"].clone())?;
            let mut writer = JsonWriter::new();
            write_decoded(&mut writer, &topics, &bytes(&log["data"])?, []);
            logs.add(writer.into_bytes() != b"null");
        }
    }
    let traces = workspace::fixture("mainnet/traces/debug_traceBlockByNumber.ndjson.gz");
    for line in BufReader::new(MultiGzDecoder::new(std::fs::File::open(traces)?)).lines() {
        let block: Value = serde_json::from_str(&line?)?;
        for trace in block["result"].as_array().into_iter().flatten() {
            add_frames(&mut frames, &trace["result"])?;
        }
    }
    println!("calls {calls:?}, frames {frames:?}, logs {logs:?}");
    calls.ensure_at_least(0.72)?;
    frames.ensure_at_least(0.74)?;
    logs.ensure_at_least(0.95)
}
