//! `trawl-api` with an account that may only read: the same answers, and nothing that the account could do more.

use std::fs;

use anyhow::ensure;
use serde_json::json;
use xtask::http;
use xtask::process::Server;

use crate::chains::dump;
use crate::env;
use crate::golden::{folder, names};

const READER: [&str; 4] = ["--api-user", "api", "--api-password", "secret"];

/// Every golden case of the chain, and calls that read state, logs and whole ranges.
#[test]
fn the_api_gives_the_same_answers_as_a_reader() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &READER)?;
    let database = "trawl_hive";
    env::run(env::ingest_at(&engine.url, database, &["migrate"]), 0)?;
    env::run(env::ingest_at(&engine.url, database, &["load", "--dump", &dump("hive")]), 0)?;
    let owner = env::start_api_at(&engine.url, database, &[])?;
    let mut command = env::api_at(&engine.url, database, &[]);
    command.env("TRAWL_CLICKHOUSE_USER", "api").env("TRAWL_CLICKHOUSE_PASSWORD", "secret");
    let reader = Server::start(command)?;
    let agent = http::agent();
    env::eventually(env::SOON, || Ok(http::get(&agent, &format!("{}/health/ready", reader.url))?.status == 200))?;

    let mut compared = 0;
    for endpoint in names(&folder(""))?.iter().filter(|name| !name.contains('.')) {
        for case in names(&folder(endpoint))? {
            let request = fs::read_to_string(folder(endpoint).join(case).join("request"))?;
            let Some(path) = request.strip_prefix("hive ").and_then(|rest| rest.split_whitespace().nth(1)) else {
                continue;
            };
            let ask = |api: &Server| http::get(&agent, &format!("{}{path}", api.url));
            let (expected, found) = (ask(&owner)?, ask(&reader)?);
            ensure!(expected.status == found.status && expected.body == found.body, "{path}: {}", found.text());
            compared += 1;
        }
    }
    ensure!(compared > 30, "{compared}");
    let address = "0x0000000000000000000000000000000000000000";
    for (method, parameters) in [
        ("eth_getLogs", json!([{"fromBlock": "0x0", "toBlock": "latest"}])),
        ("eth_getBlockByNumber", json!(["latest", true])),
        ("eth_getBalance", json!([address, "latest"])),
        ("eth_call", json!([{"to": address}, "latest"])),
        ("eth_gasPrice", json!([])),
        ("eth_feeHistory", json!(["0x4", "latest", [50]])),
        ("trace_filter", json!([{"fromBlock": "0x0", "toBlock": "0x10"}])),
    ] {
        let ask = |api: &Server| http::rpc(&agent, &format!("{}/api/eth-rpc", api.url), method, &parameters);
        let (expected, found) = (ask(&owner)?, ask(&reader)?);
        ensure!(expected == found, "{method}: {found}\n{expected}");
    }
    reader.stop()?;
    owner.stop()?;
    engine.stop()?;
    Ok(())
}
