//! Wide answers: every log of the busiest contract, through Trawl in several formats and straight from the engine.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::process::Server;

use crate::{Flags, LOGS_PER_BLOCK, Store};

/// One answer read to its end and not kept.
struct Whole {
    first_byte: f64,
    total: f64,
    bytes: u64,
}

/// A leg: what is asked, and how.
enum Leg {
    /// The statement of the scan, in a format of the engine, on one thread.
    Engine(&'static str),
    /// `GET /api/v2/logs` in a format.
    Scan(&'static str),
    /// eth_getLogs without a cap.
    Rpc,
}

const LEGS: [(&str, Leg); 9] = [
    ("raw Native", Leg::Engine("Native")),
    ("raw ArrowStream", Leg::Engine("ArrowStream")),
    ("raw JSON made in SQL", Leg::Engine("JSONEachRow")),
    ("trawl arrow", Leg::Scan("arrow")),
    ("trawl ndjson", Leg::Scan("ndjson")),
    ("trawl json", Leg::Scan("json")),
    ("trawl csv", Leg::Scan("csv")),
    ("trawl parquet", Leg::Scan("parquet")),
    ("trawl eth_getLogs", Leg::Rpc),
];

/// Reads all logs of the busiest contract over every leg in turn.
pub fn scans(store: &Store, api: &Server, flags: &Flags) -> anyhow::Result<()> {
    let busiest = store
        .text("SELECT lower(hex(address)), count() FROM logs GROUP BY address ORDER BY count() DESC LIMIT 1", &[])?;
    let (address, count) = busiest.split_once('\t').context("a busiest contract")?;
    let (count, last) = (count.parse::<f64>()?, (flags.logs - 1) / LOGS_PER_BLOCK);
    println!("all {count} logs of one contract of {} logs, {} rounds", flags.logs, flags.rounds);
    let mut legs: BTreeMap<usize, Vec<Whole>> = BTreeMap::new();
    let before = resident(api)?;
    for round in 0..=flags.rounds {
        for (position, (name, leg)) in LEGS.iter().enumerate() {
            let read = leg.read(store, &api.url, address, last).with_context(|| (*name).to_owned())?;
            // The first round warms the caches.
            if round > 0 {
                legs.entry(position).or_default().push(read);
            }
        }
    }
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>10} {:>10} {:>8}",
        "leg", "median s", "min s", "max s", "Mlogs/s", "first ms", "MB"
    );
    let mut medians = BTreeMap::new();
    for (position, mut reads) in legs {
        reads.sort_by(|one, other| one.total.total_cmp(&other.total));
        let (name, middle) = (LEGS[position].0, &reads[reads.len() / 2]);
        let (least, most) = (reads[0].total, reads[reads.len() - 1].total);
        let mut first: Vec<f64> = reads.iter().map(|read| read.first_byte).collect();
        first.sort_by(f64::total_cmp);
        let (rate, first) = (count / middle.total / 1e6, first[first.len() / 2] * 1e3);
        println!(
            "{name:<22} {:>9.2} {least:>9.2} {most:>9.2} {rate:>10.3} {first:>10.1} {:>8.0}",
            middle.total,
            middle.bytes as f64 / 1e6
        );
        medians.insert(name, (middle.total, first / 1e3));
    }
    let ratio = |over: &str, under: &str| medians[under].0 / medians[over].0;
    println!("eth_getLogs, logs/s over raw Native:       {:.2}", ratio("trawl eth_getLogs", "raw Native"));
    println!("ndjson, logs/s over raw Native:            {:.2}", ratio("trawl ndjson", "raw Native"));
    println!("eth_getLogs, logs/s over JSON made in SQL: {:.2}", ratio("trawl eth_getLogs", "raw JSON made in SQL"));
    println!("arrow, logs/s over the engine's Arrow:     {:.2}", ratio("trawl arrow", "raw ArrowStream"));
    let (total, first) = medians["trawl eth_getLogs"];
    println!("first byte / total, eth_getLogs:           {:.4}", first / total);
    println!("memory of trawl-api before and most, MiB:  {:.0} {:.0}", before.0, resident(api)?.1);
    Ok(())
}

impl Leg {
    fn read(&self, store: &Store, api: &str, address: &str, last: u64) -> anyhow::Result<Whole> {
        let agent = &store.agent;
        let started = Instant::now();
        let response = match self {
            Self::Engine(format) => {
                let sql = if *format == "JSONEachRow" { JSON_IN_SQL } else { ALL };
                let request = agent.post(&store.url).query("database", "trawl").query("default_format", *format);
                let request = request.query("param_address", address).query("max_threads", "1");
                request
                    .query("output_format_arrow_string_as_string", "0")
                    .query("output_format_arrow_compression_method", "none")
                    .send(sql)?
            }
            Self::Scan(format) => agent
                .get(format!("{api}/api/v2/logs?address=0x{address}&fromBlock=0&toBlock={last}&format={format}"))
                .header("accept-encoding", "identity")
                .call()?,
            Self::Rpc => {
                let filter =
                    json!({"address": format!("0x{address}"), "fromBlock": "0x0", "toBlock": format!("{last:#x}")});
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [filter]});
                let request = agent.post(format!("{api}/api/eth-rpc")).header("accept-encoding", "identity");
                request.send(body.to_string())?
            }
        };
        ensure!(response.status() == 200, "HTTP {}", response.status());
        let mut body = response.into_body().into_with_config().limit(u64::MAX).reader();
        let (mut piece, mut bytes, mut first_byte) = (vec![0; 1 << 18], 0, 0.);
        loop {
            let count = body.read(&mut piece)?;
            if bytes == 0 {
                first_byte = started.elapsed().as_secs_f64();
            }
            bytes += count as u64;
            if count == 0 {
                break;
            }
        }
        ensure!(bytes > 1_000_000, "only {bytes} bytes");
        Ok(Whole { first_byte, total: started.elapsed().as_secs_f64(), bytes })
    }
}

/// What the scan reads, with its columns.
const ALL: &str = "SELECT address, block_number, log_index, transaction_index, transaction_hash, block_hash, block_timestamp, \
                   topics_count, topic0, topic1, topic2, topic3, data FROM logs \
                   WHERE address = toFixedString(unhex({address:String}), 20) ORDER BY block_number, log_index";

/// The members of eth_getLogs, made by the engine.
const JSON_IN_SQL: &str = "SELECT concat('0x', lower(hex(address))) AS address, \
    arraySlice([concat('0x', lower(hex(topic0))), concat('0x', lower(hex(topic1))), concat('0x', lower(hex(topic2))), concat('0x', lower(hex(topic3)))], 1, topics_count) AS topics, \
    concat('0x', lower(hex(data))) AS data, concat('0x', lower(hex(block_number))) AS blockNumber, \
    concat('0x', lower(hex(transaction_hash))) AS transactionHash, concat('0x', lower(hex(transaction_index))) AS transactionIndex, \
    concat('0x', lower(hex(block_hash))) AS blockHash, concat('0x', lower(hex(toUnixTimestamp(block_timestamp)))) AS blockTimestamp, \
    concat('0x', lower(hex(log_index))) AS logIndex, false AS removed FROM logs \
    WHERE address = toFixedString(unhex({address:String}), 20) ORDER BY block_number, log_index";

/// Memory of a process in MiB: now, and the most there was.
fn resident(server: &Server) -> anyhow::Result<(f64, f64)> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id()))?;
    let value = |name: &str| -> Option<f64> {
        status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
    };
    Ok((value("VmRSS:").context("VmRSS")? / 1024., value("VmHWM:").context("VmHWM")? / 1024.))
}
