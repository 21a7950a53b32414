//! Traces of whole blocks: against what another implementation of the EVM told of each transaction, against the traces of single
//! transactions, and against the frames in the tables.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::replays::telling;
use super::{call, result};
use crate::chains::{Chain, chain};

/// Blocks of `hive` whose rules are known: Constantinople without Petersburg is not.
fn lines(hive: &Chain) -> impl Iterator<Item = &Value> {
    hive.lines.iter().filter(|line| line["fork"] != "constantinople" && line["block"]["number"] != "0x0")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn are_what_another_evm_told() -> anyhow::Result<()> {
    let hive = chain("hive");
    let mut compared = 0;
    for line in lines(hive) {
        let (number, hash) = (&line["block"]["number"], &line["block"]["hash"]);
        let options = json!({"tracer": "callTracer", "tracerConfig": {"onlyTopCall": false}, "timeout": "20s"});
        let calls = result(hive, "debug_traceBlockByNumber", json!([number, options]))?;
        ensure!(list(&calls) == list(&line["traces"]), "{number}: {calls}\ntold {}", line["traces"]);
        let options = json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}});
        let changes = result(hive, "debug_traceBlockByHash", json!([hash, options]))?;
        let parity = result(hive, "trace_replayBlockTransactions", json!([number, ["stateDiff"]]))?;
        ensure!(list(&changes).len() == list(&line["traces"]).len(), "{number}: {changes}");
        for ((told, trace), (changes, parity)) in
            list(&line["txStateDiffs"]).iter().zip(list(&calls)).zip(list(&changes).iter().zip(list(&parity)))
        {
            ensure!(telling(&changes["result"]) == telling(&told["prestateDiff"]), "{number}: {changes}\ntold {told}");
            ensure!(parity["stateDiff"] == told["parity"], "{number}: {parity}\ntold {told}");
            ensure!(changes["txHash"] == trace["txHash"] && parity["transactionHash"] == trace["txHash"], "{number}");
            compared += 1;
        }
    }
    ensure!(compared == 229, "{compared} compared");
    Ok(())
}

/// Each tracer tells of a transaction in its block what it tells of it alone.
#[test]
fn are_those_of_their_transactions() -> anyhow::Result<()> {
    let hive = chain("hive");
    let mut compared = 0;
    for line in lines(hive).step_by(9) {
        for options in [
            json!({}),
            json!({"tracer": "", "enableMemory": true, "enableReturnData": true, "disableStack": true}),
            json!({"tracer": "callTracer", "tracerConfig": {"withLog": true}}),
            json!({"tracer": "prestateTracer"}),
            json!({"tracer": "flatCallTracer"}),
            json!({"tracer": "4byteTracer"}),
            json!({"tracer": "noopTracer"}),
        ] {
            let block = result(hive, "debug_traceBlockByNumber", json!([line["block"]["number"], options]))?;
            for entry in list(&block).iter().step_by(3) {
                let alone = result(hive, "debug_traceTransaction", json!([entry["txHash"], options]))?;
                ensure!(entry["result"] == alone, "{options}: {entry}\nalone {alone}");
                compared += 1;
            }
        }
    }
    ensure!(compared >= 56, "{compared} compared");
    Ok(())
}

/// The list of calls has the frames that `trace_block` has from the tables.
#[test]
fn in_lists_are_the_frames_of_the_tables() -> anyhow::Result<()> {
    let hive = chain("hive");
    let (mut compared, mut failed) = (0, 0);
    for line in lines(hive) {
        let number = &line["block"]["number"];
        let options = json!({"tracer": "flatCallTracer", "tracerConfig": {"convertParityErrors": true}});
        let block = result(hive, "debug_traceBlockByNumber", json!([number, options]))?;
        let frames = list(&block).iter().flat_map(|entry| list(&entry["result"]));
        let told: Vec<&Value> = list(&line["parityTraces"]).iter().flat_map(list).collect();
        ensure!(frames.clone().count() == told.len(), "{number}: {block}");
        for (frame, told) in frames.zip(told) {
            for member in ["type", "traceAddress", "subtraces", "error", "blockHash", "blockNumber", "transactionHash"]
            {
                ensure!(frame[member] == told[member], "{member}: {frame}, told {told}");
            }
            for member in ["from", "to", "input", "init", "callType", "value"] {
                ensure!(frame["action"][member] == told["action"][member], "{member}: {frame}, told {told}");
            }
            ensure!(frame["transactionPosition"] == told["transactionPosition"], "{frame}, told {told}");
            compared += 1;
            failed += usize::from(!told["error"].is_null());
        }
    }
    ensure!(compared >= 229 && failed > 0, "{compared} compared, {failed} failed");
    Ok(())
}

