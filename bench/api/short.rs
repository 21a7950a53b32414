//! The short form: a few ratios that any machine shows, with bounds that only a fault breaks: a busy machine halves
//! them.

use anyhow::{anyhow, ensure};

use crate::bed::TestBed;
use crate::client::Client;
use crate::leg::figure;
use crate::report::{Bound, Report};
use crate::scans::{figure_of, ratio};
use crate::store::Content;
use crate::wide::{self, RAW_ARROW, RAW_NATIVE, TRAWL_ARROW, TRAWL_RPC};
use crate::{Flags, json_writer, log_pages, memory, pages, scattered};

/// Measures, prints the report, and fails where a ratio is far off.
pub fn measure(flags: &Flags) -> anyhow::Result<()> {
    let mut report = Report::new("short", &flags.command);
    let client = Client::new()?;
    let bed = TestBed::start(flags, Content::Logs, flags.rows)?;
    let contract = wide::busiest(&bed.store)?;
    report.fact(format!("{} generated logs, {} of one contract.", figure(flags.rows as f64), figure(contract.logs)));

    let api = bed.api(&["--max-logs", "0"])?;
    let grown = memory::measure(&client, &bed, &api, &contract, 3)?;
    let mut queries = wide::own_legs(&bed, (&api.url, api.id()), &contract);
    let legs = wide::measure(&client, &mut queries, flags.rounds)?;
    report.goal(
        "wide eth_getLogs / raw engine Native, logs/s",
        ratio(&legs, TRAWL_RPC, RAW_NATIVE),
        Bound::AtLeast(0.25),
    );
    report.goal("Arrow / the engine's own, logs/s", ratio(&legs, TRAWL_ARROW, RAW_ARROW), Bound::AtLeast(0.25));
    let share = figure_of(&legs, TRAWL_RPC, wide::FIRST_SHARE);
    report.goal("wide eth_getLogs, first byte / total", share, Bound::AtMost(0.3));
    report.goal("growth of memory over it, MiB", grown[1].max(), Bound::AtMost(48.));
    report.section("Wide answer: all logs of the busiest contract", "thousand logs/s", legs);
    api.stop()?;

    let api = bed.api(&[])?;
    let legs = pages::turns(&client, &bed, &api.url, &contract, (100, 10 * flags.rounds))?;
    report.goal(
        "page of eth_getLogs, Trawl / raw engine, time",
        ratio(&legs, pages::TRAWL, pages::RAW),
        Bound::AtMost(2.),
    );
    report.section("Pages of a thousand logs", "ms", legs);
    api.stop()?;
    topic_of_a_wallet(flags, &client, &bed, &mut report)?;
    crowd(flags, &client, &bed, &mut report)?;

    let legs = json_writer::measure(&bed, &contract, flags.rounds)?;
    let times = ratio(&legs, json_writer::WRITER, json_writer::SERDE);
    report.goal("JSON writer / serde_json over text fields, logs/s", times, Bound::AtLeast(8.));
    report.section("JSON of logs in memory, one core", "thousand logs/s", legs);

    report.publish()?;
    let missed: Vec<String> = report.missed().map(|goal| goal.line()).collect();
    ensure!(missed.is_empty(), "far off: {}", missed.join("; "));
    Ok(())
}

/// The logs with an account as topic1, wherever they are, against the statement of the same plan.
fn topic_of_a_wallet(flags: &Flags, client: &Client, bed: &TestBed, report: &mut Report) -> anyhow::Result<()> {
    let api = bed.api(&["--max-logs", "0"])?;
    let topic = scattered::find(&bed.store, 1)?;
    let no_peer = Err(anyhow!("the short form has no peers"));
    let legs = scattered::measure(client, bed, &api.url, &topic, flags.rounds, &no_peer)?;
    let time = ratio(&legs, scattered::TRAWL, scattered::RAW);
    report.goal("a wallet as topic1, Trawl / raw engine with the same plan, time", time, Bound::AtMost(2.));
    report.section(format!("A wallet as topic1, {} logs over all blocks", topic.logs), "ms", legs);
    api.stop()?;
    Ok(())
}

/// Pages that 64 clients request at once, which are read together. Read one by one they are slower than the engine's.
fn crowd(flags: &Flags, client: &Client, bed: &TestBed, report: &mut Report) -> anyhow::Result<()> {
    let api = bed.api(&["--max-logs", &log_pages::SIZE.to_string()])?;
    let legs = log_pages::measure(client, bed, &api.url, None, (64, 5., flags.rounds))?;
    let rate = ratio(&legs, "Trawl", "raw engine");
    report.goal("pages of 50 logs, 64 clients, Trawl / raw engine, pages/s", rate, Bound::AtLeast(1.));
    report.section("Pages of 50 logs, other ones each time, 64 clients", "pages/s", legs);
    api.stop()?;
    Ok(())
}
