//! What the views cost people who write SQL: the questions of a first day against the same of the raw tables, and a day
//! of many logs against the same by heights.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use xtask::workspace;

use crate::bed::TestBed;
use crate::client::Client;
use crate::leg::{figure, in_turns};
use crate::report::{Bound, Report};
use crate::store::{Content, Store};
use crate::{Flags, progress, sql};

/// Copies of the bundled mainnet blocks.
const COPIES: u64 = 1600;

/// Measures a day of logs, and the questions of a first day.
pub fn measure(flags: &Flags) -> anyhow::Result<Report> {
    let mut report = Report::new("analysts", &flags.command);
    let client = Client::new()?;
    days(flags, &client, &mut report)?;
    questions(flags, &client, &mut report)?;
    Ok(report)
}

/// A day of the generated logs, by its date and by its heights.
fn days(flags: &Flags, client: &Client, report: &mut Report) -> anyhow::Result<()> {
    let bed = TestBed::start(flags, Content::Logs, flags.rows)?;
    let middle = bed.last_block() / 2;
    let day = "SELECT toDate(any(block_timestamp)) FROM logs_by_block WHERE block_number = {middle:UInt64}";
    let day = bed.store.text(day, &[("middle", middle.to_string())])?;
    let heights = "SELECT min(block_number), max(block_number) FROM blocks WHERE toDate(timestamp) = {day:Date}";
    let heights = bed.store.text(heights, &[("day", day.clone())])?;
    let (first, last) = heights.split_once('\t').context("heights")?;
    let query = |condition: &str| {
        format!("SELECT count(), uniqExact(address), max(length(data)) FROM v_logs WHERE {condition}")
    };
    let by_date = query(&format!("block_date = '{day}'"));
    let by_height = query(&format!("block_number BETWEEN {first} AND {last}"));
    let answers = [bed.store.text(&by_date, &[])?, bed.store.text(&by_height, &[])?];
    ensure!(answers[0] == answers[1] && !answers[0].starts_with('0'), "{answers:?}");
    let granules = [granules(&bed.store, &by_date)?, granules(&bed.store, &by_height)?];
    report.fact(format!(
        "{} generated logs, {} of them of the day; its date reads {} granules of `logs_by_block`, its heights {}.",
        figure(flags.rows as f64),
        answers[0].split('\t').next().unwrap_or_default(),
        granules[0],
        granules[1]
    ));
    let requests = [by_date, by_height].map(|text| sql::raw(&bed.store, &text, &[], "TSV", &[]));
    let names = ["by date", "by heights"];
    let legs = in_turns(&names, flags.rounds, |leg| Ok(client.drain(&requests[leg])?.total * 1e3))?;
    let time = legs[0].median() / legs[1].median();
    report.section("A day of `v_logs`", "milliseconds", legs);
    report.goal("granules of a date to those of its heights", granules[0] / granules[1], Bound::AtMost(1.1));
    report.goal("time of a date to that of its heights", time, Bound::Unbounded);
    Ok(())
}

/// Granules that a statement reads of the logs, by the keys.
fn granules(store: &Store, text: &str) -> anyhow::Result<f64> {
    let explained = store.text(&format!("EXPLAIN indexes = 1, pretty = 0 {text}"), &[])?;
    let read = explained.split("ReadFromMergeTree").find(|read| read.contains("logs_by_block)"));
    let read = read.with_context(|| format!("no read of logs_by_block in\n{explained}"))?;
    let mut left = read.lines().filter_map(|line| line.split("Granules: ").nth(1)?.split('/').next()?.parse().ok());
    left.next_back().with_context(|| explained.clone())
}

/// The questions on views and on the raw tables, over the bundled mainnet blocks many times over.
fn questions(flags: &Flags, client: &Client, report: &mut Report) -> anyhow::Result<()> {
    let bed = TestBed::start(flags, Content::Mainnet, COPIES)?;
    let counts = "SELECT count(), sum(transactions_count), (SELECT count() FROM v_logs) FROM v_blocks";
    let counts = bed.store.text(counts, &[])?;
    report.fact(format!(
        "Questions: {COPIES} copies of the bundled mainnet blocks (blocks, transactions, logs: {}).",
        counts.replace('\t', ", ")
    ));
    let (mut sections, mut lines) = (Vec::new(), [0, 0]);
    for path in questions_on_views()? {
        let name = path.file_stem().context("a name")?.to_string_lossy().into_owned();
        let raw = workspace::root().join("tests/fixtures/analysts").join(format!("{name}.sql"));
        let texts = [fs::read_to_string(&path)?, fs::read_to_string(raw)?];
        lines.iter_mut().zip(&texts).for_each(|(sum, text)| *sum += lines_of_sql(text));
        let answers = [bed.store.text(&texts[0], &[])?, bed.store.text(&texts[1], &[])?];
        ensure!(answers[0] == answers[1], "{name}: {} and {}", answers[0], answers[1]);
        progress(&name);
        // As readers have it.
        let settings = [("read_in_order_use_buffering", "0")];
        let requests = texts.map(|text| sql::raw(&bed.store, &text, &[], "TSV", &settings));
        let legs =
            in_turns(&["views", "raw tables"], flags.rounds, |leg| Ok(client.drain(&requests[leg])?.total * 1e3))?;
        let ratio = legs[0].median() / legs[1].median();
        report.goal(format!("{name}: views to raw tables"), ratio, Bound::AtMost(1.5));
        sections.push((name, legs));
    }
    report.fact(format!("Lines of SQL of all questions: {} on views, {} on the raw tables.", lines[0], lines[1]));
    for (name, legs) in sections {
        report.section(name, "milliseconds", legs);
    }
    Ok(())
}

fn questions_on_views() -> anyhow::Result<Vec<PathBuf>> {
    let folder = fs::read_dir(workspace::root().join("sql/analysts/queries"))?;
    let mut paths = folder.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Lines that are neither empty nor comments.
fn lines_of_sql(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).count()
}
