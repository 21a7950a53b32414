//! What reading at the head of a followed chain costs, and whether answers are right there.
//!
//! A node of a generated chain gives blocks like mainnet's to `trawl-ingest follow`, by the clock and with
//! reorganisations; clients ask an API beside it, and each answer is held against every block the node ever had.

use std::time::{Duration, Instant};

use clap::Parser;

mod answer;
mod ask;
mod bed;
mod chain;
mod clients;
mod judge;
mod legs;
mod memory;
mod metrics;
mod node;
mod pace;
mod processes;
mod recorder;
mod report;
mod sockets;
mod tally;

use bed::TestBed;
use chain::Size;
use report::Report;

/// Flags of the measurement.
#[derive(Debug, Clone, Parser)]
pub struct Flags {
    /// Parts to measure; also `attacks` for all attacks and not only the first, `lists` for pages of all lists, `disk`
    /// for the disk space of small blocks.
    #[arg(long, value_delimiter = ',', default_value = "cost,routes,idle,delay,load,merged,attack")]
    parts: Vec<String>,
    /// Only ten minutes of small blocks, one every two seconds, with 56 clients and 8 WebSockets.
    #[arg(long)]
    soak: bool,
    /// Seconds of the soak.
    #[arg(long, default_value_t = 600.)]
    soak_seconds: f64,
    /// Reorganisations in the soak [default: 36 in ten minutes].
    #[arg(long)]
    soak_reorganisations: Option<u32>,
    /// One minute: fewer rates, fewer clients, shorter measurements.
    #[arg(long)]
    short: bool,
    /// Number of blocks before measurements start.
    #[arg(long, default_value_t = 128)]
    blocks: usize,
    /// Depth below the newest block from which blocks are final; on a rollup that can be 600.
    #[arg(long, default_value_t = 32)]
    final_after: u64,
    /// Transactions per block [default: 200; 5 in the soak].
    #[arg(long)]
    transactions: Option<usize>,
    /// Logs per block [default: 500; 17 in the soak].
    #[arg(long)]
    logs: Option<usize>,
    /// Blocks per second.
    #[arg(long, value_delimiter = ',', default_value = "1,4,20")]
    rates: Vec<f64>,
    /// Numbers of concurrent clients.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    clients: Vec<usize>,
    /// Seconds per rate and number of clients.
    #[arg(long, default_value_t = 8.)]
    seconds: f64,
    /// Number of new blocks after which each route is requested.
    #[arg(long, default_value_t = 5)]
    rounds: u64,
    /// Seconds without load; blocks are settled once a minute.
    #[arg(long, default_value_t = 60.)]
    idle_seconds: f64,
    /// Seconds of an attack by sockets that never read.
    #[arg(long, default_value_t = 20.)]
    attack_seconds: f64,
    /// Maximum seconds between a head being replaced and a request that is still answered with it.
    #[arg(long, default_value_t = 3.)]
    allowed_staleness: f64,
    /// CPUs that engine, API and follow may use, as taskset takes them [default: all].
    #[arg(long)]
    cores: Option<String>,
    /// Blocks that are followed and settled at once to measure the cost of writing; 64 in the short form.
    #[arg(long, default_value_t = 256)]
    cost_blocks: u64,
    /// Blocks per second while the disk is measured.
    #[arg(long, default_value_t = 0.5)]
    disk_rate: f64,
    /// Seconds for which the disk is measured.
    #[arg(long, default_value_t = 600.)]
    disk_seconds: f64,
    /// Flag passed to trawl-api; may be repeated.
    #[arg(long, allow_hyphen_values = true)]
    api_flag: Vec<String>,
    /// Command that the report names.
    #[arg(long, default_value = "cargo xtask bench head")]
    command: String,
    /// Of which build the programs are that are measured.
    #[arg(long, hide = true, default_value = "release")]
    profile: String,
    /// Set by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Flags {
    /// Seconds between reorganisations of the soak.
    fn soak_pause(&self) -> f64 {
        self.soak_reorganisations.map_or(600. / 36., |count| self.soak_seconds / f64::from(count.max(1)))
    }
}

/// Says what goes on.
fn progress(what: &str) {
    eprintln!("bench: {what}");
}

fn main() -> anyhow::Result<()> {
    let mut flags = Flags::parse();
    if flags.short {
        flags =
            Flags { blocks: 96, rates: vec![4.], clients: vec![8], seconds: 5., rounds: 2, idle_seconds: 5., ..flags };
        flags.cost_blocks = 64;
        flags.attack_seconds = 5.;
    }
    let started = Instant::now();
    let (transactions, logs) = if flags.soak { (5, 17) } else { (200, 500) };
    let size = Size { transactions: flags.transactions.unwrap_or(transactions), logs: flags.logs.unwrap_or(logs) };
    let mut report = Report::new(&flags.command);
    let cores = flags.cores.as_ref().map_or("all processors".into(), |cores| format!("processors {cores}"));
    report.fact(format!(
        "Engine, API and follow on {cores}; blocks of {} transactions and {} logs.",
        size.transactions, size.logs
    ));
    let mut bed = TestBed::start(&flags, flags.blocks, size)?;
    let measured = measure(&mut bed, &flags, size, &mut report);
    report.fact(match bed.verdicts() {
        Ok(verdicts) => format!("Blocks by what `--verify full` found: {verdicts}."),
        Err(error) => format!("Whether blocks are verified is not known: {error:#}."),
    });
    report.publish()?;
    progress(&format!("done in {:.0} s", started.elapsed().as_secs_f64()));
    measured
}

fn measure(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let wants = |part: &str| flags.parts.iter().any(|requested| requested == part);
    bed.follow(Duration::from_secs(1))?;
    if flags.soak {
        bed.serve()?;
        return legs::soak(bed, flags, size, report);
    }
    bed.follow(Duration::from_millis(100))?;
    bed.wait_until_followed()?;
    if wants("cost") {
        legs::cost(bed, flags, size, report)?;
        bed.follow(Duration::from_millis(100))?;
    }
    if wants("disk") {
        return legs::disk(bed, flags, size, report);
    }
    bed.serve()?;
    if wants("routes") {
        legs::routes(bed, flags, size, report)?;
    }
    if wants("idle") {
        bed.follow(Duration::from_secs(1))?;
        legs::idle(bed, flags, report)?;
    }
    if wants("delay") {
        bed.follow(Duration::from_millis(50))?;
        legs::delay(bed, flags, size, report)?;
    }
    if wants("lists") {
        bed.wait_until_followed()?;
        legs::lists(bed, flags, size, report)?;
    }
    if wants("load") {
        legs::load(bed, flags, size, report)?;
    }
    bed.wait_until_followed()?;
    if wants("merged") {
        legs::merged(bed, report)?;
    }
    if wants("attack") || wants("attacks") {
        legs::attack(bed, flags, size, report)?;
    }
    Ok(())
}
