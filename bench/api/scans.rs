//! All goals for logs, over one data set: the report of `cargo xtask bench scans`.

use anyhow::ensure;

use crate::anvil::Anvil;
use crate::bed::TestBed;
use crate::client::Client;
use crate::duckdb::{self, Duckdb};
use crate::leg::{Leg, figure};
use crate::log_pages::{self, MEDIAN, SIZE};
use crate::postgres::Postgres;
use crate::report::{Bound, Report};
use crate::store::Content;
use crate::wide::{self, Contract, Peer, WideQuery};
use crate::{Flags, growth, hexed, json_writer, memory, progress, scattered};

/// The systems to compare with.
struct Peers {
    postgres: Option<Postgres>,
    anvil: Option<Anvil>,
    duckdb: Option<Duckdb>,
    hexed: anyhow::Result<()>,
}

/// Measures everything. A leg that cannot be started is named in the report.
pub fn measure(flags: &Flags) -> anyhow::Result<Report> {
    let mut report = Report::new("scans", &flags.command);
    let client = Client::new()?;
    let bed = TestBed::start(flags, Content::Logs, flags.rows)?;
    let contract = wide::busiest(&bed.store)?;
    report.fact(format!(
        "{} generated logs in {} blocks, {} of the busiest contract; {} rounds after one that warms up.",
        figure(flags.rows as f64),
        figure(bed.last_block() as f64 + 1.),
        figure(contract.logs),
        flags.rounds
    ));
    let mut peers = peers(flags, &bed, &contract, &mut report)?;
    wide_answers(flags, &client, &bed, &contract, &mut peers, &mut report)?;
    // The files and the node have no part in what follows.
    (peers.duckdb, peers.anvil) = (None, None);
    scattered_logs(flags, &client, &bed, &peers, &mut report)?;
    pages(flags, &client, &bed, peers.postgres.as_ref(), &mut report)?;
    writer(flags, &bed, &contract, &mut report)?;
    disk(&bed, &peers, &mut report)?;
    if flags.small_rows > 0 && flags.small_rows < flags.rows {
        drop(peers);
        grown(flags, &client, &bed, &mut report)?;
    }
    Ok(report)
}

fn peers(flags: &Flags, bed: &TestBed, contract: &Contract, report: &mut Report) -> anyhow::Result<Peers> {
    let mut peers = Peers { postgres: None, anvil: None, duckdb: None, hexed: Ok(()) };
    peers.postgres = start(flags, report, "PostgreSQL", || Postgres::start(bed, Content::Logs));
    peers.anvil = start(flags, report, "anvil", Anvil::start);
    peers.duckdb = start(flags, report, "DuckDB", || Duckdb::start(bed, &contract.address));
    if start(flags, report, scattered::HEXED, || hexed::ensure(bed)).is_none() {
        peers.hexed = Err(anyhow::anyhow!("missing"));
    }
    if let Some(postgres) = &peers.postgres {
        report.fact(format!("PostgreSQL {}.", postgres.version()?));
    }
    if let Some(duckdb) = &mut peers.duckdb {
        report.fact(format!("DuckDB {}.", duckdb.version()?));
    }
    Ok(peers)
}

/// Starts a leg, or says in the report why it is missing.
pub fn start<T>(
    flags: &Flags,
    report: &mut Report,
    name: &str,
    start: impl FnOnce() -> anyhow::Result<T>,
) -> Option<T> {
    if let Err(missing) = flags.wants(name) {
        report.without(missing);
        return None;
    }
    start().inspect_err(|error| report.missing(name, error)).ok()
}

/// How much greater the median of a leg is than that of another; not a number where one is missing.
pub fn ratio(legs: &[Leg], over: &str, under: &str) -> f64 {
    let median = |name| legs.iter().find(|leg| leg.name == name).map_or(f64::NAN, Leg::median);
    median(over) / median(under)
}

/// A figure of a leg.
pub fn figure_of(legs: &[Leg], leg: &str, figure: &str) -> f64 {
    legs.iter().find(|found| found.name == leg).and_then(|leg| leg.figures.get(figure)).copied().unwrap_or(f64::NAN)
}

