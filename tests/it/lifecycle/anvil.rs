//! A node whose blocks a test makes: anvil with unlocked accounts.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use alloy_primitives::Address;
use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::{http, process, tools, workspace};

use crate::env;

/// Of which the accounts of `tests/fixtures/devchain/genesis.json` are made.
const MNEMONIC: &str = "test test test test test test test test test test test junk";
const GENESIS_TIME: u64 = 1_700_000_000;
/// More gas than any transaction of these scenes uses, without its authorizations.
const GAS: u64 = 0x80000;
/// Gas of an authorization (EIP-7702, `PER_EMPTY_ACCOUNT_COST`).
const AUTHORIZATION_GAS: u64 = 25_000;

/// The node, and what was sent to it.
pub struct Anvil {
    pub url: String,
    pub accounts: Vec<String>,
    height: u64,
    /// Hashes of transactions by the names that the scene gave them.
    pub hashes: BTreeMap<&'static str, String>,
}

/// A transaction from an unlocked account.
#[derive(Default)]
pub struct Call<'c> {
    /// Which of the accounts sends it.
    pub from: usize,
    /// The recipient; none for a creation.
    pub to: Option<&'c str>,
    /// Call data or init code, in hexadecimal.
    pub data: String,
    /// Wei sent to the recipient.
    pub value: u64,
    /// Signed authorizations (EIP-7702).
    pub authorizations: Vec<Value>,
}

impl Anvil {
    /// Starts it; it ends with the test run.
    pub fn start(hardfork: &str) -> anyhow::Result<Self> {
        let folder = workspace::fixture("devchain/node");
        tools::npm_ci(&folder)?;
        let port = env::free_port()?.to_string();
        let mut command = Command::new(folder.join("node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"));
        command.args(["--port", &port, "--hardfork", hardfork, "--timestamp", &GENESIS_TIME.to_string()]);
        command.args([
            "--chain-id",
            "31337",
            "--mnemonic",
            MNEMONIC,
            "--accounts",
            "10",
            "--no-mining",
            "--order",
            "fifo",
        ]);
        env::keep_child(process::spawn({
            command.arg("-q").stdout(Stdio::null()).stderr(Stdio::null());
            command
        })?);
        let url = format!("http://127.0.0.1:{port}");
        env::eventually(env::SOON, || Ok(http::rpc(&http::agent(), &url, "eth_chainId", &json!([])).is_ok()))?;
        let mut node = Self { url, accounts: Vec::new(), height: 0, hashes: BTreeMap::new() };
        let accounts = node.ask("eth_accounts", &json!([]))?;
        node.accounts =
            accounts.as_array().context("accounts")?.iter().filter_map(|one| Some(one.as_str()?.into())).collect();
        Ok(node)
    }

    /// The result of a method.
    pub fn ask(&self, method: &str, parameters: &Value) -> anyhow::Result<Value> {
        let answer = http::rpc(&http::agent(), &self.url, method, parameters)?;
        answer.get("result").cloned().with_context(|| format!("{method} {parameters}: {answer}"))
    }

    /// Sends a transaction, which the next block has.
    pub fn send(&mut self, name: &'static str, call: Call<'_>) -> anyhow::Result<()> {
        let gas = GAS + AUTHORIZATION_GAS * call.authorizations.len() as u64;
        let mut transaction = json!({
            "from": self.accounts[call.from], "data": call.data, "value": format!("{:#x}", call.value),
            "gas": format!("{gas:#x}"),
            "maxFeePerGas": "0xee6b2800", "maxPriorityFeePerGas": "0x3b9aca00",
        });
        if let Some(to) = call.to {
            transaction["to"] = json!(to);
        }
        if !call.authorizations.is_empty() {
            transaction["authorizationList"] = json!(call.authorizations);
        }
        let hash = self.ask("eth_sendTransaction", &json!([transaction]))?;
        self.hashes.insert(name, hash.as_str().context("a hash")?.to_owned());
        Ok(())
    }

    /// Makes a block of what was sent.
    pub fn mine(&mut self) -> anyhow::Result<()> {
        self.height += 1;
        self.ask("evm_mine", &json!([GENESIS_TIME + 12 * self.height])).map(drop)
    }

    /// Its highest block.
    pub fn height(&self) -> u64 {
        self.height
    }

    /// The contract that a transaction created, or would have created.
    pub fn contract(&self, name: &str) -> anyhow::Result<String> {
        let receipt = self.ask("eth_getTransactionReceipt", &json!([self.hashes[name]]))?;
        Ok(receipt["contractAddress"].as_str().with_context(|| format!("{name}: {receipt}"))?.to_owned())
    }

    /// The contract that an inner frame of a transaction created, or tried to.
    pub fn inner_contract(&self, name: &str) -> anyhow::Result<String> {
        let frames = self.ask("trace_transaction", &json!([self.hashes[name]]))?;
        let frames = frames.as_array().context("frames")?;
        let created = frames.iter().find(|frame| frame["type"] == "create").context("a creation")?;
        Ok(created["result"]["address"].as_str().with_context(|| created.to_string())?.to_owned())
    }

    /// The address of what the next transaction of an account would create.
    pub fn next_contract(&self, account: usize) -> anyhow::Result<String> {
        let nonce = self.ask("eth_getTransactionCount", &json!([self.accounts[account], "latest"]))?;
        let nonce = u64::from_str_radix(nonce.as_str().context("a nonce")?.trim_start_matches("0x"), 16)?;
        Ok(format!("{:#x}", self.accounts[account].parse::<Address>()?.create(nonce)))
    }

    /// The code of an address after a block.
    pub fn code(&self, address: &str, block: u64) -> anyhow::Result<String> {
        let code = self.ask("eth_getCode", &json!([address, format!("{block:#x}")]))?;
        Ok(code.as_str().context("code")?.to_owned())
    }
}
