//! How many shards are queried: each node's `system.query_log` has which tables of its shard were read.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::cluster::Cluster;
use crate::damage::questions::{Question, ask};
use crate::env;

/// A read of the API, a table that it needs, and how many shards of three are queried for rows of that.
struct Read {
    question: Question,
    table: &'static str,
    shards: usize,
}

fn path(path: String, table: &'static str, shards: usize) -> Read {
    Read { question: Question::Path(path), table, shards }
}

fn call(method: &'static str, params: serde_json::Value, table: &'static str, shards: usize) -> Read {
    Read { question: Question::Call(method, params), table, shards }
}

/// Reads of an address: its shard.
fn of_an_address(address: &str) -> Vec<Read> {
    let list = |list: &str, table| path(format!("/api/v2/addresses/{address}/{list}"), table, 1);
    let logs = json!([{"fromBlock": "0x0", "toBlock": "latest", "address": address}]);
    vec![
        list("transactions", "transactions_by_address"),
        list("token-transfers", "token_transfers"),
        list("internal-transactions", "internal_transactions_by_address"),
        list("internal-transactions?filter=from", "internal_transactions_by_direction"),
        list("logs", "logs"),
        path(format!("/api/v2/scan/logs?address={address}&fromBlock=0"), "logs", 1),
        path(format!("/api?module=account&action=txlist&address={address}"), "transactions_by_address", 1),
        path(format!("/api?module=logs&action=getLogs&address={address}&fromBlock=0&toBlock=latest"), "logs", 1),
        call("eth_getLogs", logs, "logs", 1),
    ]
}

/// Lookups of one thing: its shard. `block` is a settled one, `transaction` in it.
fn lookups(block: &str, hash: &str, transaction: &str) -> Vec<Read> {
    let number = format!("0x{:x}", block.parse::<u64>().unwrap_or_default());
    vec![
        path(format!("/api/v2/blocks/{block}"), "blocks", 1),
        path(format!("/api/v2/blocks/{hash}"), "blocks_by_hash", 1),
        path(format!("/api/v2/blocks/{hash}"), "blocks", 1),
        path(format!("/api/v2/blocks/{block}/transactions"), "transactions", 1),
        path(format!("/api/v2/transactions/{transaction}"), "transactions_by_hash", 1),
        path(format!("/api/v2/transactions/{transaction}"), "transactions", 1),
        path(format!("/api/v2/transactions/{transaction}/logs"), "logs_by_block", 1),
        path(format!("/api/v2/transactions/{transaction}/internal-transactions"), "internal_transactions", 1),
        call("eth_getTransactionByHash", json!([transaction]), "transactions_by_hash", 1),
        call("eth_getTransactionByHash", json!([transaction]), "transactions", 1),
        call("eth_getTransactionReceipt", json!([transaction]), "logs_by_block", 1),
        call("eth_getBlockReceipts", json!([number]), "transactions", 1),
        call("eth_getLogs", json!([{"blockHash": hash}]), "logs_by_block", 1),
    ]
}

/// Scans of all, which every shard answers a part of.
fn scans() -> Vec<Read> {
    let logs = json!([{"fromBlock": "0x0", "toBlock": "latest"}]);
    vec![
        call("eth_getLogs", logs, "logs_by_block", 3),
        path("/api/v2/scan/logs?fromBlock=0".into(), "logs_by_block", 3),
        path("/api/v2/scan/transactions?fromBlock=0".into(), "transactions", 3),
        path("/api/v2/transactions".into(), "transactions", 3),
    ]
}

/// How long a statement that has answered may take to be in the log.
const LOGGED: Duration = Duration::from_secs(5);

/// The shards on which rows of the table of a read were read.
fn shards_read(cluster: &Cluster, api: &str, read: &Read) -> anyhow::Result<BTreeSet<usize>> {
    let log = |node: usize, sql: &str| env::sql_at(&cluster.nodes[node].url, "default", sql);
    let since = log(0, "SELECT now64(6)")?;
    let answer = ask(api, &read.question);
    ensure!(!answer.is_error(), "{:?}: {answer:?}", read.question);
    let reads = format!(
        "SELECT count() > 0 FROM system.query_log
         WHERE type = 'QueryFinish' AND has(tables, 'distributed_local.{}') AND (read_rows > 0 OR is_initial_query = 0)
           AND event_time_microseconds >= '{since}'",
        read.table
    );
    let mut shards = BTreeSet::new();
    let deadline = Instant::now() + LOGGED;
    // A statement is logged when it has ended, which may be after its answer is there.
    while shards.len() < read.shards && Instant::now() < deadline {
        for node in 0..cluster.shards() {
            log(node, "SYSTEM FLUSH LOGS")?;
            if log(node, &reads)? == "1" {
                shards.insert(node);
            }
        }
    }
    Ok(shards)
}

/// The busiest address of a table on each shard, and a value of `path` with it.
fn addresses(cluster: &Cluster, table: &str, path: &str) -> anyhow::Result<Vec<String>> {
    let shard = format!("modulo(cityHash64(address), {})", cluster.shards());
    let busiest = format!(
        "SELECT '0x' || lower(hex(address)) || {path} AS value FROM {table} GROUP BY address
         ORDER BY {shard}, count() DESC LIMIT 1 BY {shard}"
    );
    let addresses = env::sql_at(&cluster.nodes[0].url, Cluster::SINGLE, &busiest)?;
    ensure!(addresses.lines().count() > 1, "{table} on several shards: {addresses}");
    Ok(addresses.lines().map(str::to_owned).collect())
}

pub fn each_read_asks_the_shards_it_needs(cluster: &Cluster) -> anyhow::Result<()> {
    let url = &cluster.nodes[0].url;
    let api = env::start_api_at(url, Cluster::DISTRIBUTED, &["--cache-size", "0", "--settled-cache-size", "0"])?;
    let mut reads = scans();
    for contract in addresses(cluster, "logs", "''")? {
        reads.extend(of_an_address(&contract));
    }
    let of_a_token = "'/token-transfers?token=0x' || lower(hex(any(token_address)))";
    for list in addresses(cluster, "token_transfers_by_token", of_a_token)? {
        reads.push(path(format!("/api/v2/addresses/{list}"), "token_transfers_by_token", 1));
    }
    // Blocks of three shards, with logs and frames.
    let blocks = "SELECT block_number, '0x' || lower(hex(any(block_hash))), '0x' || lower(hex(any(hash)))
                  FROM transactions
                  WHERE logs_count > 0 GROUP BY block_number ORDER BY block_number LIMIT 1 BY intDiv(block_number, 7) LIMIT 3";
    let blocks = env::sql_at(url, Cluster::SINGLE, blocks)?;
    ensure!(blocks.lines().count() == 3, "{blocks}");
    for block in blocks.lines() {
        let [number, hash, transaction] =
            block.split('\t').collect::<Vec<_>>().try_into().ok().context("three columns")?;
        reads.extend(lookups(number, hash, transaction));
    }
    let mut wrong = Vec::new();
    // Lists of reads of a shard have odd lengths: half of all reads are some of each kind.
    for read in reads.iter().step_by(env::amount(2, 1)) {
        let shards = shards_read(cluster, &api.url, read)?;
        if shards.len() != read.shards {
            wrong.push(format!("{:?}: {} of {:?}, expected {}", read.question, read.table, shards, read.shards));
        }
    }
    ensure!(wrong.is_empty(), "{} of {} reads\n{}", wrong.len(), reads.len(), wrong.join("\n"));
    api.stop()?;
    Ok(())
}
