//! Rollups: real blocks of OP Mainnet and OP Sepolia, loaded with the state before them; what runs on it over HTTP uses
//! the gas of the receipts, pays what they say to the vaults, and leaves the state that the next block began with.

use std::collections::BTreeMap;

use alloy_primitives::{B256, U256};
use anyhow::{Context as _, ensure};
use serde_json::{Map, Value, json};
use xtask::{http, process::Server, workspace};

use super::{load, write_dump};
use crate::chains::{lines_of, quantity};
use crate::env;

/// The contract with the parameters of fees (<https://specs.optimism.io/protocol/predeploys.html>).
const L1_BLOCK: &str = "0x4200000000000000000000000000000000000015";
/// Who gets tips, base fees and L1 fees.
const VAULTS: [&str; 3] = [
    "0x4200000000000000000000000000000000000011",
    "0x4200000000000000000000000000000000000019",
    "0x420000000000000000000000000000000000001a",
];
/// Selectors of `number()`, `timestamp()`, `basefee()`, `hash()`, `sequenceNumber()`, `batcherHash()`,
/// `l1FeeOverhead()` and `l1FeeScalar()`: the order in which deposits of Bedrock have the values.
const L1_VALUES: [&str; 8] =
    ["0x8381f58a", "0xb80777ea", "0x5cf24969", "0x09bd5a60", "0x64ca23ef", "0xe81b2c6d", "0x8b239f73", "0x9e8c4966"];

/// A block of a proven state, and an API of a database that has both.
struct Rollup {
    api: Server,
    database: env::Database,
    chain_id: String,
    height: u64,
    parent: Value,
    block: Value,
    receipts: Value,
    /// Accounts before the block.
    before: Map<String, Value>,
}

fn prestate(name: &str) -> anyhow::Result<Vec<Value>> {
    lines_of(&workspace::fixture("chains/prestates").join(name))
}

/// The accounts of a file.
fn accounts(name: &str) -> anyhow::Result<Map<String, Value>> {
    let file = prestate(name)?.pop().context("a state")?;
    file["accounts"].as_object().cloned().context("accounts")
}

fn load_line(database: &str, chain_id: &str, line: &Value, more: &[&str]) -> anyhow::Result<()> {
    let number = quantity(&line["block"]["number"]).to_string();
    let file = write_dump(std::slice::from_ref(line))?;
    let options = ["--chain-id", chain_id, "--from", &number, "--to", &number];
    load(database, &file.path().display().to_string(), &[&options, more].concat(), 0).map(drop)
}

impl Rollup {
    /// Loads the block of a height after its parent, whose state is the proven one; all below it counts as loaded.
    /// `parts`: what the source has beside block and receipts.
    fn load(chain_id: u64, height: u64, state: &str, parts: &[(&str, &Value)]) -> anyhow::Result<Self> {
        let part = parts.first().map_or("none", |(part, _)| *part).to_lowercase();
        let name = format!("rollup_state_{chain_id}_{part}");
        let (database, chain_id) = (env::migrate(&name)?, chain_id.to_string());
        let before = accounts(&format!("prestate-{state}.json.gz"))?;
        let receipts = prestate(&format!("receipts-{state}.json.gz"))?.pop().context("receipts")?;
        let mut blocks: BTreeMap<u64, Value> = BTreeMap::new();
        for mut line in prestate(&format!("blocks-without-receipts-{chain_id}.ndjson.gz"))? {
            blocks.insert(quantity(&line["block"]["number"]), line["block"].take());
        }
        let mut block = |number| blocks.remove(&number).context("a block");
        let (parent, block) = (block(height - 1)?, block(height)?);
        load_line(&database, &chain_id, &json!({"block": parent, "stateDiff": before}), &[])?;
        let mut line = json!({"block": block, "receipts": receipts});
        for (part, value) in parts {
            line[*part] = (*value).clone();
        }
        load_line(&database, &chain_id, &line, &[])?;
        // The roots of the header prove the receipts.
        let verdict = format!("SELECT verdict FROM block_verdicts WHERE block_number = {height}");
        ensure!(env::sql(&database, &verdict)? == "verified", "{}", env::sql(&database, &verdict)?);
        let below = format!(
            "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
             VALUES (0, {}, ['blocks', 'state'], {chain_id}, 'generated', 'test')",
            height - 2
        );
        env::sql(&database, &below)?;
        let api = env::start_api(&database, &["--call-timeout", "60s"])?;
        Ok(Self { api, database, chain_id, height, parent, block, receipts, before })
    }

