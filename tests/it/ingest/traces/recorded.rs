//! What the recorded answers of nodes say, as rows of `internal_transactions`.

use serde_json::{Value, json};
use trawl_core::primitives::U256;

use crate::chains::quantity;

/// What a row says, in the order of the test's columns.
pub type Row = Vec<String>;

/// As ClickHouse writes it.
pub const NULL: &str = "\\N";

fn bytes(value: &Value) -> String {
    value.as_str().unwrap_or_default().trim_start_matches("0x").to_owned()
}

fn or_null(value: &Value) -> String {
    if value.is_null() { NULL.into() } else { bytes(value) }
}

fn number(value: &Value) -> String {
    let digits = value.as_str().unwrap_or("0x0").trim_start_matches("0x");
    U256::from_str_radix(digits, 16).expect("digits").to_string()
}

fn or_null_number(value: &Value) -> String {
    if value.is_null() { NULL.into() } else { number(value) }
}

/// The transactions of a line, each with its index, its receipt and its recorded trace.
fn traced<'a>(line: &'a Value, key: &str) -> Vec<(usize, &'a Value, &'a Value, &'a Value)> {
    let traces = line[key].as_array().into_iter().flatten();
    traces
        .enumerate()
        .map(|(transaction_index, trace)| {
            (
                transaction_index,
                &line["block"]["transactions"][transaction_index],
                &line["receipts"][transaction_index],
                trace,
            )
        })
        .collect()
}

fn first_columns(line: &Value, transaction: &Value, transaction_index: usize, frame: usize, path: &str) -> Row {
    let height = quantity(&line["block"]["number"]).to_string();
    vec![height, transaction_index.to_string(), frame.to_string(), bytes(&transaction["hash"]), path.into()]
}

/// Of `trace_block`, rewards behind the frames of each block.
pub fn from_trace_block(lines: &[Value]) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in lines {
        let time = quantity(&line["block"]["timestamp"]).to_string();
        for (transaction_index, transaction, receipt, frames) in traced(line, "parityTraces") {
            for (index, frame) in frames.as_array().into_iter().flatten().enumerate() {
                let (action, result) = (&frame["action"], &frame["result"]);
                let path = frame["traceAddress"].to_string();
                let mut row = first_columns(line, transaction, transaction_index, index, &path);
                let failed = frame["error"].is_string();
                let call_type = action["callType"].as_str().or(action["creationMethod"].as_str()).unwrap_or_default();
                let (kind, from, to, value, gas_used) = match frame["type"].as_str() {
                    Some("suicide") => {
                        ("selfdestruct", &action["address"], &action["refundAddress"], &action["balance"], "0".into())
                    }
                    Some("create") => {
                        ("create", &action["from"], &Value::Null, &action["value"], or_null_number(&result["gasUsed"]))
                    }
                    _ => ("call", &action["from"], &action["to"], &action["value"], or_null_number(&result["gasUsed"])),
                };
                let moves = !matches!(call_type, "delegatecall" | "staticcall");
                let created = if kind == "create" && !failed { or_null(&result["address"]) } else { NULL.into() };
                let is_root = index == 0;
                row.extend([
                    kind.into(),
                    call_type.into(),
                    bytes(from),
                    or_null(to),
                    created,
                    if moves { number(value) } else { "0".into() },
                    number(if is_root { &transaction["gas"] } else { &action["gas"] }),
                    frame["error"].as_str().unwrap_or_default().into(),
                    if is_root { number(&receipt["gasUsed"]) } else { gas_used },
                    bytes(if kind == "create" { &action["init"] } else { &action["input"] }),
                    bytes(if kind == "create" { &result["code"] } else { &result["output"] }),
                    frame["subtraces"].to_string(),
                    if is_root { number(&action["gas"]) } else { NULL.into() },
                    if is_root { or_null_number(&result["gasUsed"]) } else { NULL.into() },
                    time.clone(),
                ]);
                rows.push(row);
            }
        }
        for (index, reward) in line["parityRewards"].as_array().into_iter().flatten().enumerate() {
            let action = &reward["action"];
            let height = quantity(&line["block"]["number"]).to_string();
            let transaction_index = u32::MAX.to_string();
            let mut row =
                vec![height, transaction_index, index.to_string(), "0".repeat(64), "[]".into(), "reward".into()];
            row.extend([bytes(&action["rewardType"]), "0".repeat(40), bytes(&action["author"]), NULL.into()]);
            row.extend([number(&action["value"]), "0".into(), String::new(), NULL.into(), String::new()]);
            row.extend([String::new(), "0".into(), NULL.into(), NULL.into(), time.clone()]);
            rows.push(row);
        }
    }
    rows
}

/// The rows that answers of `callTracer` give.
pub fn from_call_tracer(lines: &[Value]) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in lines {
        for (transaction_index, transaction, receipt, trace) in traced(line, "traces") {
            let mut open = vec![(Vec::new(), &trace["result"])];
            let mut index = 0;
            while let Some((path, frame)) = open.pop() {
                let path: Vec<usize> = path;
                let calls = frame["calls"].as_array().map_or(&[][..], Vec::as_slice);
                open.extend(calls.iter().enumerate().rev().map(|(n, call)| ([path.clone(), vec![n]].concat(), call)));
                let kind = frame["type"].as_str().unwrap_or_default().to_lowercase();
                let is_create = kind.starts_with("create");
                let is_selfdestruct = kind == "selfdestruct";
                let failed = frame["error"].is_string();
                let mut row = first_columns(line, transaction, transaction_index, index, &json!(path).to_string());
                row.extend([
                    if is_create {
                        "create".into()
                    } else if is_selfdestruct {
                        kind.clone()
                    } else {
                        "call".into()
                    },
                    if is_selfdestruct { String::new() } else { kind.clone() },
                    bytes(&frame["from"]),
                    if is_create { NULL.into() } else { or_null(&frame["to"]) },
                    if is_create && !failed { or_null(&frame["to"]) } else { NULL.into() },
                    if kind == "delegatecall" { "0".into() } else { number(&frame["value"]) },
                    number(if index == 0 { &transaction["gas"] } else { &frame["gas"] }),
                    frame["error"].as_str().unwrap_or_default().into(),
                    number(if index == 0 { &receipt["gasUsed"] } else { &frame["gasUsed"] }),
                    bytes(&frame["input"]),
                    bytes(&frame["output"]),
                    calls.len().to_string(),
                    NULL.into(),
                    NULL.into(),
                    quantity(&line["block"]["timestamp"]).to_string(),
                ]);
                rows.push(row);
                index += 1;
            }
        }
    }
    rows
}
