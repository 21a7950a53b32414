//! Calls that read many slots, over a large history of storage: what is not in memory yet, and what is.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::Parser;
use serde_json::{Value, json};
use xtask::process::{self, Server};
use xtask::{engine_library, http, workspace};

#[derive(Debug, Parser)]
struct Flags {
    /// Number of rows in storage_history.
    #[arg(long, default_value_t = 20_000_000)]
    rows: u64,
    /// Measurements per leg.
    #[arg(long, default_value_t = 40)]
    rounds: u64,
    /// Set by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Slots that a call reads.
const SLOTS: u64 = 300;
/// Contracts with code: one with a million rows, and as many others as there are rounds, with 12,000 rows each.
const BUSY: (u64, u64) = (50_000, 20);
const OTHERS: (u64, u64) = (3_000, 4);
/// Height of the scenario chain, on which the history is laid.
const HEAD: u64 = 91;

/// Sums `count` slots, keccak256 of start + 1 to start + count, where start and count are the two words of the input.
/// The bytes behind its end make the codes of two contracts two codes.
const SUM_OF_SLOTS: &str = "5f6020355f35015b805f5260205f2054909101906001900380\
                            5f351415600757505f5260205ff3";

fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    ensure!(flags.rounds * SLOTS < BUSY.0, "every round reads {SLOTS} slots of its own");
    let data = workspace::target().join("bench").join(format!("calls-{}-{}", flags.rows, flags.rounds));
    let engine = start_engine(&data)?;
    let store = Store {
        agent: ureq::Agent::config_builder().http_status_as_error(false).build().into(),
        url: engine.url.clone(),
    };
    if !data.join("complete").exists() {
        generate(&store, &flags)?;
        std::fs::write(data.join("complete"), "")?;
    }
    let api = start_api(&engine.url)?;
    measure(&store, &api, &flags)?;
    api.stop()?;
    engine.stop()?;
    Ok(())
}

fn start_engine(data: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(workspace::program("release", "trawl-engine"));
    command.arg("--data-dir").arg(data).args(["--listen", "127.0.0.1:0", "--library"]).arg(engine_library::ensure()?);
    Server::start(command)
}

