//! Which shards are asked: a node's `system.query_log` has what it was asked by others.

use anyhow::ensure;
use serde_json::json;

use super::cluster::Cluster;
use crate::damage::questions::{Question, ask};
use crate::env;

/// Tables of an address, which are read on its shard.
const OF_AN_ADDRESS: [&str; 6] = [
    "logs",
    "token_transfers",
    "token_transfers_by_direction",
    "internal_transactions_by_address",
    "internal_transactions_by_direction",
    "transactions_by_address",
];

/// Lists of an address.
const LISTS: [&str; 5] =
    ["transactions", "token-transfers", "internal-transactions", "internal-transactions?filter=from", "logs"];

/// The tables of an address of which the second node was asked, when an API answered the lists of one. Not what was asked about the
/// other addresses on a page, which are on any shard.
fn asked_of_the_second(cluster: &Cluster, api: &str, address: &str) -> anyhow::Result<Vec<String>> {
    let second = |sql: &str| env::sql_at(&cluster.nodes[1].url, "default", sql);
    second("SYSTEM FLUSH LOGS")?;
    second("TRUNCATE TABLE system.query_log")?;
    for list in LISTS {
        let answer = ask(api, &Question::Path(format!("/api/v2/addresses/{address}/{list}")));
        ensure!(!answer.is_error(), "{list} of {address}: {answer:?}");
    }
    let logs = json!([{"fromBlock": "0x0", "toBlock": "latest", "address": address}]);
    ensure!(!ask(api, &Question::Call("eth_getLogs", logs)).is_error(), "logs of {address}");
    second("SYSTEM FLUSH LOGS")?;
    let tables = second(
        "SELECT DISTINCT splitByChar('.', arrayJoin(tables))[-1] AS name FROM system.query_log
         WHERE type = 'QueryFinish' AND position(query, 'address` IN ') = 0 ORDER BY name",
    )?;
    Ok(tables.lines().filter(|table| OF_AN_ADDRESS.contains(table)).map(str::to_owned).collect())
}

pub fn lists_of_an_address_ask_its_shard_alone(cluster: &Cluster) -> anyhow::Result<()> {
    let url = &cluster.nodes[0].url;
    let api = env::start_api_at(url, Cluster::DISTRIBUTED, &["--cache-size", "0", "--settled-cache-size", "0"])?;
    for shard in 0..2 {
        let addresses = format!(
            "SELECT '0x' || lower(hex(address)) AS value FROM logs WHERE modulo(cityHash64(address), 2) = {shard}
             GROUP BY address ORDER BY count() DESC, value LIMIT 3"
        );
        let addresses = env::sql_at(url, Cluster::SINGLE, &addresses)?;
        ensure!(!addresses.is_empty(), "no contract is on shard {shard}");
        for address in addresses.lines() {
            let asked = asked_of_the_second(cluster, &api.url, address)?;
            let is_right = if shard == 0 { asked.is_empty() } else { asked.iter().any(|table| table == "logs") };
            ensure!(is_right, "{address} is on shard {shard}; of the second one {asked:?} were read");
        }
    }
    api.stop()?;
    Ok(())
}