    fn call(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        http::rpc(&http::agent(), &format!("{}/rpc", self.api.url), method, &params)
    }

    fn result(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        let mut answer = self.call(method, params)?;
        ensure!(answer.get("error").is_none(), "{method}: {answer}");
        Ok(answer["result"].take())
    }

    fn refused(&self, method: &str, params: Value, text: &str) -> anyhow::Result<()> {
        let error = self.call(method, params)?["error"].take();
        let message = error["message"].as_str().unwrap_or_default();
        ensure!(error["code"] == -32002 && message.contains(text), "{method}: {error}");
        Ok(())
    }

    fn at(&self, height: u64) -> String {
        format!("{height:#x}")
    }

    /// Transactions with their receipts.
    fn transactions(&self) -> impl Iterator<Item = (&Value, &Value)> {
        let transactions = self.block["transactions"].as_array().into_iter().flatten();
        transactions.zip(self.receipts.as_array().into_iter().flatten())
    }

    /// What a transaction pays to each of the vaults, by its receipt.
    fn payments(&self, receipt: &Value) -> [U256; 3] {
        let (gas, price) = (word(&receipt["gasUsed"]), word(&receipt["effectiveGasPrice"]));
        let base_fee = word(&self.block["baseFeePerGas"]);
        if receipt["l1Fee"].is_null() {
            return [U256::ZERO; 3];
        }
        [gas * (price - base_fee), gas * base_fee, word(&receipt["l1Fee"])]
    }

    /// Balances and slots after a block are those of `accounts`; in the ordinary run of the vaults and some others.
    fn has_state(&self, height: u64, accounts: &Map<String, Value>) -> anyhow::Result<()> {
        let at = self.at(height);
        let is_asked = |(position, (address, _)): &(usize, (&String, &Value))| {
            position.is_multiple_of(env::amount(3, 1)) || VAULTS.contains(&address.as_str())
        };
        for (_, (address, account)) in accounts.iter().enumerate().filter(is_asked) {
            let balance = self.result("eth_getBalance", json!([address, at]))?;
            ensure!(word(&balance) == word(&account["balance"]), "{address} has {balance} after {height}: {account}");
            let nonce = self.result("eth_getTransactionCount", json!([address, at]))?;
            ensure!(word(&nonce) == word(&account["nonce"]), "{address} has nonce {nonce} after {height}: {account}");
            for (slot, value) in account["storage"].as_object().into_iter().flatten() {
                let found = self.result("eth_getStorageAt", json!([address, slot, at]))?;
                ensure!(word(&found) == word(value), "{address} {slot}: {found} after {height} is not {value}");
            }
        }
        Ok(())
    }

    /// The contract with the values of L1 has after a block what the first deposit of the block says.
    fn has_l1_values(&self, height: u64, block: &Value) -> anyhow::Result<()> {
        let input = block["transactions"][0]["input"].as_str().context("input")?;
        for (position, selector) in L1_VALUES.into_iter().enumerate() {
            let expected = &input[10 + 64 * position..][..64];
            let found = self.result("eth_call", json!([{"to": L1_BLOCK, "input": selector}, self.at(height)]))?;
            ensure!(
                found == format!("0x{expected}"),
                "{selector} is {found} after {height}, and was set to {expected}"
            );
        }
        Ok(())
    }

