//! Reads of state and calls, drawn at random, against the node that made the scenario chain: the answers are the same.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use alloy_dyn_abi::{DynSolType, DynSolValue, Specifier as _};
use alloy_json_abi::{Function, JsonAbi};
use alloy_primitives::{Address, B256, I256, U256, keccak256};
use anyhow::{Context as _, bail, ensure};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use crate::chains::dump;
use crate::dice::Dice;
use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    vec![trial("rpc::state_and_calls_equal_the_node", state_and_calls)]
}

/// How many questions both are asked; more in the slow run.
const QUESTIONS: usize = 600;
const SLOW_QUESTIONS: usize = 10_000;
/// Questions in one message.
const BATCH: usize = 100;

/// The scenario's node; dropping it ends it.
struct Node {
    child: Child,
    url: String,
    abis: Vec<Function>,
    contracts: Vec<Address>,
    accounts: Vec<Address>,
    blocks: usize,
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut self.child);
    }
}

impl Node {
    fn start() -> anyhow::Result<Self> {
        let folder = workspace::fixture("devchain/node");
        tools::npm_ci(&folder)?;
        let out = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("node");
        command.arg("run.mjs").args(["--port", &port.to_string(), "--out"]).arg(out.path()).current_dir(&folder);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("node does not start")?;
        let stdout = child.stdout.take().context("its output")?;
        // It prints one line when the scenario is through.
        if BufReader::new(stdout.take(1 << 20)).lines().next().is_none() {
            bail!("the scenario ended early");
        }
        let read = |name: &str| Ok::<_, anyhow::Error>(std::fs::read_to_string(out.path().join(name))?);
        let expected: Value = serde_json::from_str(&read("expected.json")?)?;
        let abis: std::collections::BTreeMap<String, JsonAbi> = serde_json::from_str(&read("abis.json")?)?;
        let addresses = |values: Vec<&Value>| -> Vec<Address> {
            values.iter().filter_map(|value| value.as_str()?.parse().ok()).collect()
        };
        Ok(Self {
            child,
            url: format!("http://127.0.0.1:{port}"),
            abis: abis.into_values().flat_map(|abi| abi.functions.into_values().flatten()).collect(),
            contracts: addresses(expected["addresses"].as_object().context("addresses")?.values().collect()),
            accounts: addresses(expected["accounts"].as_array().context("accounts")?.iter().collect()),
            blocks: usize::try_from(expected["head"].as_u64().context("a head")?)? + 1,
        })
    }

    fn anyone(&self, dice: &mut Dice) -> Address {
        let from = if dice.roll(2) == 0 { &self.contracts } else { &self.accounts };
        *dice.pick(from)
    }

    /// A value for a parameter: often one that means something to these contracts.
    fn value(&self, kind: &DynSolType, dice: &mut Dice) -> DynSolValue {
        match kind {
            DynSolType::Address => DynSolValue::Address(self.anyone(dice)),
            DynSolType::Bool => DynSolValue::Bool(dice.roll(2) == 0),
            DynSolType::Uint(bits) => {
                let small = [0, 1, 2, 3, 5, 100, 1_000_000, 1_000_000_000_000_000_000_u64];
                let number = U256::from(*dice.pick(&small));
                DynSolValue::Uint(
                    if dice.roll(9) == 0 { U256::MAX >> (256 - bits) } else { number & (U256::MAX >> (256 - bits)) },
                    *bits,
                )
            }
            DynSolType::Int(bits) => DynSolValue::Int(I256::try_from(dice.roll(9) as u64).unwrap_or_default(), *bits),
            DynSolType::FixedBytes(size) => {
                let mut word = B256::ZERO;
                word[..4].copy_from_slice(&[0x01, 0xff, 0xc9, 0xa7]);
                DynSolValue::FixedBytes(word, *size)
            }
            DynSolType::Bytes => DynSolValue::Bytes(vec![7; dice.roll(70)]),
            DynSolType::String => DynSolValue::String("x".repeat(dice.roll(40))),
            DynSolType::Array(inner) => {
                DynSolValue::Array((0..dice.roll(4)).map(|_| self.value(inner, dice)).collect())
            }
            DynSolType::FixedArray(inner, size) => {
                DynSolValue::FixedArray((0..*size).map(|_| self.value(inner, dice)).collect())
            }
            DynSolType::Tuple(members) => {
                DynSolValue::Tuple(members.iter().map(|kind| self.value(kind, dice)).collect())
            }
            _ => DynSolValue::Bool(false),
        }
    }

