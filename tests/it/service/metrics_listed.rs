//! What programs answer at `/metrics`: whole, by the rules of the format, and what the list says.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};
use serde_json::json;
use trawl_metrics::{Kind, Program, list};
use xtask::process;
use xtask::{http, workspace};

use crate::chains::chain;
use crate::env;
use crate::ingest::node::Node;

/// A family of series, as an answer has it.
#[derive(Debug, Default)]
struct Family {
    help: String,
    kind: String,
    /// By name and labels.
    samples: BTreeMap<String, f64>,
}

/// The families of an answer, which must keep to the format word for word.
fn parse(text: &str) -> anyhow::Result<BTreeMap<String, Family>> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] => {
                ensure!(!families.contains_key(name), "{name} has two HELP lines");
                families.insert(name.into(), Family { help: help.into(), ..Family::default() });
                current = name.into();
            }
            ["#", "TYPE", name, kind] => {
                let family = families.get_mut(name).filter(|family| name == current && family.kind.is_empty());
                family.with_context(|| format!("TYPE does not follow HELP: {line}"))?.kind = kind.into();
            }
            _ => {
                let family = families.get_mut(&current).with_context(|| format!("no family: {line}"))?;
                let (series, value) = line.rsplit_once(' ').with_context(|| format!("no value: {line}"))?;
                ensure!(belongs(&current, &family.kind, series), "{line} stands under {current}");
                let value = value.parse().with_context(|| line.to_owned())?;
                ensure!(family.samples.insert(series.into(), value).is_none(), "twice: {series}");
            }
        }
    }
    for (name, family) in &families {
        is_whole(name, family)?;
    }
    Ok(families)
}

/// Whether a series is of the family whose lines it stands under.
fn belongs(name: &str, kind: &str, series: &str) -> bool {
    let bare = series.split('{').next().unwrap_or_default();
    match kind {
        "histogram" => ["_bucket", "_sum", "_count"].iter().any(|end| bare == format!("{name}{end}")),
        "counter" | "gauge" => bare == name,
        _ => false,
    }
}

/// Whether the numbers of a family can be: buckets that grow up to the count, counters that are not negative.
fn is_whole(name: &str, family: &Family) -> anyhow::Result<()> {
    ensure!(!family.kind.is_empty(), "{name} has no TYPE");
    ensure!((family.kind == "counter") == name.ends_with("_total"), "{name} is a {}", family.kind);
    if family.kind == "counter" {
        ensure!(family.samples.values().all(|value| *value >= 0.0), "{family:?}");
    }
    if family.kind != "histogram" {
        return Ok(());
    }
    let mut buckets: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for (series, value) in family.samples.iter().filter(|(series, _)| series.contains("_bucket{")) {
        let (labels, bound) = series.rsplit_once("le=\"").with_context(|| series.clone())?;
        let bound = bound.trim_end_matches("\"}").replace("+Inf", "inf").parse()?;
        let labels = labels.trim_end_matches([',', '{']).replacen("_bucket", "_count", 1);
        buckets.entry(labels).or_default().push((bound, *value));
    }
    for (labels, mut counts) in buckets {
        counts.sort_by(|one, other| one.0.total_cmp(&other.0));
        ensure!(counts.is_sorted_by_key(|(_, count)| *count), "{name}: {counts:?}");
        let (bound, all) = counts.last().context("a bucket")?;
        let series = if labels.contains('{') { format!("{labels}}}") } else { labels };
        let count = family.samples.get(&series).with_context(|| format!("no {series} in {family:?}"))?;
        ensure!(bound.is_infinite() && count == all, "{series}: {count}, and {all} up to {bound}");
        let sum = series.replacen("_count", "_sum", 1);
        ensure!(family.samples.contains_key(&sum), "no {sum} in {family:?}");
    }
    Ok(())
}

/// Holds an answer against the list, and returns it.
fn is_as_listed(program: Program, text: &str) -> anyhow::Result<BTreeMap<String, Family>> {
    let families = parse(text)?;
    for metric in list::of(program) {
        let family = families.get(metric.name).with_context(|| format!("{} is not there", metric.name))?;
        let kind = match metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge | Kind::Flag => "gauge",
            Kind::Histogram(_) => "histogram",
        };
        ensure!(family.help == metric.help && family.kind == kind, "{}: {family:?}", metric.name);
        let is_from_zero = !matches!(metric.kind, Kind::Gauge) && !metric.known_series().is_empty();
        ensure!(!is_from_zero || !family.samples.is_empty(), "{} has no series", metric.name);
    }
    let unlisted: Vec<&String> =
        families.keys().filter(|name| !list::of(program).any(|metric| metric.name == **name)).collect();
    ensure!(unlisted.is_empty(), "not in the list: {unlisted:?}");
    for (name, least) in
        [("process_cpu_seconds_total", 0.0), ("process_resident_memory_bytes", 1e6), ("process_open_fds", 3.0)]
    {
        ensure!(families[name].samples[name] >= least, "{:?}", families[name]);
    }
    checked_by_promtool(text)?;
    Ok(families)
}