    /// Every transaction that runs again uses the gas of its receipt, and pays each vault what its receipt says.
    fn runs_again(&self) -> anyhow::Result<Vec<Value>> {
        let at = self.at(self.height);
        let frames = self.result("debug_traceBlockByNumber", json!([at, {"tracer": "callTracer"}]))?;
        let parity = self.result("trace_replayBlockTransactions", json!([at, ["stateDiff"]]))?;
        let diff = json!({"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}});
        let changes = self.result("debug_traceBlockByNumber", json!([at, diff]))?;
        for (position, (transaction, receipt)) in self.transactions().enumerate() {
            let (frame, hash) = (&frames[position]["result"], &transaction["hash"]);
            ensure!(frame["gasUsed"] == receipt["gasUsed"] && frame["from"] == transaction["from"], "{hash}: {frame}");
            let of_geth = &changes[position]["result"];
            for (vault, paid) in VAULTS.into_iter().zip(self.payments(receipt)) {
                let balance = &parity[position]["stateDiff"][vault]["balance"]["*"];
                let (old, new) = (&of_geth["pre"][vault]["balance"], &of_geth["post"][vault]["balance"]);
                if paid.is_zero() {
                    ensure!(balance.is_null() && new.is_null(), "{hash} pays nothing to {vault}: {balance}, {new}");
                    continue;
                }
                ensure!(
                    word(&balance["to"]) - word(&balance["from"]) == paid,
                    "{hash}: {vault} gets {paid}, {balance}"
                );
                ensure!((old, new) == (&balance["from"], &balance["to"]), "{hash}: {of_geth}");
            }
        }
        let alone = self.transactions().last().context("a transaction")?;
        let trace = self.result("debug_traceTransaction", json!([alone.0["hash"], {"tracer": "callTracer"}]))?;
        ensure!(trace["gasUsed"] == alone.1["gasUsed"], "{trace}");
        changes.as_array().cloned().context("changes")
    }

    /// Asks until a condition holds: the API sees a commit a moment later.
    fn soon(&self, condition: impl Fn(&Self) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut last = Ok(());
        let end = env::eventually(std::time::Duration::from_secs(20), || {
            last = condition(self);
            Ok(last.is_ok())
        });
        last.and(end)
    }
}

fn word(value: &Value) -> U256 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// What transactions changed one after the other, as accounts after all of them.
fn merged(changes: &[Value]) -> anyhow::Result<Value> {
    let mut all = Map::new();
    for change in changes {
        let (pre, post) = (&change["result"]["pre"], &change["result"]["post"]);
        for (address, account) in post.as_object().context("post")? {
            let merged = all.entry(address.clone()).or_insert_with(|| json!({"storage": {}}));
            for member in ["balance", "nonce", "code"] {
                if let Some(value) = account.get(member) {
                    merged[member] = value.clone();
                }
            }
            for slot in pre[address]["storage"].as_object().into_iter().flat_map(Map::keys) {
                merged["storage"][slot] = json!(B256::ZERO);
            }
            for (slot, value) in account["storage"].as_object().into_iter().flatten() {
                merged["storage"][slot] = value.clone();
            }
        }
    }
    Ok(Value::Object(all))
}

#[test]
fn of_op_mainnet_is_what_the_next_block_began_with() -> anyhow::Result<()> {
    let rollup = Rollup::load(10, 109_279_675, "109279675", &[])?;
    let height = rollup.height;
    rollup.has_state(height - 1, &rollup.before)?;
    rollup.has_l1_values(height - 1, &rollup.parent)?;
    // A plain transfer, and a call whose sender allowed just the gas that it used.
    for (transaction, receipt) in [2, 5].into_iter().filter_map(|position| rollup.transactions().nth(position)) {
        let call: Map<String, Value> = ["from", "to", "value", "input"]
            .map(|member| (member.to_owned(), transaction[member].clone()))
            .into_iter()
            .collect();
        let gas = rollup.result("eth_estimateGas", json!([call, rollup.at(height - 1)]))?;
        ensure!(gas == receipt["gasUsed"], "{}: {gas}", transaction["hash"]);
    }
    rollup.refused(
        "eth_getBalance",
        json!([L1_BLOCK, rollup.at(height)]),
        &format!("changes of blocks {height} are not indexed"),
    )?;
    rollup.refused(
        "eth_simulateV1",
        json!([{"blockStateCalls": [{"calls": []}]}, rollup.at(height - 1)]),
        "chain 10 does not have Ethereum's forks",
    )?;
    rollup.refused("eth_config", json!([]), "chain 10 does not have Ethereum's forks")?;
    let changes = rollup.runs_again()?;
    // Differences of transactions, which some nodes give without the vaults, are not the state after the block.
    let in_part = Rollup::load(10, height, "109279675", &[("txStateDiffs", &json!(changes))])?;
    let vault = json!([VAULTS[2], rollup.at(height)]);
    in_part.refused("eth_getBalance", vault, "only the changes of their transactions")?;
    let rollup = Rollup::load(10, height, "109279675", &[("stateDiff", &merged(&changes)?)])?;
    let mut after = accounts("after-109279675.json.gz")?;
    after.retain(|address, _| rollup.before.contains_key(address));
    for (address, account) in &mut after {
        let known = &rollup.before[address]["storage"];
        if let Some(slots) = account["storage"].as_object_mut() {
            slots.retain(|slot, _| !known[slot].is_null());
        }
    }
    ensure!(VAULTS.iter().all(|vault| after.contains_key(*vault)), "{after:?}");
    rollup.has_state(height, &after)?;
    rollup.has_l1_values(height, &rollup.block)?;
    for (position, vault) in VAULTS.into_iter().enumerate() {
        let paid = rollup.transactions().fold(U256::ZERO, |sum, (_, receipt)| sum + rollup.payments(receipt)[position]);
        ensure!(word(&after[vault]["balance"]) - word(&rollup.before[vault]["balance"]) == paid, "{vault}: {paid}");
    }
    mints(&rollup)
}

/// A deposit brings coins from L1: its sender has them, less what it sends on.
fn mints(rollup: &Rollup) -> anyhow::Result<()> {
    let (sender, recipient) = (format!("0x{}", "a1".repeat(20)), format!("0x{}", "b2".repeat(20)));
    let (number, hash) = (rollup.at(rollup.height + 1), format!("0x{}", "c3".repeat(32)));
    let mut block = rollup.block.clone();
    let mut deposit = block["transactions"][1].take();
    let mut receipt = rollup.receipts[1].clone();
    for member in [&mut deposit, &mut receipt] {
        member["blockNumber"] = json!(number);
        member["transactionIndex"] = json!("0x0");
        member["blockHash"] = json!(hash);
        (member["from"], member["to"]) = (json!(sender), json!(recipient));
    }
    (deposit["mint"], deposit["value"], deposit["input"]) = (json!("0x3e8"), json!("0x12c"), json!("0x"));
    (deposit["gas"], deposit["hash"], receipt["transactionHash"]) = (json!("0xc350"), json!(hash), json!(hash));
    (receipt["gasUsed"], receipt["cumulativeGasUsed"], receipt["logs"]) = (json!("0x5208"), json!("0x5208"), json!([]));
    (block["number"], block["parentHash"], block["hash"]) = (json!(number), rollup.block["hash"].clone(), json!(hash));
    (block["gasUsed"], block["transactions"]) = (json!("0x5208"), json!([deposit]));
    block["timestamp"] = json!(format!("{:#x}", quantity(&block["timestamp"]) + 2));
    load_line(
        &rollup.database,
        &rollup.chain_id,
        &json!({"block": block, "receipts": [receipt]}),
        &["--verify", "off"],
    )?;
    let trace = |rollup: &Rollup| rollup.result("trace_replayBlockTransactions", json!([number, ["stateDiff"]]));
    rollup.soon(|rollup| ensure_that(!trace(rollup)?.is_null()))?;
    let changes = trace(rollup)?[0]["stateDiff"].take();
    let came = |address: &str| word(&changes[address]["balance"]["+"]);
    ensure!(came(&sender) == U256::from(700) && came(&recipient) == U256::from(300), "{changes}");
    Ok(())
}

fn ensure_that(holds: bool) -> anyhow::Result<()> {
    ensure!(holds, "not yet");
    Ok(())
}

#[test]
fn of_op_sepolia_pays_the_fees_of_granite() -> anyhow::Result<()> {
    let rollup = Rollup::load(11_155_420, 17_664_000, "sepolia-17664000", &[])?;
    rollup.has_state(rollup.height - 1, &rollup.before)?;
    rollup.runs_again()?;
    // `basefee()` and `blobBaseFee()`, which the deposit of the block before set: two words after 36 bytes.
    let input = rollup.parent["transactions"][0]["input"].as_str().context("input")?;
    for (selector, expected) in [("0x5cf24969", &input[74..138]), ("0xf8206140", &input[138..202])] {
        let call = json!([{"to": L1_BLOCK, "input": selector}, rollup.at(rollup.height - 1)]);
        let found = rollup.result("eth_call", call)?;
        ensure!(found == format!("0x{expected}"), "{selector}: {found}, set to {expected}");
    }
    Ok(())
}
