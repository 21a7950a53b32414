//! Blocks that are not settled are answered from memory as from their tables: two APIs of one database, one of which
//! keeps no block in memory, get the same requests about every one of them.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::follow::{hashes, reaches, started, tip};
use crate::dice::Dice;
use crate::env;
use crate::pages::busiest;

const DATABASE: &str = "in_memory";

/// A column of a hot table, each value once.
fn column(table: &str, column: &str) -> anyhow::Result<Vec<String>> {
    let sql = format!("SELECT DISTINCT '0x' || lower(hex({column})) FROM {table} ORDER BY 1");
    Ok(env::sql(DATABASE, &sql)?.lines().map(str::to_owned).collect())
}

/// Paths of lists, each with filters.
fn paths() -> anyhow::Result<Vec<String>> {
    let mut paths: Vec<String> =
        ["block", "uncle", "reorg"].iter().map(|kind| format!("/api/v2/blocks?type={kind}&items_count=50")).collect();
    for kind in ["transactions", "token-transfers", "internal-transactions", "withdrawals"] {
        paths.push(format!("/api/v2/{kind}?items_count=100"));
        paths.push(format!("/api/v2/{kind}?items_count=7"));
    }
    let figures = ["withdrawals/counters", "stats", "stats/charts/transactions", "transactions/stats"];
    paths.extend(figures.map(|path| format!("/api/v2/{path}")));
    paths.extend(["blocks", "transactions", "indexing-status"].map(|path| format!("/api/v2/main-page/{path}")));
    for height in [25, 40, 54] {
        paths.push(format!("/api?module=block&action=getblocktxnscount&blockno={height}"));
    }
    paths.push("/api/v2/stats/activity?resolution=YEAR".into());
    paths.push("/api/v2/stats/activity/failures".into());
    for address in busiest(DATABASE, "hot_internal_transactions_by_address", env::amount(1, 6))? {
        paths.push(format!("/api/v2/addresses/{address}/counters"));
        paths.push(format!("/api/v2/addresses/{address}/activity/methods"));
        paths.push(format!("/api/v2/addresses/{address}/activity/counterparties"));
        paths.push(format!("/api/v2/addresses/{address}/activity/coins"));
        paths.push(format!("/api/v2/addresses/{address}/activity/failures"));
        paths.push(format!("/api/v2/addresses/{address}/transactions?order=asc&items_count=5"));
        paths.push(format!("/api/v2/addresses/{address}/transactions?order=asc&block_number=24&index=-1"));
        for by in ["value", "fee&order=asc", "fee&filter=to&items_count=4"] {
            paths.push(format!("/api/v2/addresses/{address}/transactions?sort={by}"));
        }
        for filter in ["", "filter=from", "filter=to", "items_count=3"] {
            paths.push(format!("/api/v2/addresses/{address}/internal-transactions?{filter}"));
            paths.push(format!("/api/v2/addresses/{address}/transactions?{filter}"));
        }
        for page in ["sort=asc", "sort=desc", "page=2&offset=3&sort=desc", "startblock=30&filterby=to"] {
            for action in ["txlist", "txlistinternal", "tokentx", "tokennfttx"] {
                paths.push(format!("/api?module=account&action={action}&address={address}&{page}"));
            }
        }
        for action in ["txlist", "txlistinternal", "tokentx"] {
            paths.push(format!("/api?module=account&action={action}&from={address}&fromto_opr=or&sort=asc"));
        }
        for side in ["address", "fromAddress", "toAddress"] {
            paths.push(format!("/api/v2/scan/internal-transactions?{side}={address}&fromBlock=0"));
            paths.push(format!("/api/v2/scan/transactions?{side}={address}&fromBlock=0"));
        }
    }
    for miner in column("hot_blocks", "miner")?.iter().take(env::amount(1, 4)) {
        paths.push(format!("/api/v2/addresses/{miner}/blocks-validated"));
        paths.push(format!("/api/v2/addresses/{miner}/blocks-validated?items_count=3"));
        paths.push(format!("/api/v2/addresses/{miner}/counters"));
        paths.push(format!("/api/v2/addresses/{miner}/tabs-counters"));
        paths.push(format!("/api?module=account&action=getminedblocks&address={miner}&page=2&offset=9"));
    }
    for address in busiest(DATABASE, "hot_token_transfers", env::amount(1, 6))? {
        paths.push(format!("/api/v2/addresses/{address}"));
        paths.push(format!("/api/v2/addresses/{address}/token-balances"));
        paths.push(format!("/api/v2/addresses/{address}/tokens?items_count=2"));
        for filter in ["", "filter=from", "filter=to", "type=ERC-20", "type=ERC-721,ERC-1155", "items_count=2"] {
            paths.push(format!("/api/v2/addresses/{address}/token-transfers?{filter}"));
        }
        paths.push(format!("/api/v2/scan/token-transfers?address={address}&fromBlock=0"));
        paths.push(format!("/api?module=account&action=tokentx&address={address}"));
        paths.push(format!("/api?module=account&action=token1155tx&address={address}&sort=desc"));
    }
    for order in ["asc", "desc"] {
        let range = "startblock=28&endblock=52&offset=60";
        paths.push(format!("/api?module=account&action=txlistinternal&{range}&sort={order}"));
    }
    let (receivers, emitters) = (column("hot_withdrawals", "address")?, column("hot_logs", "address")?);
    paths.extend(receivers.iter().take(4).map(|address| format!("/api/v2/addresses/{address}/withdrawals")));
    paths.extend(emitters.iter().take(env::amount(3, usize::MAX)).flat_map(|emitter| of_emitter(emitter)));
    for topic in column("hot_logs", "topic1")?.iter().take(4) {
        paths.push(format!("/api/v2/addresses/{}/logs?topic={topic}", emitters[0]));
    }
    paths.extend(emitters.chunks(3).map(|some| format!("/api/v2/scan/logs?address={}&fromBlock=0", some.join(","))));
    paths.extend(
        ["logs", "token-transfers", "internal-transactions", "transactions"]
            .map(|kind| format!("/api/v2/scan/{kind}?fromBlock=0")),
    );
    let mut blocks = column("hot_blocks", "hash")?;
    blocks.extend(column("reorged_blocks", "hash")?);
    let blocks: Vec<String> = blocks.into_iter().step_by(env::amount(4, 1)).collect();
    paths.extend(blocks.iter().map(|hash| format!("/api/v2/blocks/{hash}")));
    paths.extend(blocks.iter().map(|hash| format!("/api/v2/blocks/{hash}/internal-transactions")));
    for hash in column("hot_transactions", "hash")?.iter().step_by(9).take(env::amount(2, 12)) {
        paths.push(format!("/api?module=account&action=txlistinternal&txhash={hash}&sort=desc"));
        paths.push(format!("/api/v2/internal-transactions?transaction_hash={hash}&items_count=3"));
        let parts = [
            "",
            "logs",
            "logs?proof=1",
            "internal-transactions",
            "token-transfers",
            "raw-trace",
            "calls",
            "summary",
            "state-changes",
        ];
        for part in parts {
            paths.push(format!("/api/v2/transactions/{hash}/{part}").trim_end_matches('/').to_owned());
        }
    }
    Ok(paths)
}