fn wide_answers(
    flags: &Flags,
    client: &Client,
    bed: &TestBed,
    contract: &Contract,
    peers: &mut Peers,
    report: &mut Report,
) -> anyhow::Result<()> {
    progress("wide answers");
    let api = bed.api(&["--max-logs", "0"])?;
    let grown = memory::measure(client, bed, &api, contract, 3)?;
    let mut queries = wide::own_legs(bed, (&api.url, api.id()), contract);
    if let Some(postgres) = &peers.postgres {
        let request = wide::get_logs(postgres.url(), "/api/eth-rpc", &contract.address, bed.last_block());
        queries.push(WideQuery::new(POSTGRES, contract.logs, Peer::Http(request, Vec::new())));
    }
    if let Some(anvil) = &peers.anvil {
        let request = wide::get_logs(&anvil.url, "/", Anvil::CONTRACT, anvil.last_block());
        queries.push(WideQuery::new(ANVIL, Anvil::LOGS, Peer::Http(request, Vec::new())));
    }
    if let Some(duckdb) = &mut peers.duckdb {
        queries.push(WideQuery::new("DuckDB over Parquet, to Arrow", contract.logs, Peer::Duckdb(duckdb)));
    }
    if peers.hexed.is_ok() {
        let request = hexed::contract(&bed.store, &contract.address);
        let peer = Peer::Http(request, vec![bed.engine_id()]);
        queries.push(WideQuery::new("hex text and bloom filters, JSONEachRow", contract.logs, peer));
    }
    let legs = wide::measure(client, &mut queries, flags.rounds)?;
    let length = figure_of(&legs, wide::TRAWL_RPC, wide::LENGTH) / figure_of(&legs, POSTGRES, wide::LENGTH);
    ensure!(peers.postgres.is_none() || (length - 1.).abs() < 1e-3, "the same logs are {length} times as long");
    let trawl = |under: &str| ratio(&legs, wide::TRAWL_RPC, under);
    report.goal(
        "wide eth_getLogs / raw engine Native on one thread, logs/s",
        trawl(wide::RAW_NATIVE),
        Bound::AtLeast(0.6),
    );
    report.goal("wide eth_getLogs / anvil, logs/s", trawl(ANVIL), Bound::AtLeast(12.));
    report.goal("wide eth_getLogs / PostgreSQL JSON, logs/s", trawl(POSTGRES), Bound::AtLeast(5.));
    report.goal("wide eth_getLogs / JSON made in ClickHouse SQL, logs/s", trawl(wide::SQL_JSON), Bound::AtLeast(4.5));
    report.goal(
        "wide eth_getLogs / DuckDB over Parquet, logs/s",
        trawl("DuckDB over Parquet, to Arrow"),
        Bound::Unbounded,
    );
    let arrow = ratio(&legs, wide::TRAWL_ARROW, wide::RAW_ARROW);
    report.goal("Arrow / the engine's own ArrowStream, logs/s", arrow, Bound::AtLeast(0.85));
    let share = figure_of(&legs, wide::TRAWL_RPC, wide::FIRST_SHARE);
    report.goal("wide eth_getLogs, first byte / total", share, Bound::AtMost(0.01));
    let cpu = figure_of(&legs, wide::TRAWL_RPC, wide::CPU) / figure_of(&legs, wide::RAW_NATIVE, wide::CPU);
    report.goal("wide eth_getLogs / raw Native, CPU seconds per million logs", cpu, Bound::AtMost(1.8));
    report.goal("memory that trawl-api grows by over wide answers, MiB", grown[1].max(), Bound::AtMost(16.));
    report.goal("the same, all logs / a tenth of them", grown[1].median() / grown[0].median(), Bound::Unbounded);
    report.section(
        format!("Wide answer: all logs of the busiest contract ({} logs of anvil's)", figure(Anvil::LOGS)),
        "thousand logs/s",
        legs,
    );
    report.section("Growth of trawl-api's memory over a wide answer", "MiB", grown);
    Ok(())
}

const ANVIL: &str = "anvil eth_getLogs";
const POSTGRES: &str = "PostgreSQL eth_getLogs";

fn scattered_logs(
    flags: &Flags,
    client: &Client,
    bed: &TestBed,
    peers: &Peers,
    report: &mut Report,
) -> anyhow::Result<()> {
    progress("scattered logs");
    let api = bed.api(&["--max-logs", "0"])?;
    for (position, what) in [(1, "a wallet as topic1"), (0, "a rare topic0")] {
        let topic = scattered::find(&bed.store, position)?;
        let legs = scattered::measure(client, bed, &api.url, &topic, flags.rounds, &peers.hexed)?;
        let of = |over, under| ratio(&legs, over, under);
        let plan = of(scattered::TRAWL, scattered::RAW);
        report.goal(format!("{what}, Trawl / raw engine with the same plan, time"), plan, Bound::AtMost(1.2));
        let hexed = of(scattered::HEXED, scattered::TRAWL);
        report.goal(format!("{what}, hex text and bloom filters / Trawl, time"), hexed, Bound::Unbounded);
        report.section(format!("{what}, {} logs over all blocks", topic.logs), "ms", legs);
    }
    Ok(())
}

