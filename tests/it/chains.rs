//! The recorded chains: loaded once each, served by an API each, and as the node's own JSON to compare with.

use std::io::{BufRead, BufReader};
use std::sync::OnceLock;

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use serde_json::Value;
use xtask::workspace;

use crate::env;

/// A recorded chain.
pub struct Chain {
    /// Its folder in `tests/fixtures`, and its database.
    pub name: &'static str,
    /// The API that serves it.
    pub api: String,
    /// Its lines: `block`, `receipts`, `uncleHeaders` …
    pub lines: Vec<Value>,
}

impl Chain {
    /// The JSON-RPC endpoint.
    pub fn rpc(&self) -> String {
        format!("{}/api/eth-rpc", self.api)
    }

    /// Height of the newest block.
    pub fn head(&self) -> u64 {
        self.lines.last().map_or(0, |line| quantity(&line["block"]["number"]))
    }
}

/// A number in the notation of nodes.
pub fn quantity(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is no quantity"));
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text} is no quantity"))
}

/// The dump file of a chain.
pub fn dump(name: &str) -> String {
    workspace::fixture(&format!("{name}/chain.ndjson.gz")).display().to_string()
}

/// The lines of a dump file.
pub fn lines(name: &str) -> anyhow::Result<Vec<Value>> {
    lines_of(std::path::Path::new(&dump(name)))
}

/// The lines of any file of that form.
pub fn lines_of(file: &std::path::Path) -> anyhow::Result<Vec<Value>> {
    let file = std::fs::File::open(file).with_context(|| file.display().to_string())?;
    BufReader::new(MultiGzDecoder::new(file)).lines().map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

/// The chain `hive`, `mainnet` or `devchain`.
pub fn chain(name: &str) -> &'static Chain {
    static CHAINS: [OnceLock<Chain>; 3] = [const { OnceLock::new() }; 3];
    const NAMES: [&str; 3] = ["hive", "mainnet", "devchain"];
    let position = NAMES.iter().position(|known| *known == name).unwrap_or_else(|| panic!("no chain {name}"));
    CHAINS[position].get_or_init(|| load(NAMES[position]).unwrap_or_else(|error| panic!("{name}: {error:?}")))
}

fn load(name: &'static str) -> anyhow::Result<Chain> {
    env::create_tables(name)?;
    env::run(env::ingest(name, &["load", "--dump", &dump(name)]), 0)?;
    if name == "hive" {
        // The recording tells of the state of block 0 itself; what the file adds is the rules of the chain.
        let genesis = workspace::fixture("hive/genesis.json").display().to_string();
        env::run(env::ingest(name, &["load", "--dump", &dump(name), "--genesis", &genesis]), 0)?;
    }
    Ok(Chain { name, api: env::start_shared_api(name)?, lines: lines(name)? })
}
