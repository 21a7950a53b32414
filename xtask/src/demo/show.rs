//! What the demo prints: requests to copy with their answers, and the addresses to open.

use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::http;

use super::load::ChainServer;
use super::programs::READER;

/// Two requests to copy, and each chain with its address.
pub fn show(served: &[ChainServer], engine: &str) -> anyhow::Result<()> {
    let first = served.first().context("a chain is served")?;
    let api = &first.api.url;
    requests(first)?;
    let blocks: usize = served.iter().map(|served| served.blocks.len()).sum();
    println!("Trawl is running over {blocks} blocks (a development build; Ctrl-C ends it). To open:\n");
    for ChainServer { chain, api, blocks } in served {
        let (url, name) = (format!("{}/", api.url), format!("{} ({})", chain.name, chain.coin));
        println!("  {url:<25} {name:<24} {:>2} blocks, database {}", blocks.len(), chain.database);
    }
    println!("\nOf each, here of {}:\n", first.chain.name);
    println!("  {api}/                              the explorer: blocks, transactions, scans, charts");
    let [user, password] = READER;
    println!("  {api}/sql                           SQL, as the user {user} with the password {password}");
    println!("  {api}/docs                          every endpoint, with its parameters and answers");
    println!("  {api}/api/v2/blocks?items_count=2   the two newest blocks");
    println!("  {api}/api/v2/openapi                the same description as OpenAPI 3.1");
    println!("  {engine}                               ClickHouse over HTTP, with the databases");
    Ok(())
}

fn requests(served: &ChainServer) -> anyhow::Result<()> {
    let (agent, api) = (http::agent(), &served.api.url);
    let transaction = most_logs(served).context("the source has a transaction")?;
    let logs = format!("{api}/api/v2/transactions/{transaction}/logs?items_count=1");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "latest"}]});
    println!("\nThe logs of one transaction:\n\ncurl '{logs}'");
    println!("{}\n", excerpt(&http::get(&agent, &logs)?.text()));
    println!("The same over JSON-RPC, of the newest block:\n");
    println!("curl '{api}/api/eth-rpc' -H 'content-type: application/json' -d '{body}'");
    println!("{}\n", excerpt(&http::post(&agent, &format!("{api}/api/eth-rpc"), &serde_json::to_vec(&body)?)?.text()));
    Ok(())
}

/// Of the busiest block the transaction with most logs.
fn most_logs(served: &ChainServer) -> Option<&str> {
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let busiest = served.blocks.values().max_by_key(|line| count(&line["block"]["transactions"]))?;
    let receipt = busiest["receipts"].as_array()?.iter().max_by_key(|receipt| count(&receipt["logs"]))?;
    receipt["transactionHash"].as_str()
}

fn excerpt(text: &str) -> String {
    let shown: String = text.trim_end().chars().take(400).collect();
    if shown.len() < text.trim_end().len() { format!("{shown} …") } else { shown }
}