/// Paths about a contract that emits logs.
fn of_emitter(emitter: &str) -> Vec<String> {
    let mut paths: Vec<String> =
        ["", "/activity", "/counters", "/transfers", "/transfers?items_count=2", "/holders?items_count=4"]
            .map(|part| format!("/api/v2/tokens/{emitter}{part}"))
            .into();
    for part in ["activity/events", "activity/counterparties", "logs", "logs?items_count=3"] {
        paths.push(format!("/api/v2/addresses/{emitter}/{part}"));
    }
    paths.push(format!("/api/v2/smart-contracts/{emitter}/same-code"));
    paths
}

/// Calls of JSON-RPC about blocks at the head, and filters drawn at random.
fn calls(dice: &mut Dice) -> anyhow::Result<Vec<(&'static str, Value)>> {
    let (first, last) = (23_u64, 54_u64);
    let mut calls = vec![("eth_gasPrice", json!([])), ("eth_feeHistory", json!(["0x10", "latest", [10.0, 60.0]]))];
    for number in (first..=last).step_by(env::amount(5, 1)) {
        let number = format!("{number:#x}");
        calls.push(("eth_getBlockByNumber", json!([number, true])));
        calls.push(("eth_getBlockReceipts", json!([number])));
        calls.push(("eth_getUncleCountByBlockNumber", json!([number])));
    }
    for hash in column("hot_transactions", "hash")?.into_iter().step_by(env::amount(29, 5)) {
        calls.push(("eth_getTransactionReceipt", json!([hash])));
        calls.push(("eth_getTransactionByHash", json!([hash])));
    }
    calls.extend(
        column("hot_blocks", "hash")?
            .into_iter()
            .step_by(env::amount(4, 1))
            .map(|hash| ("eth_getBlockByHash", json!([hash, false]))),
    );
    calls.extend(otterscan(first, last)?);
    calls.extend(accounts(first, last)?);
    let (emitters, topics) = (column("hot_logs", "address")?, column("hot_logs", "topic0")?);
    let seconds = column("hot_logs", "topic1")?;
    for _ in 0..env::amount(15, 40) {
        let from = first + u64::from(dice.roll(20) as u32);
        let mut filter =
            json!({"fromBlock": format!("{from:#x}"), "toBlock": format!("{:#x}", from + dice.roll(20) as u64)});
        if dice.roll(2) == 0 {
            let some: Vec<&String> = (0..=dice.roll(10)).map(|_| &emitters[dice.roll(emitters.len())]).collect();
            filter["address"] = json!(some);
        }
        if dice.roll(2) == 0 {
            let first = if dice.roll(3) == 0 { Value::Null } else { json!([&topics[dice.roll(topics.len())]]) };
            filter["topics"] =
                json!([first, if dice.roll(2) == 0 { json!(&seconds[dice.roll(seconds.len())]) } else { Value::Null }]);
        }
        calls.push(("eth_getLogs", json!([filter])));
    }
    Ok(calls)
}

