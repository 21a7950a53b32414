//! Transactions that run again: `debug_traceTransaction` and `trace_replayTransaction`, against what another
//! implementation of the EVM reported for all transactions of a chain with every fork.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::{call, result};
use crate::chains::{chain, dump, quantity};
use crate::env;

/// What the other implementation reported for a transaction.
struct RecordedOutcome {
    hash: &'static str,
    fork: &'static Value,
    /// Calls, as geth tells them.
    calls: &'static Value,
    /// Changes, as geth and as Parity tell them.
    changes: &'static Value,
    parity: &'static Value,
    frames: &'static Value,
}

fn recorded_outcomes() -> Vec<RecordedOutcome> {
    let of_line = |line: &'static Value| {
        let list = |name: &str| line[name].as_array().into_iter().flatten();
        let all = list("traces").zip(list("txStateDiffs")).zip(list("parityTraces"));
        all.map(|((trace, changes), frames)| RecordedOutcome {
            hash: trace["txHash"].as_str().unwrap_or_default(),
            fork: &line["fork"],
            calls: &trace["result"],
            changes: &changes["prestateDiff"],
            parity: &changes["parity"],
            frames,
        })
    };
    chain("hive").lines.iter().flat_map(of_line).collect()
}

/// Accounts that say something: geth tells of one that was not there a balance of zero, and of one that stays empty
/// nothing.
pub(super) fn telling(changes: &Value) -> Value {
    let mut changes = changes.clone();
    for side in ["pre", "post"] {
        if let Some(accounts) = changes[side].as_object_mut() {
            accounts.retain(|_, account| *account != json!({}) && *account != json!({"balance": "0x0"}));
        }
    }
    changes
}

