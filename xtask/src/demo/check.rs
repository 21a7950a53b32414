//! `--check`: answers about every block and every transaction, compared with the source.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use ureq::Agent;
use xtask::http;

use super::blocks;
use super::load::ChainServer;
use super::{compare, fee};

/// Most logs in an answer of `eth_getLogs` (`--max-logs`).
const MAX_LOGS: usize = 1000;

/// The code of errors about blocks, or parts of them, that were not loaded.
const NOT_INDEXED: i32 = -32002;

/// The longest time in which a live chain must have a new block.
const NEW_BLOCK: Duration = Duration::from_secs(30);

/// Waits for a new block of a live chain.
pub fn grows(live: &ChainServer) -> anyhow::Result<()> {
    let (agent, url) = (http::agent(), format!("{}/api/v2/blocks?items_count=1", live.api.url));
    let newest = || anyhow::Ok(http::get(&agent, &url)?.json()?["items"][0]["height"].as_u64());
    let (first, started) = (newest()?, Instant::now());
    while newest()? <= first {
        ensure!(started.elapsed() < NEW_BLOCK, "no block after {first:?} within {NEW_BLOCK:?}");
        thread::sleep(Duration::from_millis(100));
    }
    println!("demo: {}: a new block within {:.1} s", live.chain.name, started.elapsed().as_secs_f64());
    Ok(())
}

/// Checks all chains, and prints how many answers were compared.
pub fn all(served: &[ChainServer]) -> anyhow::Result<()> {
    for served in served {
        let name = served.chain.name;
        let checked = Check::new(served).run().with_context(|| name.to_owned())?;
        println!(
            "demo: {name}: {} blocks, {checked} answers checked against the source data, all equal",
            served.blocks.len()
        );
    }
    Ok(())
}

/// Queries the API of a chain, and counts the answers.
struct Check<'s> {
    served: &'s ChainServer,
    agent: Agent,
    answers: usize,
}

impl<'s> Check<'s> {
    fn new(served: &'s ChainServer) -> Self {
        Self { served, agent: http::agent(), answers: 0 }
    }

    fn run(mut self) -> anyhow::Result<usize> {
        self.chain()?;
        self.block_list()?;
        self.verdicts()?;
        for (height, line) in &self.served.blocks {
            self.block(*height, line).with_context(|| format!("block {height}"))?;
        }
        Ok(self.answers)
    }

    fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        let answer = http::get(&self.agent, &format!("{}{path}", self.served.api.url))?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
        self.answers += 1;
        answer.json()
    }

    fn ask(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.answers += 1;
        http::rpc(&self.agent, &format!("{}/api/eth-rpc", self.served.api.url), method, params)
    }

    fn call(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let mut answer = self.ask(method, params)?;
        ensure!(answer["error"].is_null(), "{method} {params}: {answer}");
        Ok(answer["result"].take())
    }

    /// The chain has its id, and the page is there and gets its name and coin.
    fn chain(&mut self) -> anyhow::Result<()> {
        let chain = self.served.chain;
        let id = self.call("eth_chainId", &json!([]))?;
        ensure!(id == format!("{:#x}", chain.id), "eth_chainId: {id}");
        let named = self.get(&format!("/assets/chains/eip155-{}.json", chain.id))?;
        ensure!(named["name"] == chain.name && named["nativeCurrency"]["symbol"] == chain.coin, "its name: {named}");
        let page = self.agent.get(format!("{}/", self.served.api.url)).header("accept", "text/html").call()?;
        ensure!(page.status() == 200, "the page: {}", page.status());
        self.answers += 1;
        Ok(())
    }

    fn block_list(&mut self) -> anyhow::Result<()> {
        let blocks = &self.served.blocks;
        let newest = blocks.keys().next_back().context("the source has blocks")?;
        let number = self.call("eth_blockNumber", &json!([]))?;
        ensure!(number == format!("{newest:#x}"), "eth_blockNumber: {number}");
        let page = self.get("/api/v2/blocks")?;
        let items = page["items"].as_array().context("items")?;
        let heights: Vec<u64> = items.iter().filter_map(|block| block["height"].as_u64()).collect();
        let expected: Vec<u64> = blocks.keys().rev().take(50).copied().collect();
        ensure!(heights == expected, "block list: {heights:?} instead of {expected:?}");
        Ok(())
    }

    /// Blocks with receipts are verified, and no others are reported as verified.
    fn verdicts(&mut self) -> anyhow::Result<()> {
        let blocks = &self.served.blocks;
        let whole = blocks.values().filter(|line| line["receipts"].is_array()).count();
        let totals = self.get("/api/v2/stats/verdicts")?;
        ensure!(totals["blocks"] == blocks.len() && totals["verified"] == whole, "{whole} are verified: {totals}");
        ensure!(totals["partial"] == blocks.len() - whole, "{whole} are verified: {totals}");
        Ok(())
    }

    fn block(&mut self, height: u64, line: &Value) -> anyhow::Result<()> {
        let block = &line["block"];
        let answer = self.call("eth_getBlockByNumber", &json!([format!("{height:#x}"), true]))?;
        compare::fields("a block", block, &answer)?;
        compare::lists("transactions", blocks::transactions(line).map(|(one, _)| one), &answer["transactions"])?;
        let verdict = self.get(&format!("/api/v2/blocks/{height}/verdict"))?;
        let expected = if line["receipts"].is_array() { "verified" } else { "partial" };
        ensure!(verdict["verdict"] == expected && verdict["block_hash"] == block["hash"], "not {expected}: {verdict}");
        let logs = self.call("eth_getLogs", &json!([{"blockHash": block["hash"]}]))?;
        compare::lists("logs", blocks::logs(line).take(MAX_LOGS), &logs)?;
        self.receipts(height, line)?;
        self.fees(height, line)
    }

    /// The receipts of a block; where the source has none, they are refused.
    fn receipts(&mut self, height: u64, line: &Value) -> anyhow::Result<()> {
        let Some(receipts) = line["receipts"].as_array() else {
            for (transaction, _) in blocks::transactions(line) {
                let answer = self.ask("eth_getTransactionReceipt", &json!([transaction["hash"]]))?;
                ensure!(answer["error"]["code"] == NOT_INDEXED, "not refused: {answer}");
            }
            return Ok(());
        };
        let answer = self.call("eth_getBlockReceipts", &json!([format!("{height:#x}")]))?;
        compare::lists("receipts", receipts.iter(), &answer)?;
        for (receipt, answered) in receipts.iter().zip(answer.as_array().into_iter().flatten()) {
            let logs = receipt["logs"].as_array().into_iter().flatten();
            compare::lists("logs of a receipt", logs, &answered["logs"])?;
        }
        Ok(())
    }

    /// The fee of each transaction in REST.
    fn fees(&mut self, height: u64, line: &Value) -> anyhow::Result<()> {
        let mut items = Vec::new();
        let mut path = format!("/api/v2/blocks/{height}/transactions?items_count=100");
        loop {
            let mut page = self.get(&path)?;
            items.append(page["items"].as_array_mut().context("items")?);
            let Some(next) = page["next_page_params"].as_object() else { break };
            let next: Vec<String> = next.iter().map(|(key, value)| format!("{key}={value}")).collect();
            path = format!("/api/v2/blocks/{height}/transactions?{}", next.join("&"));
        }
        let transactions: Vec<_> = blocks::transactions(line).collect();
        ensure!(items.len() == transactions.len(), "transactions: {} instead of {}", items.len(), transactions.len());
        for (transaction, receipt) in transactions {
            let hash = &transaction["hash"];
            let item = items.iter().find(|item| item["hash"] == *hash).with_context(|| format!("no {hash}"))?;
            fee::compare(transaction, receipt, item).with_context(|| format!("{hash}: {item}"))?;
        }
        Ok(())
    }
}
