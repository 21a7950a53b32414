//! The questions of the golden cases of a chain, and of JSON-RPC beside them.

use std::fs;

use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::{http, workspace};

/// A question: a path, or a JSON-RPC method with its parameters.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Path(String),
    Call(&'static str, Value),
}

/// An answer, as far as it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Status and body.
    Rest(u16, String),
    /// The envelope, with `result` or `error`.
    Rpc(Value),
    /// None: nobody listened.
    Nothing,
}

impl Answer {
    /// Whether it says that there is no answer.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Rest(status, _) => *status >= 400,
            Self::Rpc(envelope) => envelope.get("error").is_some(),
            Self::Nothing => true,
        }
    }
}

/// The questions about the dev chain.
pub(crate) fn questions() -> anyhow::Result<Vec<Question>> {
    let mut questions = paths()?;
    let lines = crate::chains::lines("devchain")?;
    for line in lines.iter().step_by(6) {
        let block = &line["block"];
        questions.push(Question::Call("eth_getBlockByNumber", json!([block["number"], true])));
        questions.push(Question::Call("eth_getBlockByHash", json!([block["hash"], false])));
        questions.push(Question::Call("eth_getBlockReceipts", json!([block["number"]])));
        questions.push(Question::Call("eth_getLogs", json!([{"blockHash": block["hash"]}])));
        questions.push(Question::Call("eth_getBalance", json!([block["miner"], block["number"]])));
        if let Some(transaction) = block["transactions"].get(0) {
            questions.push(Question::Call("eth_getTransactionByHash", json!([transaction["hash"]])));
            questions.push(Question::Call("eth_getTransactionReceipt", json!([transaction["hash"]])));
            questions.push(Question::Call("eth_getTransactionCount", json!([transaction["from"], "latest"])));
            questions.push(Question::Call("eth_getBalance", json!([transaction["from"], "latest"])));
            questions.push(Question::Call("eth_getCode", json!([transaction["to"], "latest"])));
            questions.push(Question::Call("trace_transaction", json!([transaction["hash"]])));
        }
    }
    let receipts = lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    let log = receipts.flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten()).next();
    let log = log.context("a log")?;
    for filter in [json!({}), json!({"address": log["address"]}), json!({"topics": [log["topics"][0]]})] {
        let mut filter = filter;
        filter["fromBlock"] = json!("0x0");
        filter["toBlock"] = json!("latest");
        questions.push(Question::Call("eth_getLogs", json!([filter])));
    }
    for method in ["eth_blockNumber", "eth_chainId", "eth_gasPrice"] {
        questions.push(Question::Call(method, json!([])));
    }
    questions.push(Question::Call("eth_feeHistory", json!(["0x14", "latest", [50]])));
    questions.extend(
        ["logs", "transactions", "token-transfers", "internal-transactions"]
            .map(|what| Question::Path(format!("/api/v2/{what}?fromBlock=0&toBlock=91"))),
    );
    Ok(questions)
}

/// The paths of golden cases.
fn paths() -> anyhow::Result<Vec<Question>> {
    let mut paths = Vec::new();
    let folder = workspace::root().join("tests/cases");
    for endpoint in fs::read_dir(&folder)?.flatten().filter(|entry| entry.path().is_dir()) {
        for case in fs::read_dir(endpoint.path())?.flatten() {
            let Ok(request) = fs::read_to_string(case.path().join("request")) else { continue };
            if let ["devchain", _, path] = request.split_whitespace().collect::<Vec<_>>()[..] {
                paths.push(path.to_owned());
            }
        }
    }
    paths.sort();
    Ok(paths.into_iter().map(Question::Path).collect())
}

/// The answer of an API.
pub(crate) fn ask(api: &str, question: &Question) -> Answer {
    let agent = http::agent();
    let answer = match question {
        Question::Path(path) => {
            http::get(&agent, &format!("{api}{path}")).map(|answer| Answer::Rest(answer.status, answer.text()))
        }
        Question::Call(method, params) => {
            http::rpc(&agent, &format!("{api}/api/eth-rpc"), method, params).map(Answer::Rpc)
        }
    };
    answer.unwrap_or(Answer::Nothing)
}
