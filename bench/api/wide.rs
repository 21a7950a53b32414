//! The wide answer: every log of the busiest contract, over every leg in turn.

use std::collections::BTreeMap;

use anyhow::ensure;
use serde_json::json;

use crate::bed::TestBed;
use crate::client::{Client, FullAnswer, Request};
use crate::duckdb::Duckdb;
use crate::leg::{Leg, median};
use crate::store::Store;
use crate::{processes, sql};

/// A contract and how many logs it has.
#[derive(Debug, Clone)]
pub struct Contract {
    /// 40 hexadecimal digits without `0x`.
    pub address: String,
    /// How many logs it emitted.
    pub logs: f64,
}

/// The contract with the most logs.
pub fn busiest(store: &Store) -> anyhow::Result<Contract> {
    let sql = "SELECT lower(hex(address)), count() FROM logs GROUP BY address ORDER BY count() DESC LIMIT 1";
    let text = store.text(sql, &[])?;
    let Some((address, count)) = text.split_once('\t') else { anyhow::bail!("there are no logs") };
    Ok(Contract { address: address.into(), logs: count.parse()? })
}

/// eth_getLogs of a contract in blocks 0 to `last`. `path`: where the method is served.
pub fn get_logs(url: &str, path: &str, address: &str, last: u64) -> Request {
    let filter = json!({"address": format!("0x{address}"), "fromBlock": "0x0", "toBlock": format!("{last:#x}")});
    rpc(url, path, &filter)
}

/// eth_getLogs with a filter.
pub fn rpc(url: &str, path: &str, filter: &serde_json::Value) -> Request {
    Request::post(
        url,
        path,
        json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [filter]}).to_string(),
    )
}

/// How a leg is queried.
pub enum Peer<'a> {
    /// Over HTTP; these processes do the work.
    Http(Request, Vec<u32>),
    /// By DuckDB in Python.
    Duckdb(&'a mut Duckdb),
}

/// A leg of the wide answer.
pub struct WideQuery<'a> {
    name: String,
    peer: Peer<'a>,
    /// Logs of its answer: anvil has fewer than the others.
    logs: f64,
}

impl<'a> WideQuery<'a> {
    /// A leg whose answer has `logs` logs.
    pub fn new(name: impl Into<String>, logs: f64, peer: Peer<'a>) -> Self {
        Self { name: name.into(), peer, logs }
    }

    fn read(&mut self, client: &Client) -> anyhow::Result<FullAnswer> {
        match &mut self.peer {
            Peer::Http(request, _) => {
                let whole = client.drain(request)?;
                ensure!(whole.bytes as f64 > 50. * self.logs, "{}: only {} bytes", self.name, whole.bytes);
                Ok(whole)
            }
            Peer::Duckdb(duckdb) => duckdb.wide(self.logs),
        }
    }

    fn cpu(&self) -> anyhow::Result<Option<f64>> {
        match &self.peer {
            Peer::Http(_, processes) if !processes.is_empty() => processes::cpu_seconds(processes).map(Some),
            _ => Ok(None),
        }
    }
}

/// The legs that need nothing but the engine and the API.
pub fn own_legs<'a>(bed: &TestBed, api: (&str, u32), contract: &Contract) -> Vec<WideQuery<'a>> {
    let engine = bed.engine_id();
    let parameters = [("address", contract.address.clone())];
    let raw = |sql: &str, format: &str| {
        Peer::Http(sql::raw(&bed.store, sql, &parameters, format, &[("max_threads", "1")]), vec![engine])
    };
    let last = bed.last_block();
    let scan = |format: &str| {
        let path =
            format!("/api/v2/scan/logs?address=0x{}&fromBlock=0&toBlock={last}&format={format}", contract.address);
        Peer::Http(Request::get(api.0, &path), vec![engine, api.1])
    };
    let rpc = Peer::Http(get_logs(api.0, "/api/eth-rpc", &contract.address, last), vec![engine, api.1]);
    let legs = [
        (RAW_NATIVE, raw(ALL, "Native")),
        (RAW_ARROW, raw(ALL, "ArrowStream")),
        (SQL_JSON, raw(JSON_IN_SQL, "RawBLOB")),
        (TRAWL_RPC, rpc),
        ("Trawl ndjson", scan("ndjson")),
        (TRAWL_ARROW, scan("arrow")),
        ("Trawl csv", scan("csv")),
        ("Trawl parquet", scan("parquet")),
    ];
    legs.into_iter().map(|(name, peer)| WideQuery::new(name, contract.logs, peer)).collect()
}