fn changes_of(hash: &str) -> Value {
    json!([hash, {"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}}])
}

#[test]
fn match_another_evm() -> anyhow::Result<()> {
    let hive = chain("hive");
    let (mut refused, mut compared) = (0, 0);
    for expected in recorded_outcomes() {
        let calls = call(hive, "debug_traceTransaction", json!([expected.hash, {"tracer": "callTracer"}]))?;
        if expected.fork == "constantinople" && calls["error"]["code"] == -32002 {
            // Constantinople without Petersburg: revm does not have these rules, which no public chain ran for long.
            refused += 1;
            continue;
        }
        ensure!(calls["result"] == *expected.calls, "{}: {calls}\nexpected {}", expected.hash, expected.calls);
        let changes = result(hive, "debug_traceTransaction", changes_of(expected.hash))?;
        ensure!(
            telling(&changes) == telling(expected.changes),
            "{}: {changes}\nexpected {}",
            expected.hash,
            expected.changes
        );
        let parity = result(hive, "trace_replayTransaction", json!([expected.hash, ["stateDiff"]]))?;
        ensure!(parity["stateDiff"] == *expected.parity, "{}: {parity}\nexpected {}", expected.hash, expected.parity);
        ensure!(parity["trace"] == json!([]) && parity["vmTrace"].is_null(), "{parity}");
        compared += 1;
    }
    ensure!((compared, refused) == (239, 10), "{compared} compared, {refused} refused");
    Ok(())
}

/// What code could read before a transaction; a step of it; and its frames.
#[test]
fn tell_state_before_steps_and_frames() -> anyhow::Result<()> {
    let hive = chain("hive");
    let mut steps = 0;
    for expected in recorded_outcomes().iter().filter(|expected| expected.fork != "constantinople").step_by(11) {
        let before = result(hive, "debug_traceTransaction", json!([expected.hash, {"tracer": "prestateTracer"}]))?;
        for (address, account) in expected.changes["pre"].as_object().context("accounts")? {
            let found = &before[address.as_str()];
            ensure!(
                found["balance"] == account["balance"] || account["balance"].is_null(),
                "{address}: {found}, {account}"
            );
            for (slot, value) in account["storage"].as_object().into_iter().flatten() {
                ensure!(found["storage"][slot.as_str()] == *value, "{address}: {found}, expected {account}");
            }
        }
        let all = result(hive, "trace_replayTransaction", json!([expected.hash, ["vmTrace", "trace"]]))?;
        let frames = all["trace"].as_array().context("frames")?;
        ensure!(frames.len() == expected.frames.as_array().map_or(0, Vec::len), "{all}");
        for (frame, expected) in frames.iter().zip(expected.frames.as_array().into_iter().flatten()) {
            for member in ["from", "to", "value", "init", "input"] {
                ensure!(
                    frame["action"][member] == expected["action"][member],
                    "{member}: {frame}, expected {expected}"
                );
            }
        }
        ensure!(all["stateDiff"].is_null() && all["vmTrace"]["ops"].is_array(), "{all}");
        steps += all["vmTrace"]["ops"].as_array().map_or(0, Vec::len);
    }
    ensure!(steps > 100, "only {steps} steps");
    Ok(())
}

#[test]
fn are_refused_where_they_cannot_run() -> anyhow::Result<()> {
    let hive = chain("hive");
    let hash = recorded_outcomes()[0].hash;
    for (method, params, code) in [
        ("debug_traceTransaction", json!([hash, {"tracer": "muxTracer"}]), -32602),
        ("debug_traceTransaction", json!([hash, {"enableMemory": 1}]), -32602),
        ("debug_traceTransaction", json!([hash, []]), -32602),
        ("debug_traceTransaction", json!([format!("0x{}", "12".repeat(32)), {"tracer": "none"}]), -32000),
        ("debug_traceTransaction", json!([hash, {"tracer": "{step: function() {}}"}]), -32602),
        ("debug_traceTransaction", json!([hash, {"tracer": "callTracer", "tracerConfig": {"withLog": 1}}]), -32602),
        ("debug_traceTransaction", json!(["0x12", {"tracer": "callTracer"}]), -32602),
        ("debug_traceTransaction", json!([format!("0x{}", "12".repeat(32)), {"tracer": "callTracer"}]), -32000),
        ("trace_replayTransaction", json!([hash, ["steps"]]), -32602),
        ("trace_replayTransaction", json!([hash]), -32602),
    ] {
        let answer = call(hive, method, params.clone())?;
        ensure!(answer["error"]["code"] == code, "{method} {params}: {answer}");
    }
    let unknown = json!([format!("0x{}", "12".repeat(32)), ["stateDiff"]]);
    ensure!(result(hive, "trace_replayTransaction", unknown)?.is_null());
    let dev = chain("devchain");
    let transaction = &dev.lines.iter().find_map(|line| line["block"]["transactions"].get(0)).context("one")?["hash"];
    let answer = call(dev, "trace_replayTransaction", json!([transaction, ["stateDiff"]]))?;
    ensure!(answer["error"]["code"] == -32002 && answer["error"]["data"]["missing"].is_array(), "{answer}");
    Ok(())
}

/// Programs in Go that send geth's own types write the names of options in capitals; what would change a trace and is
/// not served is refused.
#[test]
fn options_are_read_in_any_case_of_letters_and_none_is_passed_over() -> anyhow::Result<()> {
    let hive = chain("hive");
    let hash = &recorded_outcomes()[0].hash;
    let traced = |options: Value| call(hive, "debug_traceTransaction", json!([hash, options]));
    for (one, other) in [
        (json!({"tracer": "callTracer"}), json!({"Tracer": "callTracer", "Timeout": null, "TracerConfig": null})),
        (
            json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true, "includeEmpty": false}}),
            json!({"Tracer": "prestateTracer", "TracerConfig": {"DiffMode": true}, "Overrides": null}),
        ),
        (json!({"enableMemory": true, "disableStack": true}), json!({"EnableMemory": true, "DisableStack": true})),
    ] {
        let (found, again) = (traced(one.clone())?, traced(other.clone())?);
        ensure!(found["result"].is_object() && found["result"] == again["result"], "{one}: {found}\n{other}: {again}");
    }
    ensure!(traced(json!({"Tracer": "callTracer"}))?["result"]["type"].is_string(), "call frames are expected");
    for options in [
        json!({"overrides": {"shanghaiTime": 1}}),
        json!({"Tracer": "prestateTracer", "TracerConfig": {"IncludeEmpty": true}}),
    ] {
        let refused = traced(options.clone())?;
        ensure!(refused["error"]["code"] == -32602, "{options}: {refused}");
    }
    let to = format!("0x{}", "12".repeat(20));
    let from = format!("0x{}", "34".repeat(20));
    let rich = json!({from.clone(): {"balance": "0x64"}});
    for name in ["stateOverrides", "StateOverrides"] {
        let options = json!({"Tracer": "callTracer", name: rich});
        let params = json!([{"from": from, "to": to, "value": "0x64"}, "latest", options]);
        let answer = call(hive, "debug_traceCall", params)?;
        ensure!(answer["result"].is_object() && answer["result"].get("error").is_none(), "{name}: {answer}");
    }
    Ok(())
}

