//! The leg of a development node: anvil, with a contract that emits many logs in each transaction.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};
use xtask::{http, tools, workspace};

use crate::{end, progress};

/// Emits `LOGS` Transfer events from the caller, with the counter as receiver and as data, in a loop: `PUSH2 LOGS;
/// JUMPDEST; DUP1 PUSH0 MSTORE; DUP1 CALLER PUSH32 Transfer PUSH1 32 PUSH0 LOG3; PUSH1 1 SWAP1 SUB; DUP1 PUSH1 3 JUMPI;
/// STOP`.
const EMITTER: &str =
    "0x6103e85b805f5280337fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef60205fa3600190038060035700";
/// Logs of a transaction: 03e8 above.
const LOGS: u64 = 1000;
/// Transactions, each in a block of its own.
const TRANSACTIONS: u64 = 100;
const CONTRACT: &str = "00000000000000000000000000000000000e3177";

/// A node with logs. Dropping it ends it.
pub struct Anvil {
    node: Child,
    /// Where it listens.
    pub url: String,
}

impl Anvil {
    /// Its contract's address, in hexadecimal digits.
    pub const CONTRACT: &str = CONTRACT;
    /// Logs of its contract.
    pub const LOGS: f64 = (LOGS * TRANSACTIONS) as f64;

    /// Installs anvil from the lock file of the scenario chain, starts it and lets it emit.
    pub fn start() -> anyhow::Result<Self> {
        let folder = workspace::fixture("devchain/node");
        tools::npm_ci(&folder)?;
        let program = folder.join("node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil");
        ensure!(program.exists(), "npm has anvil for Linux on x86-64 only");
        progress("making logs in anvil");
        let mut command = Command::new(program);
        command.args(["--port", "0", "--disable-block-gas-limit", "--no-request-size-limit"]);
        let mut node = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = node.stdout.take().context("a pipe")?;
        let (sender, urls) = mpsc::channel();
        // Goes on reading, so that the node does not get stuck.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(address) = line.strip_prefix("Listening on ") {
                    // After the timeout there is no receiver.
                    let _ = sender.send(format!("http://{address}"));
                }
            }
        });
        let url = urls.recv_timeout(Duration::from_secs(60));
        let anvil = Self { node, url: url.unwrap_or_default() };
        ensure!(!anvil.url.is_empty(), "anvil did not say where it listens");
        anvil.emit()?;
        Ok(anvil)
    }

    fn emit(&self) -> anyhow::Result<()> {
        let contract = format!("0x{CONTRACT}");
        self.call("anvil_setCode", &json!([contract, EMITTER]))?;
        let accounts = self.call("eth_accounts", &json!([]))?;
        for _ in 0..TRANSACTIONS {
            let transaction = json!({"from": accounts[0], "to": contract, "gas": "0x1000000"});
            self.call("eth_sendTransaction", &json!([transaction]))?;
        }
        let newest = self.call("eth_getBlockReceipts", &json!(["latest"]))?;
        let logs = newest[0]["logs"].as_array().map_or(0, Vec::len);
        ensure!(logs as u64 == LOGS, "a transaction emitted {logs} logs: {}", newest[0]["status"]);
        Ok(())
    }

    fn call(&self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        let mut answer = http::rpc(&http::agent(), &self.url, method, parameters)?;
        match answer.get("error") {
            None => Ok(answer["result"].take()),
            Some(error) => bail!("{method}: {error}"),
        }
    }

    /// The number of its last block.
    pub fn last_block(&self) -> u64 {
        TRANSACTIONS
    }
}

impl Drop for Anvil {
    fn drop(&mut self) {
        end(&mut self.node);
    }
}
