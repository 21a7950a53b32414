//! The scenario chain alive: the node that made it, and Trawl over the same chain with all state that calls need.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use alloy_json_abi::{Function, JsonAbi};
use alloy_primitives::Address;
use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use crate::chains::dump;
use crate::env;

/// What all tests share; it ends with the test run.
pub struct Scenario {
    /// JSON-RPC of the node, anvil.
    pub node: String,
    /// `trawl-api` over the chain.
    pub api: String,
    /// Functions of its contracts.
    pub functions: Vec<Function>,
    /// Contracts that the script created.
    pub contracts: Vec<Address>,
    /// Accounts that the script sends from.
    pub accounts: Vec<Address>,
    /// What the scenario's script read from the node by calls.
    pub expected: Value,
    /// Its blocks, block 0 included.
    pub blocks: usize,
}

/// The database behind [`Scenario::api`].
pub const DATABASE: &str = "scenario_state";

/// Starts it, once.
pub fn scenario() -> &'static Scenario {
    static SCENARIO: OnceLock<Scenario> = OnceLock::new();
    SCENARIO.get_or_init(|| start().unwrap_or_else(|error| panic!("the scenario: {error:?}")))
}

impl Scenario {
    /// JSON-RPC of Trawl.
    pub fn trawl(&self) -> String {
        format!("{}/api/eth-rpc", self.api)
    }

    /// JSON-RPC of Trawl, as nodes answer.
    pub fn trawl_as_node(&self) -> String {
        format!("{}/rpc", self.api)
    }
}

fn start() -> anyhow::Result<Scenario> {
    let folder = workspace::fixture("devchain/node");
    tools::npm_ci(&folder)?;
    let out = env::directory()?;
    let port = env::free_port()?;
    let mut command = Command::new("node");
    command.arg("run.mjs").args(["--port", &port.to_string(), "--out"]).arg(out.path()).current_dir(&folder);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = process::spawn(command).context("node does not start")?;
    let stdout = child.stdout.take().context("its output")?;
    env::keep_child(child);
    // It prints one line when the scenario is through.
    if BufReader::new(stdout.take(1 << 20)).lines().next().is_none() {
        bail!("the scenario ended early");
    }
    let read = |name: &str| Ok::<_, anyhow::Error>(std::fs::read_to_string(out.path().join(name))?);
    let expected: Value = serde_json::from_str(&read("expected.json")?)?;
    let abis: BTreeMap<String, JsonAbi> = serde_json::from_str(&read("abis.json")?)?;
    let addresses = |values: Vec<&Value>| -> Vec<Address> {
        values.iter().filter_map(|value| value.as_str()?.parse().ok()).collect()
    };
    env::create_tables(DATABASE)?;
    let genesis = workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(DATABASE, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    Ok(Scenario {
        node: format!("http://127.0.0.1:{port}"),
        api: env::start_shared_api(DATABASE)?,
        functions: abis.into_values().flat_map(|abi| abi.functions.into_values().flatten()).collect(),
        contracts: addresses(expected["addresses"].as_object().context("addresses")?.values().collect()),
        accounts: addresses(expected["accounts"].as_array().context("accounts")?.iter().collect()),
        blocks: usize::try_from(expected["head"].as_u64().context("a head")?)? + 1,
        expected,
    })
}

/// What one server answers to a batch, in the order of the questions.
pub fn answers(url: &str, questions: &[(&str, Value)]) -> anyhow::Result<Vec<Value>> {
    let message: Vec<Value> = questions
        .iter()
        .enumerate()
        .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
        .collect();
    let request = http::agent().post(url).header("content-type", "application/json");
    let answer: Value =
        request.send(json!(message).to_string())?.body_mut().with_config().limit(u64::MAX).read_json()?;
    let mut answers = answer.as_array().with_context(|| answer.to_string())?.clone();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    ensure!(answers.len() == questions.len(), "{} answers to {} questions", answers.len(), questions.len());
    Ok(answers)
}
