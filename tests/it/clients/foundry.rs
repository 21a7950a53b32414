//! foundry-block-explorers, with which cast and forge read explorers: its types take no answer that lacks a member or
//! has one of another kind.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use xtask::{process, workspace};

use crate::chains::{Chain, chain, dump};
use crate::env;
use crate::transactions::{busiest, node_transactions};

/// Where the client is compiled, once a machine: its packages take minutes of a core. Cargo goes by the times of files,
/// which say nothing where checkouts differ, so each content of its files has a folder of its own.
fn build_folder(client: &Path) -> anyhow::Result<PathBuf> {
    let mut hasher = Sha256::new();
    for file in ["Cargo.toml", "Cargo.lock", "src/main.rs"] {
        hasher.update(std::fs::read(client.join(file)).with_context(|| file)?);
    }
    let name: String = hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    Ok(workspace::cache("foundry-client").join(name))
}

/// What the client made of the answers to `questions`.
fn ask(api: &str, questions: &[String]) -> anyhow::Result<Vec<Value>> {
    let folder = workspace::root().join("tests/clients/foundry");
    let mut command = workspace::cargo();
    command.args(["run", "--quiet", "--locked", "--", api]).current_dir(&folder);
    command.env("CARGO_TARGET_DIR", workspace::target().join("foundry-client")).env_remove("RUSTC_BOOTSTRAP");
    command.env("CARGO_BUILD_BUILD_DIR", build_folder(&folder)?);
    let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = questions.join("\n");
    client.stdin.take().context("a pipe")?.write_all(input.as_bytes())?;
    let output = process::output_within(client, env::LONGEST)?;
    ensure!(output.status.success(), "{}", output.status);
    let text = String::from_utf8(output.stdout)?;
    let answers: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(answers.len() == questions.len(), "{} answers to {} questions", answers.len(), questions.len());
    Ok(answers)
}

/// An answer that is a list; what the client says of an empty one is no list.
fn rows(question: &str, answer: &Value) -> anyhow::Result<Vec<Value>> {
    let text = answer["error"].as_str().unwrap_or_default();
    let is_empty = text.contains(" found");
    ensure!(is_empty || answer.is_array(), "{question}: {answer}");
    Ok(answer.as_array().cloned().unwrap_or_default())
}

fn lists(chain: &Chain) -> anyhow::Result<usize> {
    let all = node_transactions(chain);
    let busiest = busiest(&all);
    let accounts: Vec<&String> =
        busiest.iter().step_by((busiest.len() / 12).max(1)).map(|(account, _)| account).collect();
    let actions = ["txlist", "txlistinternal", "tokentx", "tokennfttx", "token1155tx"];
    let questions: Vec<String> =
        accounts.iter().flat_map(|account| actions.map(|action| format!("{action} {account}"))).collect();
    let answers = ask(&chain.api, &questions)?;
    let mut count = 0;
    for (question, answer) in questions.iter().zip(&answers) {
        let rows = rows(question, answer)?;
        count += rows.len();
        if let Some(account) = question.strip_prefix("txlist ") {
            let due = all.values().filter(|tx| tx.participants("").contains(account));
            let due: Vec<&Value> = due.map(|tx| &tx.transaction["hash"]).collect();
            ensure!(rows.iter().map(|row| &row["hash"]).collect::<Vec<_>>() == due, "{question}: {answer}");
        }
    }
    Ok(count)
}

/// Lists of accounts on all chains: what the strict types take, with the hashes that the nodes reported.
pub fn reads_lists() -> anyhow::Result<()> {
    for name in ["hive", "devchain", "mainnet"] {
        let count = lists(chain(name)).with_context(|| name)?;
        ensure!(count > 50, "{name}: {count} rows");
    }
    Ok(())
}

/// Contracts, blocks by time, outcomes and balances.
pub fn reads_objects() -> anyhow::Result<()> {
    let database = "clients_foundry";
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain")]), 0)?;
    let file = workspace::fixture("labels/abis.json");
    env::run(env::ingest(database, &["labels", &file.display().to_string()]), 0)?;
    let api = env::start_api(database, &[])?;
    let loaded: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let contracts: Vec<&String> = loaded.as_object().context("contracts by address")?.keys().collect();
    let actions = ["getabi", "getsourcecode", "getcontractcreation"];
    let mut questions: Vec<String> =
        contracts.iter().flat_map(|contract| actions.map(|action| format!("{action} {contract}"))).collect();
    let all = node_transactions(chain("devchain"));
    let sent: Vec<(&Value, bool)> =
        all.values().map(|tx| (&tx.transaction["hash"], tx.receipt["status"] == "0x1")).collect();
    for (hash, _) in &sent {
        let hash = hash.as_str().unwrap_or_default();
        questions.extend(["gettxreceiptstatus", "getstatus"].map(|action| format!("{action} {hash}")));
    }
    let miners = chain("devchain").lines.iter().map(|line| line["block"]["miner"].as_str().unwrap_or_default());
    let newest = miners.clone().next_back().context("a block")?;
    let made = miners.filter(|miner| *miner == newest).count();
    questions.push(format!("getminedblocks {newest}"));
    questions.push("gasoracle now".into());
    questions.push("getblocknobytime 1700000300".into());
    questions.push(format!("getabi 0x{}", "12".repeat(20)));
    questions.push(format!("getsourcecode 0x{}", "12".repeat(20)));
    questions.push(format!("getcontractcreation 0x{}", "12".repeat(20)));
    let answers = ask(&api.url, &questions)?;
    api.stop()?;
    let (of_contracts, others) = answers.split_at(contracts.len() * actions.len());
    for (contract, answers) in contracts.iter().zip(of_contracts.chunks(actions.len())) {
        ensure!(answers[0].as_array().is_some_and(|abi| !abi.is_empty()), "{contract}: {}", answers[0]);
        ensure!(answers[1][0]["ContractName"] == loaded[*contract]["contractName"], "{contract}: {}", answers[1]);
        ensure!(answers[2]["txHash"].is_string(), "{contract}: {}", answers[2]);
    }
    for ((hash, is_success), answers) in sent.iter().zip(others.chunks(2)) {
        ensure!(answers.iter().all(|answer| answer.is_null() == *is_success), "{hash}: {answers:?}");
    }
    let blocks = &others[sent.len() * 2];
    ensure!(blocks.as_array().map(Vec::len) == Some(made), "{blocks}");
    ensure!(blocks[0]["blockReward"].as_str().is_some_and(|wei| !wei.is_empty()), "{blocks}");
    let last = &others[others.len() - 5..];
    ensure!(last[0].as_str().is_some_and(|oracle| oracle.contains("fast_gas_price")), "{}", last[0]);
    let last = &last[1..];
    ensure!(last[0]["block_number"].is_string(), "{}", last[0]);
    ensure!(last[1]["error"].as_str().is_some_and(|text| text.contains("not verified")), "{}", last[1]);
    ensure!(last[2]["error"].as_str().is_some_and(|text| text.contains("not verified")), "{}", last[2]);
    ensure!(last[3]["error"].as_str().is_some_and(|text| text.contains("not found")), "{}", last[3]);
    Ok(())
}
