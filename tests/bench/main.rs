//! Measurements over generated logs, as ratios between legs that take turns in one run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use trawl::primitives::{Address, BlockRange, LogFilter, LogPosition};
use trawl::query::logs::LogPage;
use trawl::statement::{Parameter, Statement};
use xtask::process::{self, Server};
use xtask::{engine_library, http, workspace};

mod scans;

#[derive(Debug, Parser)]
struct Flags {
    /// What is measured.
    #[arg(long, value_enum, default_value_t = Subject::Pages)]
    subject: Subject,
    /// Generated logs.
    #[arg(long, default_value_t = 20_000_000)]
    logs: u64,
    /// Measurements of each leg.
    #[arg(long, default_value_t = 200)]
    rounds: u32,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Pages of eth_getLogs.
    Pages,
    /// Answers of all logs of a contract.
    Scans,
}

/// Logs in a generated block.
const LOGS_PER_BLOCK: u64 = 175;
/// Logs of a page of eth_getLogs.
const PAGE: u64 = 1000;

fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let data = workspace::target().join("bench").join(format!("logs-{}", flags.logs));
    let engine = start_engine(&data)?;
    // Filling and merging tables takes as long as it takes.
    let patient = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let store = Store { agent: patient, url: engine.url.clone() };
    if !data.join("complete").exists() {
        generate(&store, flags.logs)?;
        std::fs::write(data.join("complete"), "")?;
    }
    let api = start_api(&engine.url, flags.subject)?;
    match flags.subject {
        Subject::Pages => pages(&store, &api.url, &flags)?,
        Subject::Scans => scans::scans(&store, &api, &flags)?,
    }
    api.stop()?;
    engine.stop()?;
    Ok(())
}

fn start_engine(data: &PathBuf) -> anyhow::Result<Server> {
    let mut command = Command::new(workspace::program("release", "trawl-engine"));
    command.arg("--data-dir").arg(data).args(["--listen", "127.0.0.1:0", "--library"]).arg(engine_library::ensure()?);
    Server::start(command)
}