/// A receipt that differs from the EVM is reported, not passed over.
#[test]
fn are_refused_where_gas_differs() -> anyhow::Result<()> {
    let database = "replays_gas";
    let _database = env::migrate(database)?;
    let genesis = xtask::workspace::fixture("hive/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("hive"), "--to", "4", "--genesis", &genesis]), 0)?;
    let outcomes = recorded_outcomes();
    let hash = outcomes[0].hash;
    let api = env::start_api(database, &["--settled-cache-size", "0"])?;
    let trace = || {
        let params = json!([hash, {"tracer": "callTracer"}]);
        http::rpc(&http::agent(), &format!("{}/rpc", api.url), "debug_traceTransaction", &params)
    };
    ensure!(trace()?["result"] == *outcomes[0].calls);
    let change =
        "ALTER TABLE transactions UPDATE gas_used = gas_used + 1 WHERE block_number = 1 SETTINGS mutations_sync = 2";
    env::sql(database, change)?;
    let answer = trace()?;
    let text = answer["error"]["message"].as_str().unwrap_or_default();
    ensure!(answer["error"]["code"] == -32000 && text.contains("it is not traced"), "{answer}");
    api.stop()?;
    Ok(())
}

/// Also of transactions after others with logs.
#[test]
fn number_logs_as_receipts_do() -> anyhow::Result<()> {
    let (hive, options) = (chain("hive"), json!({"tracer": "callTracer", "tracerConfig": {"withLog": true}}));
    let mut later = 0;
    for line in hive.lines.iter().filter(|line| line["fork"] != "constantinople").step_by(3) {
        for receipt in line["receipts"].as_array().into_iter().flatten() {
            let logs = receipt["logs"].as_array().map_or(&[][..], Vec::as_slice);
            if logs.is_empty() || logs.len() > 50 {
                continue;
            }
            let trace = result(hive, "debug_traceTransaction", json!([receipt["transactionHash"], options]))?;
            let found = logs_of(&trace);
            ensure!(found.len() == logs.len(), "{trace}");
            for (found, log) in found.iter().zip(logs) {
                ensure!(found["index"] == log["logIndex"] && found["data"] == log["data"], "{found} not {log}");
                later += usize::from(log["transactionIndex"] != "0x0");
            }
        }
    }
    ensure!(later > 10, "{later} logs of later transactions");
    Ok(())
}

#[test]
fn number_no_log_that_was_undone() -> anyhow::Result<()> {
    let (caller, logger) = (format!("0x{}", "c1".repeat(20)), format!("0x{}", "c2".repeat(20)));
    // The logger writes a log and reverts; the caller calls it, then writes a log itself, and may revert, too.
    let calls = format!("0x60006000600060006000 73{} 5af150 60006000a0", "c2".repeat(20)).replace(' ', "");
    // Without the calls of a frame, none of them comes before a log.
    for (ending, has_calls, expected) in [
        ("00", true, json!([["0x0", "0x1"]])),
        ("00", false, json!([["0x0", "0x0"]])),
        ("60006000fd", true, json!([])),
        ("60006000fd", false, json!([])),
    ] {
        let code = format!("{calls}{ending}");
        let overrides = json!({&caller: {"code": code}, &logger: {"code": "0x60006000a060006000fd"}});
        let config = json!({"withLog": true, "onlyTopCall": !has_calls});
        let options = json!({"tracer": "callTracer", "tracerConfig": config, "stateOverrides": overrides});
        let trace = result(chain("hive"), "debug_traceCall", json!([{"to": caller}, "latest", options]))?;
        ensure!(!has_calls || trace["calls"][0]["error"] == "execution reverted", "{trace}");
        let found: Vec<Value> = logs_of(&trace).iter().map(|log| json!([log["index"], log["position"]])).collect();
        ensure!(json!(found) == expected, "{ending}: {trace}");
    }
    Ok(())
}

/// Since EIP-6780 such a destruction changes nothing; geth and Parity tell of it, with what the contract holds.
#[test]
fn name_contracts_that_give_to_themselves() -> anyhow::Result<()> {
    let [holder, destroyer, other] = ["c1", "c2", "c3"].map(|byte| format!("0x{}", byte.repeat(20)));
    // The holder calls another contract, then runs the code of the destroyer as its own: ADDRESS SELFDESTRUCT.
    let code = format!("0x60006000600060006000 73{} 5af150 6000600060006000 73{} 5af400", &other[2..], &destroyer[2..]);
    let overrides = json!({
        &holder: {"code": code.replace(' ', ""), "balance": "0x7"}, &destroyer: {"code": "0x30ff"}, &other: {"code": "0x00"}
    });
    let traced = |tracer: &str| {
        let options = json!({"tracer": tracer, "stateOverrides": overrides});
        result(chain("hive"), "debug_traceCall", json!([{"to": holder}, "latest", options]))
    };
    let calls = traced("callTracer")?;
    let destruction = json!({
        "type": "SELFDESTRUCT", "from": holder, "to": holder, "value": "0x7", "gas": "0x0", "gasUsed": "0x0", "input": "0x"
    });
    ensure!(calls["calls"][1]["type"] == "DELEGATECALL", "{calls}");
    ensure!(calls["calls"][1]["calls"] == json!([destruction]), "{calls}");
    let flat = traced("flatCallTracer")?;
    let action = json!({"address": holder, "refundAddress": holder, "balance": "0x7"});
    ensure!(flat[3]["type"] == "suicide" && flat[3]["action"] == action, "{flat}");
    Ok(())
}

/// The logs of a frame and of those within, by index.
fn logs_of(frame: &Value) -> Vec<&Value> {
    let mut logs: Vec<&Value> = frame["logs"].as_array().into_iter().flatten().collect();
    logs.extend(frame["calls"].as_array().into_iter().flatten().flat_map(logs_of));
    logs.sort_by_key(|log| quantity(&log["index"]));
    logs
}
