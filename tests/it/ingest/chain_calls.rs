//! Calls on the state of chains other than Ethereum, over HTTP: two blocks each, before and after a fork of the chain,
//! with contracts of a few instructions. The blocks are made up, and so not verified.

use anyhow::ensure;
use serde_json::{Map, Value, json};
use xtask::{http, process::Server};

use super::{load, write_dump};
use crate::env;

/// Contracts: PUSH0, BASEFEE, NUMBER, COINBASE, and one that calls the account of its input.
const PUSH_ZERO: &str = "0x00000000000000000000000000000000000c0de0";
const BASE_FEE: &str = "0x00000000000000000000000000000000000c0de1";
const NUMBER: &str = "0x00000000000000000000000000000000000c0de2";
const CALLER: &str = "0x00000000000000000000000000000000000c0de3";
const PROGRAM: &str = "0x00000000000000000000000000000000000c0de4";
/// What returns the word that one or more instructions leave on the stack.
const RETURN: &str = "60005260206000f3";

/// A made-up chain of two blocks under the id of a real one, and an API of it.
struct SampleChain {
    _database: env::Database,
    api: Server,
    first: u64,
}

/// What of a header tells the fork of its block.
struct SampleHeader {
    number: u64,
    timestamp: u64,
    mix_hash: String,
    /// Wei per gas (EIP-1559).
    base_fee: u64,
}

impl SampleHeader {
    fn new(number: u64, timestamp: u64) -> Self {
        Self { number, timestamp, mix_hash: format!("0x{}", "00".repeat(32)), base_fee: 1_000_000_000 }
    }

    /// A header that tells the version of its chain, and a block of L1.
    fn of_version(number: u64, version: u64) -> Self {
        let mix_hash = format!("0x{:016x}{:016x}{version:016x}{:016x}", 0, 18_563_000, 0);
        Self { mix_hash, ..Self::new(number, 1_700_000_000 + number) }
    }

    /// A header of a chain without base fees of its own.
    fn without_base_fee(self) -> Self {
        Self { base_fee: 0, ..self }
    }

    fn block(&self) -> Value {
        let word = |byte: u64| format!("0x{byte:064x}");
        let zeros = |bytes: usize| format!("0x{}", "00".repeat(bytes));
        json!({
            "number": format!("{:#x}", self.number),
            "timestamp": format!("{:#x}", self.timestamp),
            "mixHash": self.mix_hash,
            "hash": word(self.number),
            "parentHash": word(self.number - 1),
            "difficulty": "0x2",
            "baseFeePerGas": format!("{:#x}", self.base_fee),
            "gasLimit": "0x1c9c380",
            "gasUsed": "0x0",
            "miner": zeros(20),
            "nonce": zeros(8),
            "extraData": "0x",
            "logsBloom": zeros(256),
            "stateRoot": zeros(32),
            "receiptsRoot": "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
            "transactionsRoot": "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
            "sha3Uncles": "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
            "size": "0x200",
            "transactions": [],
            "uncles": [],
        })
    }
}

/// The contracts, as the change of a block.
fn contracts() -> Value {
    let codes = [
        (PUSH_ZERO, format!("0x5f{RETURN}")),
        (BASE_FEE, format!("0x48{RETURN}")),
        (NUMBER, format!("0x43{RETURN}")),
        (CALLER, format!("0x6000600060006000600060003562fffffff1{RETURN}")),
        (PROGRAM, "0xeff00000deadbeef".to_owned()),
    ];
    let account = |code: String| json!({"balance": "0x0", "nonce": "0x1", "code": code, "storage": {}});
    codes.into_iter().map(|(address, code)| (address.to_owned(), account(code))).collect::<Map<_, _>>().into()
}

impl SampleChain {
    /// Loads the blocks with their state; the state of all below them counts as loaded.
    fn load(chain: u64, headers: [SampleHeader; 2]) -> anyhow::Result<Self> {
        let database = env::migrate(&format!("chain_calls_{chain}"))?;
        let first = headers[0].number;
        let lines = [
            json!({"block": headers[0].block(), "receipts": [], "stateDiff": contracts()}),
            json!({"block": headers[1].block(), "receipts": [], "stateDiff": {}}),
        ];
        let file = write_dump(&lines)?;
        let (chain, from, to) = (chain.to_string(), first.to_string(), headers[1].number.to_string());
        let options = ["--chain-id", &chain, "--from", &from, "--to", &to, "--verify", "off"];
        load(&database, &file.path().display().to_string(), &options, 0)?;
        let below = format!(
            "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
             VALUES (0, {}, ['state'], {chain}, 'generated', 'test')",
            first - 1
        );
        env::sql(&database, &below)?;
        let api = env::start_api(&database, &[])?;
        Ok(Self { _database: database, api, first })
    }

    fn answer(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        http::rpc(&http::agent(), &format!("{}/rpc", self.api.url), method, &params)
    }

    /// The answer to a call of a contract after the first or the second block.
    fn call(&self, position: u64, to: &str, input: &str) -> anyhow::Result<Value> {
        let block = format!("{:#x}", self.first + position);
        self.answer("eth_call", json!([{"to": to, "input": input}, block]))
    }

    fn returns(&self, position: u64, to: &str, expected: u64) -> anyhow::Result<()> {
        let found = self.call(position, to, "0x")?;
        ensure!(found["result"] == format!("0x{expected:064x}"), "{to} after block {position}: {found}");
        Ok(())
    }

    /// PUSH0 is no instruction before the fork.
    fn has_push0_since_the_second(&self) -> anyhow::Result<()> {
        let before = self.call(0, PUSH_ZERO, "0x")?;
        ensure!(before["error"] == json!({"code": -32000, "message": "invalid opcode"}), "{before}");
        self.returns(1, PUSH_ZERO, 0)
    }