    fn input(&self, dice: &mut Dice) -> anyhow::Result<String> {
        let function = dice.pick(&self.abis);
        let values: Vec<DynSolValue> = function
            .inputs
            .iter()
            .map(|input| Ok(self.value(&input.resolve()?, dice)))
            .collect::<anyhow::Result<_>>()?;
        let encoded = DynSolValue::Tuple(values).abi_encode_params();
        Ok(alloy_primitives::hex::encode_prefixed([function.selector().as_slice(), &encoded].concat()))
    }

    fn question(&self, dice: &mut Dice) -> anyhow::Result<(&'static str, Value)> {
        let block = format!("{:#x}", dice.roll(self.blocks));
        let account = self.anyone(dice);
        Ok(match dice.roll(20) {
            0..3 => ("eth_getBalance", json!([account, block])),
            3..5 => ("eth_getTransactionCount", json!([account, block])),
            5 => ("eth_getCode", json!([account, block])),
            6..9 => ("eth_getStorageAt", json!([dice.pick(&self.contracts), self.slot(dice), block])),
            kind => {
                let mut call = json!({"from": dice.pick(&self.accounts), "to": dice.pick(&self.contracts), "data": self.input(dice)?});
                if dice.roll(8) == 0 {
                    call["value"] = json!(dice.pick(&["0x1", "0x3b9aca00", "0xde0b6b3a7640000"]));
                }
                (if kind < 16 { "eth_call" } else { "eth_estimateGas" }, json!([call, block]))
            }
        })
    }

    /// One of the first slots, or what a mapping there holds for an account.
    fn slot(&self, dice: &mut Dice) -> String {
        let first = B256::from(U256::from(dice.roll(8)));
        if dice.roll(2) == 0 {
            return first.to_string();
        }
        keccak256([dice.pick(&self.accounts).into_word().as_slice(), first.as_slice()].concat()).to_string()
    }
}

fn answers(url: &str, questions: &[(&str, Value)]) -> anyhow::Result<Vec<Value>> {
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
    Ok(answers)
}

/// Results are the same; of errors, whether there is one, its code and its data, as each node has words of its own.
fn is_same(found: &Value, wanted: &Value) -> bool {
    match (found.get("result"), wanted.get("result")) {
        (Some(found), Some(wanted)) => found == wanted,
        (None, None) => ["code", "data"].iter().all(|key| found["error"][key] == wanted["error"][key]),
        _ => false,
    }
}

fn state_and_calls() -> anyhow::Result<()> {
    let node = Node::start()?;
    let database = "rpc_state";
    env::migrate(database)?;
    let genesis = workspace::fixture("devchain/genesis.json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--genesis", &genesis]), 0)?;
    let api = env::start_api(database, &[])?;
    let trawl = format!("{}/api/eth-rpc", api.url);
    let count = if env::is_slow_run() { SLOW_QUESTIONS } else { QUESTIONS };
    let mut dice = Dice(5);
    let (mut differing, mut succeeded) = (Vec::new(), 0);
    for _ in 0..count / BATCH {
        let questions: Vec<_> = (0..BATCH).map(|_| node.question(&mut dice)).collect::<anyhow::Result<_>>()?;
        let (found, wanted) = (answers(&trawl, &questions)?, answers(&node.url, &questions)?);
        ensure!(found.len() == BATCH && wanted.len() == BATCH);
        for ((question, found), wanted) in questions.iter().zip(&found).zip(&wanted) {
            succeeded += usize::from(wanted.get("result").is_some());
            if !is_same(found, wanted) {
                differing.push(format!("{question:?}: {found} instead of {wanted}"));
            }
        }
    }
    ensure!(
        differing.is_empty(),
        "{} of {count} differ: {:#?}",
        differing.len(),
        &differing[..differing.len().min(10)]
    );
    ensure!(succeeded > count / 2, "only {succeeded} questions have a result");
    Ok(())
}
