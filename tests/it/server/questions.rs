//! Requests to a chain over shards: every path of the API's description, Etherscan's actions, JSON-RPC and
//! Otterscan's methods.

use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::workspace;

use super::cluster::Cluster;
use crate::damage::questions::{self, Answer, Question};
use crate::env;

/// The answer of an API, without the time at which a load decided on a block: two loads of the same blocks differ in it
/// alone.
pub fn ask(api: &str, question: &Question) -> Answer {
    match questions::ask(api, question) {
        Answer::Rest(status, body) if body.contains(DECIDED_AT) => {
            let cut = |(index, part): (usize, &str)| match (index, part.split_once('"')) {
                (1.., Some((_, rest))) => rest.to_owned(),
                _ => part.to_owned(),
            };
            Answer::Rest(status, body.split(DECIDED_AT).enumerate().map(cut).collect())
        }
        answer => answer,
    }
}

const DECIDED_AT: &str = r#""decided_at":""#;

/// What paths and calls are about.
struct Subjects {
    addresses: Vec<String>,
    transactions: Vec<String>,
    blocks: Vec<String>,
    token_ids: Vec<String>,
}

impl Subjects {
    /// Some of everything in a database.
    fn of(url: &str, database: &str) -> anyhow::Result<Self> {
        let lines = |sql: &str| anyhow::Ok(env::sql_at(url, database, sql)?.lines().map(str::to_owned).collect());
        let hex = |column: &str| format!("SELECT DISTINCT '0x' || lower(hex({column})) AS value");
        let senders = format!(
            "{} FROM transactions_by_address GROUP BY address ORDER BY count() DESC, value LIMIT {}",
            hex("address"),
            env::amount(1, 4)
        );
        let tokens = format!(
            "{} FROM token_transfers GROUP BY token_address, token_type ORDER BY token_type, value LIMIT {} BY token_type",
            hex("token_address"),
            env::amount(1, 4)
        );
        let addresses: Vec<Vec<String>> =
            vec![lines(&senders)?, lines(&tokens)?, vec![format!("0x{}", "12".repeat(20))]];
        Ok(Self {
            addresses: addresses.concat(),
            transactions: lines(&format!(
                "{} FROM transactions ORDER BY logs_count DESC, value LIMIT {}",
                hex("hash"),
                env::amount(4, 5)
            ))?,
            blocks: lines(&format!("{} FROM blocks ORDER BY cityHash64(hash) LIMIT 2", hex("hash")))?,
            token_ids: lines(
                "SELECT DISTINCT toString(token_id) FROM token_transfers WHERE token_id IS NOT NULL ORDER BY 1 LIMIT 1",
            )?,
        })
    }

    /// A path for each value of what a template names.
    fn paths(&self, template: &str) -> Vec<String> {
        let parameters = [
            ("{address_hash}", &self.addresses),
            ("{transaction_hash}", &self.transactions),
            ("{block_number_or_hash}", &self.blocks),
            ("{token_id}", &self.token_ids),
            ("{name}", &vec!["newTxns".to_owned()]),
        ];
        parameters.iter().fold(vec![template.to_owned()], |paths, (name, values)| {
            let with = |path: String| match path.contains(name) {
                true => values.iter().map(|value| path.replace(name, value)).collect(),
                false => vec![path],
            };
            paths.into_iter().flat_map(with).collect()
        })
    }
}

/// All questions about the chain of a database.
pub fn questions(cluster: &Cluster) -> anyhow::Result<Vec<Question>> {
    let (url, database) = (&cluster.nodes[0].url, Cluster::SINGLE);
    let subjects = Subjects::of(url, database)?;
    let description = std::fs::read_to_string(workspace::root().join("docs/reference/openapi.yaml"))?;
    let templates = description.lines().filter_map(|line| line.strip_prefix("  /")?.strip_suffix(':'));
    // Figures of the process and of the servers, its own address, and refusals with the id of their request.
    let is_own = |template: &&str| {
        [
            "metrics",
            "api/v2/config/json-rpc-url",
            "api/v2/stats/storage",
            "v2/chainlist",
            "sourcify/v2/contract/{chain_id}/{address}",
        ]
        .contains(template)
    };
    let templates = templates.filter(|template| !is_own(template));
    let mut paths: Vec<String> = templates.flat_map(|template| subjects.paths(&format!("/{template}"))).collect();
    for address in &subjects.addresses {
        paths.extend(of_etherscan(address));
        paths.extend(
            ["fromAddress", "toAddress", "address"]
                .map(|side| format!("/api/v2/scan/transactions?{side}={address}&fromBlock=0")),
        );
        paths.push(format!("/api/v2/scan/logs?address={address}&fromBlock=0"));
        paths.push(format!("/api/v2/search?q={address}"));
        paths.push(format!("/api/v2/addresses/{address}/transactions?sort=value"));
    }
    for hash in &subjects.transactions {
        paths.push(format!("/api/v2/search?q={hash}"));
        paths.push(format!("/api?module=transaction&action=gettxinfo&txhash={hash}"));
        paths.push(format!("/api?module=account&action=txlistinternal&txhash={hash}"));
    }
    paths.extend(["a", "token", "weth"].map(|text| format!("/api/v2/tokens?q={text}")));
    paths.extend(["block", "uncle", "reorg"].map(|kind| format!("/api/v2/blocks?type={kind}")));
    let mut questions: Vec<Question> = paths.into_iter().map(Question::Path).collect();
    questions.extend(calls(&subjects)?);
    Ok(questions)
}