fn pages(
    flags: &Flags,
    client: &Client,
    bed: &TestBed,
    postgres: Option<&Postgres>,
    report: &mut Report,
) -> anyhow::Result<()> {
    let api = bed.api(&["--max-logs", &SIZE.to_string()])?;
    for clients in [1, 8, 64] {
        progress(&format!("pages of logs, {clients} clients"));
        let amount = (clients, flags.seconds, flags.rounds);
        let legs = log_pages::measure(client, bed, &api.url, postgres, amount)?;
        let time = figure_of(&legs, "Trawl", MEDIAN) / figure_of(&legs, "PostgreSQL", MEDIAN);
        let (raw, rate) = (ratio(&legs, "raw engine", "Trawl"), ratio(&legs, "Trawl", "PostgreSQL"));
        if clients == 1 {
            report.goal("page of 50 logs, cold, Trawl / PostgreSQL, time", time, Bound::Unbounded);
            report.goal("page of 50 logs, cold, Trawl / raw engine, time", raw, Bound::AtMost(1.2));
        } else {
            let crowd = |goal| if clients == 64 { Bound::AtLeast(goal) } else { Bound::Unbounded };
            let engine = format!("pages of 50 logs, cold, {clients} clients, Trawl / raw engine, pages/s");
            report.goal(engine, ratio(&legs, "Trawl", "raw engine"), crowd(3.));
            let bound = crowd(0.3);
            report.goal(format!("pages of 50 logs, cold, {clients} clients, Trawl / PostgreSQL, pages/s"), rate, bound);
        }
        report.section(format!("Pages of 50 logs, other ones each time, {clients} clients"), "pages/s", legs);
    }
    Ok(())
}

fn writer(flags: &Flags, bed: &TestBed, contract: &Contract, report: &mut Report) -> anyhow::Result<()> {
    progress("the JSON writer");
    let legs = json_writer::measure(bed, contract, flags.rounds)?;
    let times = ratio(&legs, json_writer::WRITER, json_writer::SERDE);
    report.goal("JSON writer alone / serde_json over text fields, logs/s", times, Bound::AtLeast(15.));
    report.section("JSON of 50,000 logs in memory, one core", "thousand logs/s", legs);
    Ok(())
}

fn disk(bed: &TestBed, peers: &Peers, report: &mut Report) -> anyhow::Result<()> {
    let tables = bed.bytes_on_disk(crate::store::DATABASE)?;
    let all: f64 = tables.iter().map(|(_, bytes)| bytes).sum();
    let rows = bed.size as f64;
    let mut legs = vec![Leg::of(ALL_ORDERS, all / rows)];
    let large = tables.iter().filter(|(_, bytes)| *bytes > rows / 100.);
    legs.extend(large.map(|(table, bytes)| Leg::of(format!("Trawl, {table}"), bytes / rows)));
    if let Some(postgres) = &peers.postgres {
        legs.push(Leg::of("PostgreSQL, table and indexes", postgres.bytes("logs")? / rows));
    }
    if peers.hexed.is_ok() {
        let hexed: f64 = bed.bytes_on_disk(hexed::DATABASE)?.iter().map(|(_, bytes)| bytes).sum();
        legs.push(Leg::of(scattered::HEXED, hexed / rows));
    }
    if let Ok(bytes) = duckdb::bytes(bed) {
        legs.push(Leg::of("Parquet files", bytes / rows));
    }
    let share = ratio(&legs, ALL_ORDERS, "PostgreSQL, table and indexes");
    report.goal("bytes per log on disk, all orders / PostgreSQL with its indexes", share, Bound::AtMost(0.36));
    report.section("On disk", "bytes a log", legs);
    Ok(())
}

const ALL_ORDERS: &str = "Trawl, all orders";

fn grown(flags: &Flags, client: &Client, bed: &TestBed, report: &mut Report) -> anyhow::Result<()> {
    progress("costs over many rows and over few");
    let [pages, filters] = growth::measure(client, flags, bed, flags.rounds)?;
    let times = |legs: &[Leg]| legs[1].median() / legs[0].median();
    let rows = format!("{} / {} logs", figure(flags.rows as f64), figure(flags.small_rows as f64));
    report.goal(format!("{rows}: a page of 50"), times(&pages), Bound::AtMost(1.2));
    report.goal(format!("{rows}: a scattered filter, per log found"), times(&filters), Bound::AtMost(2.));
    report.section("A page of 50 logs over many rows and over few, Trawl", "ms", pages);
    report.section("A thousand scattered logs over many rows and over few, Trawl", "ms", filters);
    Ok(())
}