    /// A call of an account through a contract is refused, by a text.
    fn refuses(&self, account: u64, text: &str) -> anyhow::Result<()> {
        let found = self.call(1, CALLER, &format!("0x{account:064x}"))?;
        is_refused(&found, text)
    }

    fn estimates(&self) -> anyhow::Result<()> {
        let block = format!("{:#x}", self.first + 1);
        let gas = self.answer("eth_estimateGas", json!([{"to": PUSH_ZERO}, block]))?;
        // Two bytes of code more than a transfer: PUSH0, two PUSH1, MSTORE with a word of memory, two PUSH1, RETURN.
        ensure!(gas["result"] == format!("{:#x}", 21_000 + 2 + 3 + 3 + 3 + 3 + 3), "{gas}");
        Ok(())
    }

    /// The transactions of its blocks cannot be replayed.
    fn does_not_run_again(&self, chain: u64) -> anyhow::Result<()> {
        let block = format!("{:#x}", self.first + 1);
        let traces = self.answer("debug_traceBlockByNumber", json!([block, {"tracer": "callTracer"}]))?;
        is_refused(&traces, &format!("transactions of chain {chain} cannot be replayed here"))
    }
}

fn is_refused(answer: &Value, text: &str) -> anyhow::Result<()> {
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    ensure!(answer["error"]["code"] == -32002 && message.contains(text), "{answer}");
    Ok(())
}

#[test]
fn polygon_has_the_forks_of_its_heights() -> anyhow::Result<()> {
    let polygon = SampleChain::load(
        137,
        [SampleHeader::new(50_522_999, 1_701_000_000), SampleHeader::new(50_523_000, 1_701_000_002)],
    )?;
    polygon.has_push0_since_the_second()?;
    polygon.returns(1, NUMBER, 50_523_000)?;
    polygon.estimates()?;
    polygon.does_not_run_again(137)?;
    let config = polygon.answer("eth_config", json!([]))?;
    is_refused(&config, "chain 137 does not have Ethereum's forks")
}

#[test]
fn gnosis_has_the_forks_of_its_times() -> anyhow::Result<()> {
    let gnosis = SampleChain::load(
        100,
        [SampleHeader::new(28_000_000, 1_690_889_655), SampleHeader::new(28_000_001, 1_690_889_660)],
    )?;
    gnosis.has_push0_since_the_second()?;
    gnosis.estimates()?;
    // The precompiles of other chains are accounts here.
    let found = gnosis.call(1, CALLER, &format!("0x{:064x}", 0x64))?;
    ensure!(found["result"] == format!("0x{:064x}", 1), "{found}");
    gnosis.does_not_run_again(100)
}

#[test]
fn bnb_refuses_its_precompiles_by_name() -> anyhow::Result<()> {
    let headers = [SampleHeader::new(35_000_000, 1_705_996_797), SampleHeader::new(35_000_001, 1_705_996_800)];
    let bnb = SampleChain::load(56, headers.map(SampleHeader::without_base_fee))?;
    bnb.has_push0_since_the_second()?;
    bnb.estimates()?;
    let history = bnb.answer("eth_feeHistory", json!(["0x2", "latest", []]))?;
    ensure!(history["result"]["baseFeePerGas"] == json!(["0x0", "0x0", "0x0"]), "{history}");
    bnb.refuses(
        0x67,
        "0x0000000000000000000000000000000000000067 is cometBFTLightBlockValidate, a precompile of chain 56",
    )
}

#[test]
fn avalanche_refuses_its_precompiles_by_name() -> anyhow::Result<()> {
    let avalanche = SampleChain::load(
        43_114,
        [SampleHeader::new(42_000_000, 1_709_740_798), SampleHeader::new(42_000_001, 1_709_740_800)],
    )?;
    avalanche.has_push0_since_the_second()?;
    avalanche.estimates()?;
    let warp = "0x0000000000000000000000000200000000000000000000000000000000000005";
    let found = avalanche.call(1, CALLER, warp)?;
    is_refused(&found, "0x0200000000000000000000000000000000000005 is Warp, a precompile of chain 43114")
}

#[test]
fn arbitrum_has_the_forks_of_its_headers() -> anyhow::Result<()> {
    let arbitrum = SampleChain::load(
        42_161,
        [SampleHeader::of_version(190_000_000, 10), SampleHeader::of_version(190_000_001, 32)],
    )?;
    arbitrum.has_push0_since_the_second()?;
    arbitrum.returns(0, NUMBER, 18_563_000)?;
    // Who pays nothing sees no base fee, as on nodes.
    arbitrum.returns(1, BASE_FEE, 0)?;
    arbitrum.refuses(0x64, "is ArbSys, a precompile of chain 42161")?;
    let program = arbitrum.call(1, PROGRAM, "0x")?;
    is_refused(&program, "is a Stylus program, which is not the EVM's")?;
    let estimate = arbitrum.answer("eth_estimateGas", json!([{"to": PUSH_ZERO}]))?;
    is_refused(&estimate, "gas cannot be estimated on chain 42161 here")?;
    let tip = arbitrum.answer("eth_maxPriorityFeePerGas", json!([]))?;
    ensure!(tip["result"] == "0x0", "nobody pays tips: {tip}");
    let history = arbitrum.answer("eth_feeHistory", json!(["0x1", "latest", []]))?;
    ensure!(history["result"]["baseFeePerGas"][0] == "0x3b9aca00", "{history}");
    arbitrum.does_not_run_again(42_161)
}
