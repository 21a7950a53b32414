//! Checks a node: its chain, the age of its newest block, its data of old blocks, and its latency.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use trawl_node::{NodeClient, NodeError, NodeSettings, RetryPolicy};

use super::{Finding, StoredChain};

/// How long one answer may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// With an older head, the chain is halted or the node is still syncing.
const OLD_HEAD: Duration = Duration::from_secs(300);
/// A slower node slows a load down.
const SLOW_ANSWER: Duration = Duration::from_millis(1500);

/// Further behind, `follow` is not running, or it does not keep up.
const LONG_LAG: u64 = 64;

/// Examines the node at `url`, which should be of the chain in `stored`.
///
/// # Errors
///
/// If the address cannot be used.
pub async fn examine_node(url: &str, stored: StoredChain) -> Result<Vec<Finding>, NodeError> {
    let retry = RetryPolicy::OncePerNode { set_aside: Duration::ZERO };
    let client = NodeClient::new(&[url.to_owned()], NodeSettings { timeout: TIMEOUT, concurrency: 4, retry })?;
    let mut findings = Vec::new();
    match client.chain_id().await {
        Err(error) => {
            let advice = "start the node with its HTTP interface, or give another --rpc-url";
            findings.push(Finding::wrong("node", error.to_string(), advice));
            return Ok(findings);
        }
        Ok(found) => findings.push(chain(found, stored.chain_id)),
    }
    let started = Instant::now();
    let newest = call(&client, "eth_getBlockByNumber", json!(["latest", false])).await;
    findings.push(speed(started.elapsed()));
    let height = newest.as_ref().ok().and_then(|block| quantity(&block["number"]));
    findings.push(head(&newest, height));
    findings.extend(height.zip(stored.head).map(|(height, stored)| lag(height, stored)));
    for (subject, what) in
        [("history", BlockData::Receipts), ("traces", BlockData::Traces), ("state", BlockData::State)]
    {
        let new = has(&client, what, height.unwrap_or(1)).await;
        let old = has(&client, what, 1).await;
        findings.push(part(subject, what, [new, old]));
    }
    Ok(findings)
}

/// Data that loads need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockData {
    Receipts,
    Traces,
    State,
}

impl BlockData {
    /// Calls, one of which suffices.
    fn calls(self, block: u64) -> Vec<(&'static str, Value)> {
        let block = format!("{block:#x}");
        let traced = |tracer: Value| ("debug_traceBlockByNumber", json!([block, tracer]));
        match self {
            Self::Receipts => vec![("eth_getBlockReceipts", json!([block]))],
            Self::Traces => vec![("trace_block", json!([block])), traced(json!({"tracer": "callTracer"}))],
            Self::State => vec![
                traced(json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}})),
                ("trace_replayBlockTransactions", json!([block, ["stateDiff"]])),
            ],
        }
    }

    /// What blocks lack without it.
    fn without(self) -> &'static str {
        match self {
            Self::Receipts => "receipts are requested one by one, or old blocks cannot be loaded: use an archive node",
            Self::Traces => "internal transactions are recorded as missing: use a node with `trace_block` or `debug_`",
            Self::State => "balances and calls are recorded as missing: use a node with `debug_` or `trace_`",
        }
    }
}

fn chain(found: u64, expected: Option<u64>) -> Finding {
    match expected {
        Some(expected) if expected != found => Finding::wrong(
            "chain",
            format!("the node is of chain {found} and the database of chain {expected}"),
            "give a node of the same chain, or another --clickhouse-database",
        ),
        _ => Finding::fine("chain", format!("{found}")),
    }
}

fn speed(took: Duration) -> Finding {
    let found = format!("a header took {} ms", took.as_millis());
    if took <= SLOW_ANSWER {
        return Finding::fine("speed", found);
    }
    Finding::warning("speed", found, "use a node closer to this machine, or a less busy one")
}

fn head(newest: &Result<Value, String>, height: Option<u64>) -> Finding {
    let (Ok(block), Some(height)) = (newest, height) else {
        let cause = newest.as_ref().err().cloned().unwrap_or_else(|| "it has no number".into());
        return Finding::wrong("head", format!("no newest block: {cause}"), "wait until the node has synchronized");
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let age = quantity(&block["timestamp"]).map_or(now, |time| now.saturating_sub(Duration::from_secs(time)));
    let found = format!("block {height}, {} s old", age.as_secs());
    if age <= OLD_HEAD {
        return Finding::fine("head", found);
    }
    Finding::warning("head", found, "wait until the node has synchronized, unless the chain is idle")
}

fn lag(height: u64, stored: u64) -> Finding {
    let lag = height.saturating_sub(stored);
    let found = format!("the database is {lag} blocks behind the node");
    if lag <= LONG_LAG {
        return Finding::fine("lag", found);
    }
    Finding::warning("lag", found, "check that `trawl-ingest follow` is running, and see `trawl-ingest status`")
}

fn part(subject: &'static str, data: BlockData, [new, old]: [Result<(), String>; 2]) -> Finding {
    match (new, old) {
        (Ok(()), Ok(())) => Finding::fine(subject, "for new and old blocks"),
        (Ok(()), Err(cause)) => Finding::warning(subject, format!("not for block 1: {cause}"), data.without()),
        (Err(cause), _) => Finding::warning(subject, format!("not for the newest block: {cause}"), data.without()),
    }
}

/// Whether the node has the data; the error of the last refusal.
async fn has(client: &NodeClient, data: BlockData, block: u64) -> Result<(), String> {
    let mut refused = String::new();
    for (method, params) in data.calls(block) {
        match call(client, method, params).await {
            Ok(Value::Null) => refused = format!("{method} answers null"),
            Ok(_) => return Ok(()),
            Err(cause) => refused = format!("{method}: {cause}"),
        }
    }
    Err(refused)
}

async fn call(client: &NodeClient, method: &'static str, params: Value) -> Result<Value, String> {
    let calls = [(method, params)];
    let answered = client.retry(method, || client.batch(&calls)).await;
    let mut answers = answered.map_err(|error| error.to_string())?;
    match answers.pop() {
        Some(Ok(value)) => serde_json::from_str(value.get()).map_err(|error| error.to_string()),
        Some(Err(error)) => Err(error.message),
        None => Err("no answer".into()),
    }
}

fn quantity(value: &Value) -> Option<u64> {
    u64::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}