/// Questions about accounts that blocks which are not settled change, and others, at several heights.
fn accounts(first: u64, last: u64) -> anyhow::Result<Vec<(&'static str, Value)>> {
    let mut calls = Vec::new();
    let changed =
        ["hot_balance_history", "hot_nonce_history", "hot_code_history"].map(|table| column(table, "address"));
    let mut addresses: Vec<String> = changed.into_iter().collect::<anyhow::Result<Vec<_>>>()?.concat();
    ensure!(!addresses.is_empty(), "no block changes an account");
    addresses.sort_unstable();
    addresses.dedup();
    addresses.push(format!("0x{}", "12".repeat(20)));
    for address in addresses.iter().step_by(env::amount(11, 2)) {
        for height in [first, last - 20, last - 1, last].map(|height| format!("{height:#x}")) {
            calls.push(("eth_getBalance", json!([address, height])));
            calls.push(("eth_getTransactionCount", json!([address, height])));
        }
        calls.push(("eth_getCode", json!([address, "latest"])));
    }
    Ok(calls)
}

/// Calls of Otterscan about blocks from `first` to `last`.
fn otterscan(first: u64, last: u64) -> anyhow::Result<Vec<(&'static str, Value)>> {
    let mut calls = Vec::new();
    for number in (first..=last).step_by(env::amount(8, 3)) {
        calls.push(("ots_getBlockDetails", json!([number])));
        calls.push(("ots_getBlockTransactions", json!([number, 0, 5])));
    }
    for hash in column("hot_transactions", "hash")?.into_iter().step_by(env::amount(29, 5)) {
        calls.push(("ots_getInternalOperations", json!([hash])));
        calls.push(("ots_traceTransaction", json!([hash])));
        calls.push(("ots_getTransactionError", json!([hash])));
    }
    let traced = busiest(DATABASE, "hot_internal_transactions_by_address", env::amount(2, 5))?;
    for address in column("hot_transactions", "from_address")?.into_iter().take(env::amount(1, 3)).chain(traced) {
        for (block, size) in [(0, 3), (first + 9, 4), (last - 3, 1), (0, 100)] {
            calls.push(("ots_searchTransactionsBefore", json!([address, block, size])));
            calls.push(("ots_searchTransactionsAfter", json!([address, block, size])));
        }
        calls.extend((0..40).step_by(9).map(|nonce| ("ots_getTransactionBySenderAndNonce", json!([address, nonce]))));
        calls.push(("ots_getContractCreator", json!([address])));
    }
    Ok(calls)
}

