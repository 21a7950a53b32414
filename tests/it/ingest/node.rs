//! Ingest from a node: the replay node serves the recorded chains, with faults.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use xtask::{http, workspace};

use crate::chains::chain;
use crate::{env, trial};

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ["hive", "devchain"]
        .into_iter()
        .map(|name| {
            trial(format!("ingest::node::gives_the_same_rows_as_its_dump_{name}"), move || same_rows(name, &[], &[]))
        })
        .collect();
    let faults: [(&str, &[&str]); 6] = [
        ("without_block_receipts", &["--disable", "eth_getBlockReceipts"]),
        (
            "that_is_flaky",
            &["--fault", "http500=0.1", "--fault", "truncate=0.1", "--fault", "garbage=0.1", "--fault", "drop=0.1"],
        ),
        ("that_is_overloaded", &["--fault", "http429=0.1", "--fault", "busy=0.1", "--fault", "rpcerror=0.1"]),
        ("that_answers_null_at_first", &["--fault", "nullresult=0.2"]),
        ("that_shuffles_batches", &["--shuffle-batch"]),
        ("that_lags", &["--null-block-lag", "5", "--null-receipts-lag", "8", "--null-times", "2"]),
    ];
    for (name, flags) in faults {
        trials.push(trial(format!("ingest::node::{name}_gives_the_same_rows"), move || {
            same_rows("hive", flags, &["--concurrency", "4"])
        }));
    }
    trials.extend([
        trial("ingest::node::that_dies_leaves_what_is_committed", a_node_that_dies),
        trial("ingest::node::that_tampers_is_refused", a_node_that_tampers),
        trial("ingest::node::of_another_chain_is_refused", a_node_of_another_chain),
    ]);
    trials
}

/// A replay node; ended when dropped.
pub(super) struct Node {
    child: Child,
    pub(super) url: String,
}

impl Node {
    pub(super) fn start(chain: &str, flags: &[&str]) -> anyhow::Result<Self> {
        let mut command = Command::new("python3");
        command.arg(workspace::fixture("replaynode/replaynode.py")).arg("--data").arg(workspace::fixture(chain));
        let mut child =
            command.args(["--port", "0"]).args(flags).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("a pipe")?).read_line(&mut url)?;
        ensure!(url.starts_with("http://"), "the replay node said {url:?}");
        Ok(Self { child, url: url.trim().into() })
    }

    pub(super) fn control(&self, change: &Value) -> anyhow::Result<Value> {
        http::post(&http::agent(), &format!("{}/control", self.url), change.to_string().as_bytes())?.json()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the dump alone tells: a node does not say the total difficulty, nor the allocation. Its differences of state
/// leave out what happens outside of transactions: the values that follow from them are compared in `state`.
fn comparable(database: &str) -> anyhow::Result<Vec<String>> {
    let mut sums = Vec::new();
    for (table, _) in trawl::schema::BLOCK_TABLES {
        let columns = match table {
            "blocks" => "* EXCEPT total_difficulty",
            "balance_history"
            | "nonce_history"
            | "code_history"
            | "codes"
            | "storage_history"
            | "account_destructions"
            | "balance_credits"
            | "proxy_implementations" => continue,
            _ => "*",
        };
        let rows = if table == "contracts" { "contracts WHERE creation_type != 'genesis'" } else { table };
        sums.push(env::sql(database, &format!("SELECT '{table}', count(), sum(cityHash64({columns})) FROM {rows}"))?);
    }
    Ok(sums)
}

fn same_rows(name: &str, node: &[&str], flags: &[&str]) -> anyhow::Result<()> {
    let node = Node::start(name, node)?;
    let database = format!("node_{}", node.url.rsplit(':').next().unwrap_or_default());
    env::migrate(&database)?;
    env::run(env::ingest(&database, &[&["load", "--rpc-url", &node.url], flags].concat()), 0)?;
    let (found, wanted) = (comparable(&database)?, comparable(chain(name).name)?);
    ensure!(found == wanted, "{found:?}\ninstead of\n{wanted:?}");
    Ok(())
}

fn a_node_that_dies() -> anyhow::Result<()> {
    let node = Node::start("hive", &["--latency", "20"])?;
    let database = "node_that_dies";
    env::migrate(database)?;
    let mut command =
        env::ingest(database, &["load", "--rpc-url", &node.url, "--batch-blocks", "4", "--concurrency", "1"]);
    let child = command.stderr(Stdio::piped()).spawn()?;
    env::eventually(std::time::Duration::from_secs(30), || {
        Ok(env::sql(database, "SELECT sum(last_block - first_block + 1) >= 8 FROM ingest_commits")? == "1")
    })?;
    drop(node);
    let output = child.wait_with_output()?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(4) && text.contains("cannot be reached"), "{} {text}", output.status);
    let committed = env::sql(
        database,
        "SELECT sum(last_block - first_block + 1), (SELECT count() FROM blocks) FROM ingest_commits",
    )?;
    let (committed, rows) = committed.split_once('\t').context("two numbers")?;
    ensure!(committed == rows && committed.parse::<u64>()? >= 8, "{committed} committed, {rows} rows");
    let again = Node::start("hive", &[])?;
    env::run(env::ingest(database, &["load", "--rpc-url", &again.url]), 0)?;
    ensure!(comparable(database)? == comparable(chain("hive").name)?);
    Ok(())
}

fn a_node_that_tampers() -> anyhow::Result<()> {
    for (flags, check) in [
        (["--tamper-log", "31:0:0:remove"], "log index"),
        (["--tamper-gas", "31:0"], "cumulative gas"),
        (["--drop-tx", "31"], "number of receipts"),
    ] {
        let node = Node::start("hive", &flags)?;
        let database = format!("node_{}", node.url.rsplit(':').next().unwrap_or_default());
        env::migrate(&database)?;
        let output = env::ingest(&database, &["load", "--rpc-url", &node.url]).output()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.code() == Some(3) && text.contains("block 31 is refused") && text.contains(check),
            "{flags:?}: {} {text}",
            output.status
        );
        let head = env::sql(&database, "SELECT max(last_block) FROM ingest_commits")?;
        ensure!(head == "30", "{flags:?}: {head}");
    }
    Ok(())
}

fn a_node_of_another_chain() -> anyhow::Result<()> {
    let database = "node_other_chain";
    env::migrate(database)?;
    let node = Node::start("hive", &[])?;
    node.control(&json!({"head": 10}))?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    let other = Node::start("hive", &["--chain-id", "0x5"])?;
    let output = env::run(env::ingest(database, &["load", "--rpc-url", &other.url]), 3)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("the source's chain is 5 and the database holds chain 3503995874084926"), "{text}");
    Ok(())
}