fn start_api(engine: &str, subject: Subject) -> anyhow::Result<Server> {
    let mut command = Command::new(workspace::program("release", "trawl-api"));
    let api = Server::start({
        command.args(["--listen", "127.0.0.1:0", "--clickhouse-url", engine]);
        if subject == Subject::Scans {
            command.args(["--max-logs", "0"]);
        }
        command
    })?;
    let agent = http::agent();
    while http::get(&agent, &format!("{}/health/ready", api.url))?.status != 200 {
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(api)
}

/// The engine, asked without Trawl in between.
struct Store {
    agent: ureq::Agent,
    url: String,
}

impl Store {
    fn query(&self, sql: &str, parameters: &[(&str, String)], format: &str) -> anyhow::Result<Vec<u8>> {
        let mut request = self.agent.post(&self.url).query("database", "trawl").query("default_format", format);
        for (name, value) in parameters {
            request = request.query(format!("param_{name}"), value);
        }
        for (name, value) in SETTINGS {
            request = request.query(name, value);
        }
        let mut response = request.send(sql)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
        ensure!(status == 200, "{}", String::from_utf8_lossy(&body));
        Ok(body)
    }

    fn text(&self, sql: &str, parameters: &[(&str, String)]) -> anyhow::Result<String> {
        Ok(String::from_utf8(self.query(sql, parameters, "TSV")?)?.trim_end().to_owned())
    }
}

/// The format settings that the API uses, so that both legs move the same bytes.
const SETTINGS: [(&str, &str); 3] = [
    ("output_format_arrow_string_as_string", "0"),
    ("output_format_arrow_compression_method", "none"),
    ("output_format_arrow_low_cardinality_as_dictionary", "0"),
];

/// Fills the log tables and commits them.
fn generate(store: &Store, logs: u64) -> anyhow::Result<()> {
    let started = Instant::now();
    process::run(Command::new(workspace::program("release", "trawl-ingest")).args([
        "migrate",
        "--clickhouse-url",
        &store.url,
    ]))?;
    // Whole blocks, so that copying them by block repeats none.
    let step = 5_000_100;
    for first in (0..logs).step_by(step) {
        let count = (logs - first).min(step as u64);
        store.text(include_str!("generate_logs.sql"), &[("first", first.to_string()), ("count", count.to_string())])?;
        let blocks = [
            ("first", (first / LOGS_PER_BLOCK).to_string()),
            ("last", ((first + count - 1) / LOGS_PER_BLOCK).to_string()),
        ];
        store.text(
            "INSERT INTO logs SELECT * FROM logs_by_block WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}",
            &blocks,
        )?;
        eprintln!("generated {} of {logs} logs in {:.0} s", first + count, started.elapsed().as_secs_f64());
    }
    for table in ["logs", "logs_by_block"] {
        store.text(&format!("OPTIMIZE TABLE {table} FINAL"), &[])?;
    }
    let last = (logs - 1) / LOGS_PER_BLOCK;
    let commit = "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, logs, source, run) \
                  SELECT 0, {last:UInt64}, ['blocks', 'transactions', 'withdrawals', 'uncles', 'receipts'], 1, {logs:UInt64}, 'generated', 'bench'";
    store.text(commit, &[("last", last.to_string()), ("logs", logs.to_string())])?;
    eprintln!("ready after {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Pages of the busiest contract: through Trawl, and the same statement sent to the engine.
fn pages(store: &Store, api: &str, flags: &Flags) -> anyhow::Result<()> {
    let busiest = store
        .text("SELECT lower(hex(address)), count() FROM logs GROUP BY address ORDER BY count() DESC LIMIT 1", &[])?;
    let (address, count) = busiest.split_once('\t').context("a busiest contract")?;
    let deepest = (count.parse::<u64>()? / PAGE).min(10_000);
    let last = (flags.logs - 1) / LOGS_PER_BLOCK;
    println!(
        "{} logs; the busiest contract has {count}; page 1 and page {deepest} of {PAGE} logs, {} rounds",
        flags.logs, flags.rounds
    );
    let mut legs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let deep = page_cursor(store, address, deepest)?;
    for round in 0..flags.rounds + 5 {
        for (name, after) in [("page 1", None), ("deep page", Some(deep))] {
            let raw = time(|| raw_page(store, address, last, after))?;
            let served = time(|| served_page(store, api, address, last, after))?;
            // The first rounds warm the caches of both.
            if round >= 5 {
                legs.entry(if name == "page 1" { "raw, page 1" } else { "raw, deep page" }).or_default().push(raw);
                legs.entry(if name == "page 1" { "trawl, page 1" } else { "trawl, deep page" })
                    .or_default()
                    .push(served);
            }
        }
    }
    println!("{:<18} {:>9} {:>9} {:>9}", "leg", "median ms", "min ms", "p95 ms");
    let mut medians = BTreeMap::new();
    for (name, mut times) in legs {
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] * 1e3;
        println!("{name:<18} {:>9.2} {:>9.2} {:>9.2}", at(0.5), at(0.0), at(0.95));
        medians.insert(name, at(0.5));
    }
    let ratio = |over: &str, under: &str| medians[over] / medians[under];
    println!("trawl / raw, page 1:     {:.2}", ratio("trawl, page 1", "raw, page 1"));
    println!("trawl / raw, deep page:  {:.2}", ratio("trawl, deep page", "raw, deep page"));
    println!("deep page / page 1, trawl: {:.2}", ratio("trawl, deep page", "trawl, page 1"));
    println!("deep page / page 1, raw:   {:.2}", ratio("raw, deep page", "raw, page 1"));
    Ok(())
}

fn time(work: impl FnOnce() -> anyhow::Result<usize>) -> anyhow::Result<f64> {
    let started = Instant::now();
    let rows = work()?;
    let elapsed = started.elapsed().as_secs_f64();
    ensure!(rows > 100_000, "a page of a thousand logs has more than {rows} bytes");
    Ok(elapsed)
}

/// The last log of the page before page `number`.
fn page_cursor(store: &Store, address: &str, number: u64) -> anyhow::Result<LogPosition> {
    let sql = "SELECT block_number, log_index FROM logs WHERE address = toFixedString(unhex({address:String}), 20) \
               ORDER BY block_number, log_index LIMIT 1 OFFSET {offset:UInt64}";
    let offset = ((number - 1) * PAGE - 1).to_string();
    let key = store.text(sql, &[("address", address.into()), ("offset", offset)])?;
    let (block, log) = key.split_once('\t').context("the page exists")?;
    Ok(LogPosition { block_number: block.parse()?, log_index: log.parse()? })
}

fn statement(address: &str, last: u64, after: Option<LogPosition>) -> anyhow::Result<Statement<trawl::schema::LogRow>> {
    let filter = LogFilter { addresses: vec![address.parse::<Address>()?], topics: Vec::new() };
    let blocks = vec![BlockRange::new(0, last).context("ordered")?];
    Ok(LogPage::new(filter, blocks, PAGE).after(after).statement())
}

fn raw_page(store: &Store, address: &str, last: u64, after: Option<LogPosition>) -> anyhow::Result<usize> {
    let statement = statement(address, last, after)?;
    let settings: Vec<String> = statement.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let sql = format!("{}\nSETTINGS {}", statement.sql, settings.join(", "));
    let text = |parameter: &Parameter| match parameter {
        Parameter::Number(number) => number.to_string(),
        Parameter::Text(text) => text.clone(),
        other => format!("{other:?}"),
    };
    let parameters: Vec<(&str, String)> =
        statement.parameters.iter().map(|(name, value)| (name.as_ref(), text(value))).collect();
    Ok(store.query(&sql, &parameters, "ArrowStream")?.len())
}

fn served_page(
    store: &Store,
    api: &str,
    address: &str,
    last: u64,
    after: Option<LogPosition>,
) -> anyhow::Result<usize> {
    let mut filter = json!({"address": format!("0x{address}"), "fromBlock": "0x0", "toBlock": format!("{last:#x}")});
    if let Some(after) = after {
        filter["paging_options"] =
            json!({"blockNumber": format!("{:#x}", after.block_number), "logIndex": format!("{:#x}", after.log_index)});
    }
    let body: Value = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [filter]});
    let answer = http::post(&store.agent, &format!("{api}/api/eth-rpc"), &serde_json::to_vec(&body)?)?;
    ensure!(answer.status == 200 && !answer.body.starts_with(br#"{"jsonrpc":"2.0","error""#), "{}", answer.text());
    Ok(answer.body.len())
}
