//! Traces of whole blocks: against what another implementation of the EVM reported for each transaction, against the
//! traces of single transactions, and against the frames in the tables.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::replays::telling;
use super::{call, result};
use crate::chains::{Chain, chain};
use crate::env;

/// Blocks of `hive` whose rules are known: Constantinople without Petersburg is not.
fn lines(hive: &Chain) -> impl Iterator<Item = &Value> {
    hive.lines.iter().filter(|line| line["fork"] != "constantinople" && line["block"]["number"] != "0x0")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn match_another_evm() -> anyhow::Result<()> {
    let hive = chain("hive");
    let mut compared = 0;
    for line in lines(hive) {
        let (number, hash) = (&line["block"]["number"], &line["block"]["hash"]);
        let options = json!({"tracer": "callTracer", "tracerConfig": {"onlyTopCall": false}, "timeout": "20s"});
        let calls = result(hive, "debug_traceBlockByNumber", json!([number, options]))?;
        ensure!(list(&calls) == list(&line["traces"]), "{number}: {calls}\nexpected {}", line["traces"]);
        let options = json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}});
        let changes = result(hive, "debug_traceBlockByHash", json!([hash, options]))?;
        let parity = result(hive, "trace_replayBlockTransactions", json!([number, ["stateDiff"]]))?;
        ensure!(list(&changes).len() == list(&line["traces"]).len(), "{number}: {changes}");
        for ((expected, trace), (changes, parity)) in
            list(&line["txStateDiffs"]).iter().zip(list(&calls)).zip(list(&changes).iter().zip(list(&parity)))
        {
            ensure!(
                telling(&changes["result"]) == telling(&expected["prestateDiff"]),
                "{number}: {changes}\nexpected {expected}"
            );
            ensure!(parity["stateDiff"] == expected["parity"], "{number}: {parity}\nexpected {expected}");
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

/// `muxTracer` tells of a transaction what each of its tracers tells alone.
#[test]
fn of_several_tracers_are_those_of_each() -> anyhow::Result<()> {
    let hive = chain("hive");
    let each = json!({"callTracer": {"withLog": true}, "prestateTracer": {"diffMode": true}, "flatCallTracer": null,
                      "4byteTracer": {}, "noopTracer": {}});
    let trace = |hash: &Value, tracer: &str, config: &Value| {
        call(hive, "debug_traceTransaction", json!([hash, {"tracer": tracer, "tracerConfig": config}]))
    };
    let hashes = lines(hive).step_by(5).map(|line| &line["block"]["transactions"][0]["hash"]);
    let mut hashes = hashes.filter(|hash| hash.is_string());
    for hash in hashes.by_ref().take(env::amount(4, 9)) {
        let together = trace(hash, "muxTracer", &each)?["result"].take();
        ensure!(together.as_object().is_some_and(|traces| traces.len() == 5), "{together}");
        for (name, config) in each.as_object().into_iter().flatten() {
            ensure!(together[name] == trace(hash, name, config)?["result"], "{name}: {together}");
        }
    }
    let hash = hashes.next().context("a transaction")?;
    ensure!(trace(hash, "muxTracer", &json!({}))?["result"] == json!({}));
    let wrong =
        [json!(null), json!({"muxTracer": {}}), json!({"": {}}), json!({"callTracer": 5}), json!({"noopTracer": []})];
    for config in wrong.into_iter().chain([json!([])]) {
        ensure!(trace(hash, "muxTracer", &config)?["error"]["code"] == -32602, "{config}");
    }
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
        let expected: Vec<&Value> = list(&line["parityTraces"]).iter().flat_map(list).collect();
        ensure!(frames.clone().count() == expected.len(), "{number}: {block}");
        for (frame, expected) in frames.zip(expected) {
            for member in ["type", "traceAddress", "subtraces", "error", "blockHash", "blockNumber", "transactionHash"]
            {
                ensure!(frame[member] == expected[member], "{member}: {frame}, expected {expected}");
            }
            for member in ["from", "to", "input", "init", "callType", "value"] {
                ensure!(
                    frame["action"][member] == expected["action"][member],
                    "{member}: {frame}, expected {expected}"
                );
            }
            ensure!(frame["transactionPosition"] == expected["transactionPosition"], "{frame}, expected {expected}");
            compared += 1;
            failed += usize::from(!expected["error"].is_null());
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
        ("debug_traceBlockByNumber", json!(["0x1", {"tracer": "myTracer"}]), -32602, "myTracer is not supported"),
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

/// A frame of a transaction by its path is that of all its frames.
#[test]
fn frames_are_found_by_their_path() -> anyhow::Result<()> {
    let dev = chain("devchain");
    let rpc = |method: &str, params: Value| http::rpc(&http::agent(), &format!("{}/rpc", dev.api), method, &params);
    let recorded = dev.lines.iter().flat_map(|line| list(&line["parityTraces"])).flat_map(list);
    let deep = recorded.filter(|frame| list(&frame["traceAddress"]).len() > 1).step_by(7);
    let mut found = 0;
    for frame in deep.take(12) {
        let path = list(&frame["traceAddress"]).iter().filter_map(Value::as_u64);
        let path: Vec<String> = path.map(|step| format!("{step:#x}")).collect();
        let answer = rpc("trace_get", json!([frame["transactionHash"], path]))?;
        ensure!(answer["result"]["traceAddress"] == frame["traceAddress"], "{answer}, recorded {frame}");
        ensure!(answer["result"]["action"]["input"] == frame["action"]["input"], "{answer}, recorded {frame}");
        let none = rpc("trace_get", json!([frame["transactionHash"], ["0xffff"]]))?;
        ensure!(none["result"].is_null() && none.get("error").is_none(), "{none}");
        let bad = rpc("trace_get", json!([frame["transactionHash"], [1]]))?;
        ensure!(bad["error"]["code"] == -32602, "{bad}");
        found += 1;
    }
    ensure!(found > 2, "{found} found");
    Ok(())
}

/// A counter: each call adds one to slot 0 and returns it.
const COUNTER: &str = "0x6000546001018060005560005260206000f3";
/// A loop without end.
const LOOP: &str = "0x5b600056";

#[test]
fn of_calls_see_overrides_and_each_other() -> anyhow::Result<()> {
    let hive = chain("hive");
    let counter = format!("0x{}", "c0".repeat(20));
    let overrides = json!({counter.clone(): {"code": COUNTER, "state": {format!("0x{}", "00".repeat(32)): format!("0x{:064x}", 6)}}});
    let with = |mut options: Value| {
        options["stateOverrides"] = overrides.clone();
        json!([{"to": counter}, "latest", options])
    };
    let calls = result(hive, "debug_traceCall", with(json!({"tracer": "callTracer"})))?;
    ensure!(calls["output"] == format!("0x{:064x}", 7) && calls["to"] == counter, "{calls}");
    let steps = result(hive, "debug_traceCall", with(json!({})))?;
    let ops: Vec<&Value> = list(&steps["structLogs"]).iter().map(|step| &step["op"]).collect();
    let expected =
        ["PUSH1", "SLOAD", "PUSH1", "ADD", "DUP1", "PUSH1", "SSTORE", "PUSH1", "MSTORE", "PUSH1", "PUSH1", "RETURN"];
    ensure!(ops == expected, "{steps}");
    let slot = |value: u64| json!({format!("0x{:064x}", 0): format!("0x{value:064x}")});
    let logs = list(&steps["structLogs"]);
    ensure!(logs[1]["storage"] == slot(6) && logs[6]["storage"] == slot(7), "{steps}");
    ensure!(steps["returnValue"] == format!("0x{:064x}", 7), "{steps}");
    let looping = json!({counter.clone(): {"code": LOOP}});
    let options = json!({"stateOverrides": looping, "disableStack": false});
    let answer = call(hive, "debug_traceCall", json!([{"to": counter}, "latest", options]))?;
    let text = answer["error"]["message"].as_str().unwrap_or_default();
    ensure!(answer["error"]["code"] == -32000 && text.contains("32 MiB of text"), "{text}");
    let refused = call(hive, "debug_traceCall", json!([{"to": counter}, "latest", {"txIndex": "0x0"}]))?;
    ensure!(refused["error"]["code"] == -32602, "{refused}");
    Ok(())
}

#[test]
fn of_calls_as_parity_run_on_each_other() -> anyhow::Result<()> {
    let hive = chain("hive");
    let sender =
        hive.lines.iter().flat_map(|line| list(&line["block"]["transactions"])).next().context("one")?["from"].clone();
    let receiver = format!("0x{}", "d0".repeat(20));
    let gift = json!({"from": sender, "to": receiver, "value": "0x5"});
    let alone = result(hive, "trace_call", json!([gift, ["trace", "stateDiff"], "latest"]))?;
    ensure!(alone["trace"][0]["action"]["value"] == "0x5", "{alone}");
    ensure!(alone["stateDiff"][&receiver]["balance"] == json!({"+": "0x5"}), "{alone}");
    let both = result(hive, "trace_callMany", json!([[[gift, ["stateDiff"]], [gift, ["stateDiff"]]], "latest"]))?;
    ensure!(both[0]["stateDiff"] == alone["stateDiff"], "{both}");
    ensure!(both[1]["stateDiff"][&receiver]["balance"] == json!({"*": {"from": "0x5", "to": "0xa"}}), "{both}");
    ensure!(result(hive, "trace_callMany", json!([[], "latest"]))? == json!([]));
    for (method, params) in [
        ("trace_callMany", json!([[gift], "latest"])),
        ("trace_callMany", json!([vec![json!([gift, ["trace"]]); 101]])),
        ("trace_call", json!([gift])),
        ("trace_call", json!([gift, ["steps"]])),
        ("trace_call", json!([])),
    ] {
        let answer = call(hive, method, params.clone())?;
        ensure!(answer["error"]["code"] == -32602, "{method} {params}: {answer}");
    }
    Ok(())
}

/// A transfer runs after its block as it did in it: its nonce is not checked.
#[test]
fn of_signed_transactions_are_those_of_their_calls() -> anyhow::Result<()> {
    let hive = chain("hive");
    let is_transfer = |(transaction, receipt): &(&Value, &Value)| {
        transaction["input"] == "0x" && receipt["gasUsed"] == "0x5208" && receipt["status"] == "0x1"
    };
    let transfers =
        hive.lines.iter().rev().take(15).flat_map(|line| {
            list(&line["block"]["transactions"]).iter().zip(list(&line["receipts"])).filter(is_transfer)
        });
    let (mut kinds, mut sample) = (std::collections::BTreeSet::new(), Value::Null);
    for (transaction, _) in transfers {
        let (hash, block) = (&transaction["hash"], &transaction["blockNumber"]);
        sample = result(hive, "debug_getRawTransaction", json!([hash]))?;
        let found = result(hive, "trace_rawTransaction", json!([sample, ["trace"], block]))?;
        let expected = result(hive, "trace_replayTransaction", json!([hash, ["trace"]]))?;
        ensure!(found["trace"] == expected["trace"] && list(&found["trace"]).len() == 1, "{found}, not {expected}");
        kinds.insert(transaction["type"].to_string());
    }
    ensure!(kinds.len() >= 3, "{kinds:?}");
    ensure!(result(hive, "trace_rawTransaction", json!([sample, ["stateDiff"]]))?["stateDiff"].is_object());
    for wrong in [json!([sample]), json!([sample, ["steps"]]), json!(["0x02", ["trace"]]), json!(["02", ["trace"]])] {
        let refused = call(hive, "trace_rawTransaction", wrong.clone())?;
        ensure!(refused["error"]["code"] == -32602, "{wrong}: {refused}");
    }
    Ok(())
}