/// Names that ratios are made of.
pub const RAW_NATIVE: &str = "raw engine, Native";
/// The engine's own Arrow stream.
pub const RAW_ARROW: &str = "raw engine, ArrowStream";
/// JSON by the engine.
pub const SQL_JSON: &str = "JSON made in ClickHouse SQL";
/// `eth_getLogs` of trawl-api.
pub const TRAWL_RPC: &str = "Trawl eth_getLogs";
/// Arrow from a wide scan of trawl-api.
pub const TRAWL_ARROW: &str = "Trawl arrow";

/// Reads all legs in turn, after a round that warms up. Samples are thousands of logs a second.
pub fn measure(client: &Client, queries: &mut [WideQuery<'_>], rounds: usize) -> anyhow::Result<Vec<Leg>> {
    let mut legs: Vec<Leg> = queries.iter().map(|query| Leg::new(&query.name)).collect();
    let mut figures: BTreeMap<(usize, &str), Vec<f64>> = BTreeMap::new();
    for round in 0..=rounds {
        for (number, query) in queries.iter_mut().enumerate() {
            let before = query.cpu()?;
            let whole = query.read(client)?;
            let after = query.cpu()?;
            if round == 0 {
                continue;
            }
            legs[number].samples.push(query.logs / whole.total / 1e3);
            let mut note = |name, value| figures.entry((number, name)).or_default().push(value);
            note(FIRST_BYTE, whole.first_byte * 1e3);
            note(FIRST_SHARE, whole.first_byte / whole.total);
            note(LENGTH, whole.bytes as f64 / query.logs);
            if let (Some(before), Some(after)) = (before, after) {
                note(CPU, (after - before) / query.logs * 1e6);
            }
        }
    }
    for ((number, name), values) in figures {
        legs[number].figures.insert(name.into(), median(&values));
    }
    Ok(legs)
}

/// Milliseconds from the request to the first byte.
pub const FIRST_BYTE: &str = "first byte, ms";
/// Of the whole time.
pub const FIRST_SHARE: &str = "first byte / total";
/// Of the answer.
pub const LENGTH: &str = "bytes a log";
/// Processor time of everything that serves.
pub const CPU: &str = "CPU s / M logs";

/// What the scan reads, with its columns.
const ALL: &str = "SELECT address, block_number, log_index, transaction_index, transaction_hash, block_hash, block_timestamp, \
                   topics_count, topic0, topic1, topic2, topic3, data FROM logs \
                   WHERE address = toFixedString(unhex({address:String}), 20) ORDER BY block_number, log_index";

/// The members of eth_getLogs, made by the engine in the cheapest way it has: one text a row, written as it is.
const JSON_IN_SQL: &str = "WITH x -> concat('\"0x', lower(hex(x)), '\"') AS text, \
        n -> concat('\"0x', lower(hex(n)), '\"') AS quantity \
    SELECT concat('{\"address\":', text(address), ',\"topics\":[', \
        multiIf(topics_count = 0, '', topics_count = 1, text(topic0), topics_count = 2, concat(text(topic0), ',', text(topic1)), \
            topics_count = 3, concat(text(topic0), ',', text(topic1), ',', text(topic2)), \
            concat(text(topic0), ',', text(topic1), ',', text(topic2), ',', text(topic3))), \
        '],\"data\":', text(data), ',\"blockNumber\":', quantity(block_number), \
        ',\"transactionHash\":', text(transaction_hash), ',\"transactionIndex\":', quantity(transaction_index), \
        ',\"blockHash\":', text(block_hash), ',\"blockTimestamp\":', quantity(toUnixTimestamp(block_timestamp)), \
        ',\"logIndex\":', quantity(log_index), ',\"removed\":false},') FROM logs \
    WHERE address = toFixedString(unhex({address:String}), 20) ORDER BY block_number, log_index";