fn start_api(engine: &str) -> anyhow::Result<Server> {
    let mut command = Command::new(workspace::program("release", "trawl-api"));
    command.args(["--listen", "127.0.0.1:0", "--clickhouse-url", engine]);
    let api = Server::start(command)?;
    let agent = http::agent();
    while http::get(&agent, &format!("{}/health/ready", api.url))?.status != 200 {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(api)
}

/// The engine, which is spoken to in SQL.
struct Store {
    agent: ureq::Agent,
    url: String,
}

impl Store {
    fn text(&self, sql: &str) -> anyhow::Result<String> {
        let answer = http::post(&self.agent, &format!("{}/?database=trawl", self.url), sql.as_bytes())?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok(answer.text().trim_end().to_owned())
    }
}

/// The address of one of the contracts.
fn contract(number: u64) -> String {
    format!("0x{}{number:04x}", "e7".repeat(18))
}

/// Loads the scenario chain with its genesis, and lays a history of storage on it that no block of it made.
fn generate(store: &Store, flags: &Flags) -> anyhow::Result<()> {
    let (started, devchain) = (Instant::now(), workspace::fixture("devchain"));
    let ingest = |arguments: &[&str]| {
        let mut command = Command::new(workspace::program("release", "trawl-ingest"));
        process::run(command.args(arguments).args(["--clickhouse-url", &store.url]))
    };
    ingest(&["migrate"])?;
    let (dump, genesis) = (devchain.join("chain.ndjson.gz"), devchain.join("genesis.json"));
    ingest(&["load", "--dump", &dump.display().to_string(), "--genesis", &genesis.display().to_string()])?;
    for number in 0..=flags.rounds {
        let (slots, changes) = if number == 0 { BUSY } else { OTHERS };
        let (address, code) = (&contract(number)[2..], format!("{SUM_OF_SLOTS}00{number:04x}"));
        store.text(&format!("INSERT INTO codes SELECT keccak256(unhex('{code}')), 0, unhex('{code}')"))?;
        store.text(&format!("INSERT INTO code_history SELECT unhex('{address}'), 0, keccak256(unhex('{code}'))"))?;
        store.text(&format!(
            "INSERT INTO storage_history SELECT unhex('{address}'), {}, intDiv(number, {slots}) * 4, {} FROM numbers({})",
            slot(&format!("1 + number % {slots}")),
            "reinterpretAsFixedString(toUInt256(rand64()))",
            slots * changes
        ))?;
    }
    let others = flags.rows.saturating_sub(BUSY.0 * BUSY.1 + flags.rounds * OTHERS.0 * OTHERS.1);
    store.text(&format!(
        "INSERT INTO storage_history SELECT \
         toFixedString(substring(reinterpretAsFixedString(toUInt256(cityHash64(number % 5000, 1)) * toUInt256('340282366920938463463374607431768211507')), 1, 20), 20), \
         {}, number % {HEAD}, reinterpretAsFixedString(toUInt256(rand64())) FROM numbers({others}) SETTINGS max_insert_threads = 2",
        slot("cityHash64(number) % 3000000")
    ))?;
    eprintln!("ready after {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// The slot of a mapping's entry, as SQL.
fn slot(number: &str) -> String {
    format!("keccak256(reverse(reinterpretAsFixedString(toUInt256({number}))))")
}

/// Asks, and returns the result and the time it took, in milliseconds.
fn ask(store: &Store, api: &Server, method: &str, params: &Value) -> anyhow::Result<(String, f64)> {
    let started = Instant::now();
    let answer = http::rpc(&store.agent, &format!("{}/api/eth-rpc", api.url), method, params)?;
    let elapsed = started.elapsed().as_secs_f64() * 1e3;
    Ok((answer["result"].as_str().with_context(|| answer.to_string())?.to_owned(), elapsed))
}

fn call(number: u64, start: u64) -> Value {
    json!([{"to": contract(number), "data": format!("0x{start:064x}{SLOTS:064x}")}, "latest"])
}

fn measure(store: &Store, api: &Server, flags: &Flags) -> anyhow::Result<()> {
    let parts = store.text(
        "SELECT count(), sum(rows) FROM system.parts WHERE active AND database = 'trawl' AND table = 'storage_history'",
    )?;
    println!("storage_history, parts and rows: {parts}; {SLOTS} slots a call, {} rounds", flags.rounds);
    // The contract is known from here on, its slots are not.
    ask(store, api, "eth_call", &call(0, BUSY.0 - SLOTS - 1))?;
    let mut legs: [(&str, Vec<f64>); 4] = [
        ("cold: slots never read", Vec::new()),
        ("cold: nor the contract", Vec::new()),
        ("warm: read before", Vec::new()),
        ("one slot never read", Vec::new()),
    ];
    for round in 0..flags.rounds {
        let (cold, elapsed) = ask(store, api, "eth_call", &call(0, round * SLOTS))?;
        check(store, &cold, round * SLOTS)?;
        legs[0].1.push(elapsed);
        legs[1].1.push(ask(store, api, "eth_call", &call(round + 1, 0))?.1);
        let (warm, elapsed) = ask(store, api, "eth_call", &call(0, round * SLOTS))?;
        ensure!(warm == cold, "the second answer is another");
        legs[2].1.push(elapsed);
        let position = json!([contract(0), format!("{:#x}", round + 1), format!("{HEAD:#x}")]);
        legs[3].1.push(ask(store, api, "eth_getStorageAt", &position)?.1);
    }
    println!("{:<24} {:>9} {:>9} {:>9}", "leg", "median ms", "min ms", "p95 ms");
    for (name, mut times) in legs {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!("{name:<24} {:>9.2} {:>9.2} {:>9.2}", at(0.5), at(0.0), at(0.95));
    }
    Ok(())
}

/// Whether a sum is that of the slots' last values.
fn check(store: &Store, sum: &str, start: u64) -> anyhow::Result<()> {
    let expected = store.text(&format!(
        "SELECT lower(hex(reverse(reinterpretAsFixedString(sum(value))))) FROM (SELECT argMax(reinterpretAsUInt256(reverse(value)), block_number) AS value \
         FROM storage_history WHERE address = unhex('{}') AND slot IN (SELECT {} FROM numbers({SLOTS})) GROUP BY slot)",
        &contract(0)[2..],
        slot(&format!("{start} + 1 + number"))
    ))?;
    ensure!(sum[2..] == expected, "{sum} instead of {expected}");
    Ok(())
}