fn checked_by_promtool(text: &str) -> anyhow::Result<()> {
    promtool(&["check", "metrics"], text)
}

/// Prometheus' own check, in a run of slow tests on a machine that has it.
pub fn promtool(arguments: &[&str], text: &str) -> anyhow::Result<()> {
    if env::is_slow_run() { promtool_of_any_run(arguments, text) } else { Ok(()) }
}

/// The same in any run.
pub fn promtool_of_any_run(arguments: &[&str], text: &str) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::var_os("TRAWL_TEST_PROMTOOL").unwrap_or_else(|| "promtool".into()));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut checking) = command.spawn() else {
        eprintln!("skipped: there is no promtool (Debian: prometheus; or TRAWL_TEST_PROMTOOL)");
        return Ok(());
    };
    std::io::Write::write_all(&mut checking.stdin.take().context("its input")?, text.as_bytes())?;
    let output = process::output_within(checking, env::LONGEST)?;
    let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    ensure!(output.status.success(), "{stdout}{stderr}");
    Ok(())
}

/// The value of a series, which must be there.
fn value(families: &BTreeMap<String, Family>, series: &str) -> anyhow::Result<f64> {
    let name = series.split('{').next().unwrap_or_default();
    let family = ["", "_count", "_sum"].iter().find_map(|end| families.get(name.strip_suffix(end)?));
    family.and_then(|family| family.samples.get(series).copied()).with_context(|| format!("no {series}"))
}

fn scrape(url: &str, program: Program) -> anyhow::Result<BTreeMap<String, Family>> {
    let answer = http::get(&http::agent(), &format!("{url}/metrics"))?;
    ensure!(answer.header("content-type") == trawl_metrics::CONTENT_TYPE, "{}", answer.header("content-type"));
    is_as_listed(program, &answer.text())
}

#[test]
fn the_api_answers_with_what_is_listed() -> anyhow::Result<()> {
    let api = &chain("hive").api;
    ensure!(http::get(&http::agent(), &format!("{api}/api/v2/blocks"))?.status == 200);
    let metrics = scrape(api, Program::Api)?;
    ensure!(value(&metrics, "trawl_ready")? == 1.0 && value(&metrics, "trawl_not_ready{reason=\"damaged\"}")? == 0.0);
    ensure!(value(&metrics, "trawl_rpc_requests_total{method=\"eth_call\",outcome=\"ok\"}")? >= 0.0);
    let reads = "trawl_statement_duration_seconds_count{workload=\"short\",outcome=\"ok\"}";
    ensure!(value(&metrics, reads)? > 0.0, "statements are measured");
    ensure!(value(&metrics, "trawl_http_request_duration_seconds_count{route=\"/api/v2/blocks\"}")? >= 1.0);
    Ok(())
}

#[test]
fn the_engine_answers_with_what_is_listed() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    env::sql_at(&engine.url, "default", "CREATE TABLE rows (a UInt64) ORDER BY a")?;
    env::sql_at(&engine.url, "default", "INSERT INTO rows SELECT number FROM numbers(1000)")?;
    let refused = http::get(&http::agent(), &format!("{}/?user=eve&password=guess&query=SELECT+1", engine.url))?;
    ensure!(refused.status == 403, "{}", refused.status);
    let metrics = scrape(&engine.url, Program::Engine)?;
    ensure!(value(&metrics, "trawl_engine_logins_refused_total")? == 1.0);
    ensure!(value(&metrics, "trawl_engine_errors_total{code=\"516\"}")? == 1.0);
    ensure!(value(&metrics, "trawl_engine_figures_missing")? == 0.0);
    for at_least in [
        ("trawl_engine_parts{state=\"active\"}", 1.0),
        ("trawl_engine_parts_bytes", 1.0),
        ("trawl_engine_disk_free_bytes{disk=\"default\"}", 1e6),
        ("trawl_engine_memory_tracked_bytes", 1e4),
        ("trawl_engine_inserted_rows_total", 1000.0),
        ("trawl_engine_statement_duration_seconds_count{workload=\"ingest\"}", 2.0),
    ] {
        ensure!(value(&metrics, at_least.0)? >= at_least.1, "{at_least:?}: {metrics:?}");
    }
    engine.stop()?;
    Ok(())
}