/// Whether a question is asked in this turn of two. In the ordinary run each has its half of them; blocks that were
/// orphaned are listed in the second, when there are some.
fn is_of_turn(question: &str, turn: usize) -> bool {
    env::is_slow_run() || question.bytes().map(usize::from).sum::<usize>() % 2 != turn
}

/// Asks both what is of this turn; how many answers say something.
fn compare(memory: &str, tables: &str, dice: &mut Dice, turn: usize) -> anyhow::Result<usize> {
    let agent = http::agent();
    let mut telling = 0;
    for path in paths()?.into_iter().filter(|path| is_of_turn(path, turn)) {
        let [one, other] = [memory, tables].map(|api| http::get(&agent, &format!("{api}{path}")));
        let (one, other) = (one?, other?);
        ensure!(one.status == other.status && one.status < 500, "{path}: {} and {}", one.status, other.status);
        ensure!(one.text() == other.text(), "{path}:\nmemory {}\ntables {}", one.text(), other.text());
        telling += usize::from(one.text().len() > 300);
    }
    let calls = calls(dice)?;
    for (method, parameters) in calls.iter().filter(|(method, params)| is_of_turn(&format!("{method}{params}"), turn)) {
        let [one, other] =
            [memory, tables].map(|api| http::rpc(&agent, &format!("{api}/api/eth-rpc"), method, parameters));
        let (one, other) = (one?, other?);
        ensure!(one == other, "{method} {parameters}:\nmemory {one}\ntables {other}");
        telling += usize::from(one.to_string().len() > 60);
    }
    Ok(telling)
}

#[test]
fn answers_are_those_of_the_tables() -> anyhow::Result<()> {
    let (_database, node, follower, memory) = started(DATABASE, &["--head", "54", "--finality", "30"])?;
    let tables = env::start_api(DATABASE, &["--hot-memory", "0"])?;
    let mut dice = Dice(14);
    for (turn, branch) in ["main", "depth17"].into_iter().enumerate() {
        node.control(&json!({"branch": branch}))?;
        let chain = hashes(branch)?;
        reaches(&memory.url, tip(&chain))?;
        reaches(&tables.url, tip(&chain))?;
        let telling = compare(&memory.url, &tables.url, &mut dice, turn).with_context(|| branch.to_owned())?;
        ensure!(telling > env::amount(40, 100), "only {telling} answers say anything");
    }
    let gauge = |api: &str, name: &str| -> anyhow::Result<f64> {
        let text = http::get(&http::agent(), &format!("{api}/metrics"))?.text();
        let line = text.lines().find(|line| line.starts_with(name)).with_context(|| format!("no {name}"))?;
        Ok(line.rsplit(' ').next().unwrap_or_default().parse()?)
    };
    ensure!(gauge(&memory.url, "trawl_newest_blocks{place=\"memory\"}")? >= 20.0);
    ensure!(gauge(&tables.url, "trawl_newest_blocks{place=\"tables\"}")? >= 20.0);
    follower.stop()
}