/// Steps follow from each other: gas goes down by the cost, and the last of a call is deepest or returns.
#[test]
fn have_steps_that_follow_from_each_other() -> anyhow::Result<()> {
    let hive = chain("hive");
    let (mut steps, mut slots, mut words) = (0, 0, 0);
    for line in lines(hive).step_by(4) {
        let options = json!({"enableMemory": true, "enableReturnData": true, "timeout": "5s"});
        let block = result(hive, "debug_traceBlockByNumber", json!([line["block"]["number"], options]))?;
        for (entry, receipt) in list(&block).iter().zip(list(&line["receipts"])) {
            let trace = &entry["result"];
            ensure!(Some(crate::chains::quantity(&receipt["gasUsed"])) == trace["gas"].as_u64(), "{entry}");
            ensure!((receipt["status"] == "0x0") == (trace["failed"] == true) || receipt["status"].is_null());
            let logs = list(&trace["structLogs"]);
            for pair in logs.windows(2) {
                let number = |step: usize, member: &str| pair[step][member].as_i64().unwrap_or_default();
                let calls = pair[0]["op"].as_str().is_some_and(|op| op.contains("CALL") || op.starts_with("CREATE"));
                if number(0, "depth") == number(1, "depth") && !calls {
                    ensure!(number(0, "gas") - number(0, "gasCost") == number(1, "gas"), "{pair:?}");
                }
            }
            for step in logs {
                let is_storage = matches!(step["op"].as_str(), Some("SLOAD" | "SSTORE"));
                ensure!(is_storage || step.get("storage").is_none(), "{step}");
                slots += usize::from(step["storage"].is_object());
                words += list(&step["memory"]).iter().filter(|word| word.as_str().map(str::len) == Some(66)).count();
            }
            steps += logs.len();
        }
    }
    ensure!(steps > 500 && slots > 0 && words > 100, "{steps} steps, {slots} with slots, {words} words");
    let options = json!({"limit": 4, "disableStack": true});
    let some = result(hive, "debug_traceBlockByNumber", json!(["0x1", options]))?;
    ensure!(list(&some[0]["result"]["structLogs"]).len() == 4, "{some}");
    ensure!(some[0]["result"]["structLogs"][3].get("stack").is_none(), "{some}");
    Ok(())
}

#[test]
fn are_refused_where_they_cannot_run() -> anyhow::Result<()> {
    let hive = chain("hive");
    let unknown = format!("0x{}", "12".repeat(32));
    for (method, params, code, text) in [
        ("debug_traceBlockByNumber", json!(["earliest", {"tracer": "callTracer"}]), -32000, "genesis is not traceable"),
        ("debug_traceBlockByHash", json!([hive.lines[0]["block"]["hash"]]), -32000, "genesis is not traceable"),
        ("debug_traceBlockByNumber", json!(["0xffff"]), -32000, "block #65535 not found"),
        ("debug_traceBlockByHash", json!([unknown, {"tracer": "callTracer"}]), -32000, "not found"),
        ("debug_traceBlockByNumber", json!(["0x1", {"tracer": "myTracer"}]), -32602, "myTracer is not served"),
        (
            "debug_traceBlockByNumber",
            json!(["0x1", {"tracer": "callTracer", "tracerConfig": 1}]),
            -32602,
            "tracerConfig",
        ),
        ("debug_traceBlockByNumber", json!(["0x1", 1]), -32602, "options"),
        ("debug_traceBlockByNumber", json!([]), -32602, "number of params"),
        ("debug_traceBlockByHash", json!(["0x1"]), -32602, "hash"),
        ("trace_replayBlockTransactions", json!(["0x1", ["steps"]]), -32602, "trace types"),
        ("trace_replayBlockTransactions", json!(["0x1"]), -32602, "number of params"),
    ] {
        let answer = call(hive, method, params.clone())?;
        let found = answer["error"]["message"].as_str().unwrap_or_default();
        ensure!(answer["error"]["code"] == code && found.contains(text), "{method} {params}: {answer}");
    }
    ensure!(result(hive, "trace_replayBlockTransactions", json!([unknown, ["trace"]]))?.is_null());
    ensure!(result(hive, "trace_replayBlockTransactions", json!(["0x0", ["trace"]]))? == json!([]));
    let mainnet = chain("mainnet");
    let block = mainnet.lines.last().context("a block")?["block"]["number"].clone();
    let answer = call(mainnet, "debug_traceBlockByNumber", json!([block, {"tracer": "callTracer"}]))?;
    ensure!(answer["error"]["code"] == -32002 && answer["error"]["data"]["missing"].is_array(), "{answer}");
    Ok(())
}