/// Whether a question belongs to this third of the ordinary run. All questions of a kind (a method, or a path without its
/// hashes and numbers) are in one third, so that the thirds of several chains together have every kind.
pub fn is_of_third(question: &Question, third: usize) -> bool {
    let is_word = |part: &&str| !part.is_empty() && !part.bytes().any(|byte| byte.is_ascii_digit());
    let kind: String = match question {
        Question::Path(path) => path.split(['/', '?', '&', '=']).filter(is_word).collect(),
        Question::Call(method, _) => (*method).into(),
    };
    env::is_slow_run() || kind.bytes().map(usize::from).sum::<usize>() % 3 == third
}

fn of_etherscan(address: &str) -> Vec<String> {
    let account =
        ["txlist", "txlistinternal", "tokentx", "tokennfttx", "token1155tx", "getminedblocks", "balance", "tokenlist"];
    let other = [
        "module=contract&action=getabi",
        "module=contract&action=getsourcecode",
        "module=logs&action=getLogs&fromBlock=0&toBlock=latest",
    ];
    let token = ["getToken", "getTokenHolders", "tokensupply"];
    let path = |rest: String| format!("/api?{rest}");
    let account = account.map(|action| path(format!("module=account&action={action}&address={address}")));
    let other = other.map(|rest| path(format!("{rest}&address={address}")));
    let token = token.map(|action| path(format!("module=token&action={action}&contractaddress={address}")));
    [account.to_vec(), other.to_vec(), token.to_vec()].concat()
}

/// As many topics as a filter may have, each as long in a statement's form as a hash can be, and `Transfer` among
/// them. That is some fifty bytes less than a server's `http_max_field_value_size`.
pub fn most_topics() -> Question {
    let value =
        |number: u16| format!("0x{}{:02x}{:02x}", "fe".repeat(30), 0x80 | (number >> 7), 0x80 | (number & 0x7f));
    let mut topics: Vec<String> = (0..999).map(value).collect();
    topics.push("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef".to_owned());
    Question::Call("eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "latest", "topics": [topics]}]))
}

fn calls(subjects: &Subjects) -> anyhow::Result<Vec<Question>> {
    let mut calls: Vec<(&'static str, Value)> = Vec::new();
    for address in &subjects.addresses {
        for method in ["eth_getBalance", "eth_getCode", "eth_getTransactionCount", "ots_hasCode"] {
            calls.push((method, json!([address, "latest"])));
        }
        calls.push(("eth_getStorageAt", json!([address, "0x0", "latest"])));
        calls.push(("eth_call", json!([{"to": address, "data": "0x18160ddd"}, "latest"])));
        calls.push(("ots_getContractCreator", json!([address])));
        calls.push(("ots_searchTransactionsBefore", json!([address, 0, 5])));
        calls.push(("ots_searchTransactionsAfter", json!([address, 0, 5])));
        calls.push(("ots_getTransactionBySenderAndNonce", json!([address, 1])));
        calls.push(("trace_filter", json!([{"fromBlock": "0x0", "toBlock": "latest", "fromAddress": [address]}])));
        for topic in 1..=2 {
            let mut topics = vec![Value::Null; topic];
            topics.push(json!(format!("0x{:0>64}", address.strip_prefix("0x").context("an address")?)));
            calls.push(("eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "latest", "topics": topics}])));
        }
    }
    for hash in &subjects.transactions {
        for method in [
            "eth_getTransactionByHash",
            "eth_getTransactionReceipt",
            "trace_transaction",
            "ots_traceTransaction",
            "ots_getInternalOperations",
        ] {
            calls.push((method, json!([hash])));
        }
        calls.push(("debug_traceTransaction", json!([hash, {"tracer": "callTracer"}])));
    }
    for hash in &subjects.blocks {
        calls.push(("eth_getBlockByHash", json!([hash, true])));
        calls.push(("eth_getLogs", json!([{"blockHash": hash}])));
        calls.push(("ots_getBlockDetailsByHash", json!([hash])));
        calls.push(("debug_getRawReceipts", json!([hash])));
    }
    calls.push(("eth_feeHistory", json!(["0x14", "latest", [50]])));
    Ok(calls.into_iter().map(|(method, params)| Question::Call(method, params)).collect())
}