#[test]
fn follow_says_how_it_is() -> anyhow::Result<()> {
    let database = "service_metrics_of_follow";
    let _database = env::migrate(database)?;
    let node = Node::start("hive", &["--head", "54", "--finality", "30"])?;
    let listen = format!("127.0.0.1:{}", env::free_port()?);
    let settling =
        ["--settle-blocks", "1", "--settle-interval", "1ms", "--watch-interval", "200ms", "--poll-interval", "50ms"];
    let arguments = [&["follow", "--rpc-url", &node.url, "--metrics-listen", &listen], &settling[..]].concat();
    let mut follow = process::spawn(env::ingest(database, &arguments))?;
    let url = format!("http://{listen}");
    let get = |path: &str| http::get(&http::agent(), &format!("{url}{path}"));
    let is = |path: &str, status: u16| Ok(get(path).is_ok_and(|answer| answer.status == status));
    let reaches = |series: &str, least: f64| {
        let reached = || Ok(value(&parse(&get("/metrics")?.text())?, series).is_ok_and(|value| value >= least));
        env::eventually(env::SOON, reached).with_context(|| format!("{series} reaches {least}"))
    };
    let watched = || {
        env::eventually(env::SOON, || is("/health/ready", 200)).context("it becomes ready")?;
        ensure!(is("/health/live", 200)? && is("/", 404)? && is("/metrics/", 404)?);
        reaches("trawl_ingest_head_block", 54.0)?;
        node.control(&json!({"branch": "depth6"}))?;
        reaches("trawl_ingest_reorganisations_total", 1.0)?;
        let metrics = scrape(&url, Program::Ingest)?;
        ensure!(value(&metrics, "trawl_ingest_reorganisation_depth_blocks_sum")? >= 1.0);
        ensure!(value(&metrics, "trawl_ingest_lease_held")? == 1.0 && value(&metrics, "trawl_ingest_ready")? == 1.0);
        for at_least in [
            ("trawl_ingest_blocks_total{to=\"newest\"}", 3.0),
            ("trawl_ingest_blocks_total{to=\"settled\"}", 10.0),
            ("trawl_ingest_rows_total{table=\"blocks\"}", 10.0),
            ("trawl_ingest_written_bytes_total{table=\"blocks\"}", 1000.0),
            ("trawl_ingest_batch_duration_seconds_count{to=\"settled\"}", 1.0),
            ("trawl_ingest_insert_duration_seconds_count", 10.0),
            ("trawl_ingest_settled_block", 10.0),
            ("trawl_node_calls_total{method=\"eth_blockNumber\",outcome=\"ok\"}", 1.0),
        ] {
            ensure!(value(&metrics, at_least.0)? >= at_least.1, "{at_least:?}: {:?}", get("/metrics")?.text());
        }
        Ok(())
    };
    let outcome = watched().and_then(|()| {
        drop(node);
        env::eventually(env::SOON, || is("/health/ready", 503)).context("it says that its node is gone")?;
        let reason = get("/health/ready")?.text();
        ensure!(reason.contains("node_unreachable"), "{reason}");
        let metrics = scrape(&url, Program::Ingest)?;
        ensure!(value(&metrics, "trawl_ingest_ready")? == 0.0);
        ensure!(value(&metrics, "trawl_ingest_node_silence_seconds")? > 0.0 && is("/health/live", 200)?);
        Ok(())
    });
    process::end(&mut follow)?;
    outcome
}

/// While a load waits for a slow node, the queue of its requests is full and the others are empty.
#[test]
fn a_load_shows_its_queues() -> anyhow::Result<()> {
    let database = "service_metrics_of_queues";
    let _database = env::migrate(database)?;
    let node = Node::start("hive", &["--latency", "300"])?;
    let listen = format!("127.0.0.1:{}", env::free_port()?);
    let arguments = ["load", "--rpc-url", &node.url, "--to", "40", "--concurrency", "3", "--metrics-listen", &listen];
    let mut load = process::spawn(env::ingest(database, &arguments))?;
    let queue = |metrics: &BTreeMap<String, Family>, of: &str| {
        let figure = |what: &str| value(metrics, &format!("trawl_ingest_queue_{what}{{of=\"{of}\"}}"));
        anyhow::Ok((figure("length")?, figure("capacity")?))
    };
    let agent = http::agent();
    let is_full = || {
        let Ok(answer) = http::get(&agent, &format!("http://{listen}/metrics")) else { return Ok(false) };
        let metrics = parse(&answer.text())?;
        let queues = ["fetch", "check", "write"].map(|of| queue(&metrics, of));
        let [Ok(fetch), Ok(check), Ok(write)] = queues else { return Ok(false) };
        ensure!(fetch.0 <= fetch.1 && check.0 <= check.1 && write.0 <= write.1, "{fetch:?} {check:?} {write:?}");
        ensure!(fetch.1 == 3.0 && write.1 == 2.0, "{fetch:?} {write:?}");
        Ok(fetch.0 == 3.0 && check.0 == 0.0 && write.0 == 0.0)
    };
    let outcome = env::eventually(env::SOON, is_full);
    process::end(&mut load)?;
    outcome
}

/// A load of a node that takes connections and never answers.
#[test]
fn a_load_says_how_it_is() -> anyhow::Result<()> {
    let database = "service_metrics_of_load";
    let _database = env::migrate(database)?;
    let silent = TcpListener::bind("127.0.0.1:0")?;
    let (node, listen) = (format!("http://{}", silent.local_addr()?), format!("127.0.0.1:{}", env::free_port()?));
    let mut load =
        process::spawn(env::ingest(database, &["load", "--rpc-url", &node, "--to", "5", "--metrics-listen", &listen]))?;
    let ready = || {
        Ok(http::get(&http::agent(), &format!("http://{listen}/health/ready")).is_ok_and(|answer| answer.status == 200))
    };
    let outcome = env::eventually(env::SOON, ready).and_then(|()| scrape(&format!("http://{listen}"), Program::Ingest));
    process::end(&mut load)?;
    ensure!(value(&outcome?, "trawl_ingest_blocks_total{to=\"settled\"}")? == 0.0);
    Ok(())
}

/// A metric is an entry of the list and the code that counts it: no name is in one of them only.
#[test]
fn what_is_counted_is_what_is_listed() -> anyhow::Result<()> {
    let mut counted: Vec<String> = Vec::new();
    for folder in ["src", "crates", "ingest/src", "engine/src"] {
        visit(&workspace::root().join(folder), &mut |text| {
            for call in ["metrics::counter!(", "metrics::gauge!(", "metrics::histogram!("] {
                for rest in text.split(call).skip(1) {
                    counted.extend(
                        rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next()).map(str::to_owned),
                    );
                }
            }
        })?;
    }
    let listed = || list::GROUPS.iter().flat_map(|group| group.metrics).map(|metric| metric.name);
    let unlisted: Vec<_> = counted.iter().filter(|name| !listed().any(|listed| listed == **name)).collect();
    let uncounted: Vec<_> = listed()
        .filter(|name| !name.starts_with("process_") && !counted.iter().any(|counted| counted == name))
        .collect();
    ensure!(unlisted.is_empty() && uncounted.is_empty(), "not listed: {unlisted:?}; counted nowhere: {uncounted:?}");
    Ok(())
}

fn visit(folder: &std::path::Path, read: &mut impl FnMut(&str)) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            visit(&path, read)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            read(&std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[test]
fn the_format_is_read_strictly() -> anyhow::Result<()> {
    let good = "# HELP a_total A.\n# TYPE a_total counter\na_total{b=\"c\"} 1\n";
    ensure!(value(&parse(good)?, "a_total{b=\"c\"}")? == 1.0);
    for bad in [
        "a_total 1\n",
        "# HELP a A.\n# TYPE a counter\na 1\n",
        "# HELP a A.\n# TYPE a gauge\na 1\na 1\n",
        "# HELP a A.\na 1\n",
        "# HELP a A.\n# TYPE a gauge\nb 1\n",
        "# HELP a A.\n# TYPE a gauge\n# HELP a A.\n# TYPE a gauge\n",
        "# HELP a A.\n# TYPE a histogram\na_bucket{le=\"1\"} 2\na_bucket{le=\"+Inf\"} 1\na_sum 1\na_count 1\n",
        "# HELP a A.\n# TYPE a histogram\na_bucket{le=\"1\"} 1\na_sum 1\na_count 1\n",
    ] {
        if parse(bad).is_ok() {
            bail!("it was taken: {bad}");
        }
    }
    Ok(())
}
