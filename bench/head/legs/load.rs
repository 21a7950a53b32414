//! The mix at a chain that grows and reorganises, and the soak.

use std::time::{Duration, Instant};

use crate::bed::TestBed;
use crate::chain::Size;
use crate::clients::ClientPool;
use crate::memory::{MemorySampler, Sizes, Third, thirds};
use crate::metrics::NewestBlocks;
use crate::pace::{GrowingChain, Pace};
use crate::report::{Bound, Report, figure};
use crate::sockets::Subscriber;
use crate::tally::{Route, Tally};
use crate::{Flags, progress};

/// The outcome of one load.
struct Outcome {
    tally: Tally,
    seconds: f64,
    /// Of engine, API and follower.
    spent: [f64; 3],
    reorganisations: usize,
    blocks: usize,
    /// Logs that subscribers have and should not, or the other way round.
    socket_wrongs: usize,
    disconnected: Vec<String>,
    /// Memory from start to end.
    memory: Vec<Sizes>,
    newest: NewestBlocks,
}

fn run(bed: &TestBed, pace: Pace, (clients, sockets): (usize, usize), seconds: f64) -> anyhow::Result<Outcome> {
    let target = bed.target()?;
    let agent = crate::clients::agent();
    target.catch_up(&agent)?;
    let processes = [
        bed.engine.id(),
        bed.api.as_ref().map_or(0, |api| api.id()),
        bed.follow.as_ref().map_or(0, |follow| follow.id()),
    ];
    let subscribers: Vec<Subscriber> = (0..sockets)
        .map(|number| Subscriber::start(&target.url, &bed.chain, 3 + (number % 5) as u8))
        .collect::<anyhow::Result<_>>()?;
    let (blocks, reorganisations) = {
        let model = bed.chain.model();
        (model.len(), model.reorganisations())
    };
    let before = bed.spent()?;
    let growing = GrowingChain::start(&bed.chain, pace);
    let (crowd, sampler) = (ClientPool::start(&target, clients), MemorySampler::start(processes));
    let started = Instant::now();
    while started.elapsed().as_secs_f64() < seconds {
        std::thread::sleep(Duration::from_secs_f64((seconds - started.elapsed().as_secs_f64()).clamp(0.01, 30.)));
        progress(&format!("{:.0} of {seconds:.0} s", started.elapsed().as_secs_f64()));
    }
    let (tally, took) = crowd.stop();
    let (after, memory, newest) = (bed.spent()?, sampler.stop(), NewestBlocks::of(&target.url)?);
    growing.stop()?;
    // What a subscriber has counts once it has everything.
    let caught_up = bed.wait_until_followed().and_then(|()| target.catch_up(&agent));
    std::thread::sleep(Duration::from_secs(u64::from(sockets > 0)));
    let model = bed.chain.model();
    let counts = (model.len() - blocks, model.reorganisations() - reorganisations);
    drop(model);
    let (mut socket_wrongs, mut disconnected) = (0, Vec::new());
    for subscriber in subscribers {
        let (received, wrong) = subscriber.stop(&bed.chain);
        match received.ended {
            Some(why) => disconnected.push(why),
            None => socket_wrongs += wrong,
        }
    }
    if let Err(error) = caught_up {
        disconnected.push(format!("not caught up: {error:#}"));
    }
    Ok(Outcome {
        tally,
        seconds: took,
        spent: std::array::from_fn(|of| after[of] - before[of]),
        blocks: counts.0,
        reorganisations: counts.1,
        socket_wrongs,
        disconnected,
        memory,
        newest,
    })
}

fn verdicts(route: &Route) -> Vec<String> {
    let stale =
        if route.stale > 0 { format!("{} (≤ {:.1} s)", route.stale, route.oldest.as_secs_f64()) } else { "0".into() };
    let broken = format!("{} + {}", route.broken_alone, route.broken);
    let counts = [route.mixed, route.wrong, route.failed, route.refused].map(|count| count.to_string());
    [vec![route.right.to_string(), stale], counts.to_vec(), vec![broken]].concat()
}

const VERDICTS: [&str; 7] =
    ["right", "stale", "mixed", "wrong", "failed", "refused", "broken off: alone + with a reorganisation"];

fn by_route(report: &mut Report, title: &str, outcome: &Outcome) {
    let row = |(name, route): (&&'static str, &Route)| {
        let times = [route.quantile(0.5), route.quantile(0.99)].map(figure);
        [vec![(*name).to_owned(), route.times.len().to_string()], times.to_vec(), verdicts(route)].concat()
    };
    let rows: Vec<Vec<String>> = outcome.tally.routes.iter().map(row).collect();
    report.table(title, &[&["request", "times", "p50 ms", "p99 ms"][..], &VERDICTS].concat(), &rows);
    let mut said: Vec<(&String, &u64)> = outcome.tally.said.iter().collect();
    said.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let said: Vec<Vec<String>> =
        said.iter().take(12).map(|(what, count)| vec![count.to_string(), what.replace('|', "/")]).collect();
    if !said.is_empty() {
        report.table("What was not right", &["times", "what"], &said);
    }
}

/// Every number of clients at every pace.
pub fn measure(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for rate in &flags.rates {
        bed.follow(poll(*rate))?;
        for clients in &flags.clients {
            let pace = Pace { rate: *rate, size, reorganise_every: Some(flags.seconds / 3.) };
            progress(&format!("{rate} blocks a second, {clients} clients"));
            let outcome = run(bed, pace, (*clients, 2), flags.seconds)?;
            let all = outcome.tally.sum();
            let count = all.times.len() as f64;
            let per = |of: usize| figure(outcome.spent[of] * 1e3 / count);
            let mut row = vec![figure(*rate), figure(outcome.blocks as f64 / outcome.seconds), clients.to_string()];
            row.extend([figure(count / outcome.seconds), figure(all.quantile(0.5)), figure(all.quantile(0.99))]);
            row.extend([per(0), per(1)]);
            row.push(figure(outcome.spent[2] * 1e3 / outcome.blocks as f64));
            row.extend(verdicts(&all));
            row.push(format!("{}, {} disconnected", outcome.socket_wrongs, outcome.disconnected.len()));
            let last = outcome.memory.last().copied().unwrap_or([f64::NAN; 3]);
            row.extend([0, 1].map(|of: usize| format!("{:.0}", last[of])));
            let NewestBlocks { in_memory, in_tables, mebibytes } = outcome.newest;
            row.push(format!("{in_memory} in {mebibytes:.0} MiB, {in_tables} beyond"));
            rows.push(row);
            if Some(clients) == flags.clients.iter().max() {
                by_route(report, &format!("{rate} blocks a second, {clients} clients, by request"), &outcome);
            }
        }
    }
    let columns = [
        "target blocks/s",
        "shown",
        "clients",
        "requests/s",
        "p50 ms",
        "p99 ms",
        "engine ms a request",
        "API ms",
        "follow ms a block",
    ];
    report.table(
        "The mix, with reorganisations of 1 to 12 blocks",
        &[&columns[..], &VERDICTS, &["logs of WebSockets wrong", "engine MiB", "API MiB", "newest blocks in memory"]]
            .concat(),
        &rows,
    );
    Ok(())
}

/// How often `follow` looks at a chain of that many blocks a second.
fn poll(rate: f64) -> Duration {
    Duration::from_secs_f64((1. / rate).clamp(0.05, 1.))
}

/// The programs whose memory is looked at, in the order of [`Sizes`].
const PROGRAMS: [&str; 3] = ["engine", "API", "follow"];
/// How much more memory a program may have in the last third of a soak than in the middle one.
const GROWTH: f64 = 5.;
/// The longest that readers may be answered from a head that was replaced.
const OLDEST: f64 = 5.;

/// Memory by third of the run, and whether it still grows in the last one.
fn memory_by_third(report: &mut Report, memory: &[Sizes]) {
    let mut rows = Vec::new();
    for (of, program) in PROGRAMS.into_iter().enumerate() {
        let parts = thirds(memory, of);
        let text = |Third { median, peak }: Third| format!("{median:.0} ({peak:.0})");
        rows.push([vec![program.to_owned()], parts.map(text).to_vec()].concat());
        let growth = (parts[2].median / parts[1].median - 1.) * 100.;
        report.goal(
            format!("memory of {program}: last third over the middle one"),
            " %",
            growth,
            Bound::AtMost(GROWTH),
        );
    }
    let columns = ["MiB, median (peak)", "first third", "middle third", "last third"];
    report.table("Resident memory", &columns, &rows);
}

/// The soak of the findings: a block every two seconds, 56 clients and 8 WebSockets.
pub fn soak(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let seconds = flags.soak_seconds;
    let pace = Pace { rate: 0.5, size, reorganise_every: Some(flags.soak_pause()) };
    let outcome = run(bed, pace, (56, 8), seconds)?;
    let all = outcome.tally.sum();
    let rate = all.times.len() as f64 / outcome.seconds;
    let runs = bed.follow.as_mut().is_some_and(crate::processes::Follower::runs);
    let edge = |sizes: Option<&Sizes>, of: usize| sizes.map_or(f64::NAN, |sizes| sizes[of]);
    let [engine, api] = [0, 1]
        .map(|of| format!("{:.0} → {:.0} MiB", edge(outcome.memory.first(), of), edge(outcome.memory.last(), of)));
    let mut row = vec![all.times.len().to_string(), figure(rate), outcome.reorganisations.to_string()];
    row.extend([figure(all.quantile(0.5)), figure(all.quantile(0.99))]);
    row.extend([0, 1].map(|of| figure(outcome.spent[of] * 1e3 / all.times.len() as f64)));
    row.extend([engine, api]);
    row.extend(verdicts(&all));
    row.push(format!("{}, {} disconnected", outcome.socket_wrongs, outcome.disconnected.len()));
    let columns = [
        "requests",
        "requests/s",
        "reorganisations",
        "p50 ms",
        "p99 ms",
        "engine ms a request",
        "API ms",
        "engine memory",
        "API memory",
    ];
    let title = format!(
        "Soak: {seconds:.0} s, 56 clients and 8 WebSockets, a block every 2 s, `follow` {}",
        if runs { "goes on" } else { "ended" }
    );
    report.table(&title, &[&columns[..], &VERDICTS, &["logs of WebSockets wrong"]].concat(), &[row]);
    memory_by_third(report, &outcome.memory);
    by_route(report, "Soak, by request", &outcome);
    for why in &outcome.disconnected {
        report.fact(format!("A WebSocket ended: {why}."));
    }
    let of_calls = outcome
        .tally
        .routes
        .get(crate::ask::HeadRequest::BalanceOf(0, 0).route())
        .map_or(f64::NAN, |route| route.quantile(0.99));
    let others = outcome.tally.routes.iter().filter(|(name, _)| !name.contains("eth_call") && !name.contains("scan"));
    let others = others.map(|(_, route)| route.quantile(0.99)).fold(0., f64::max);
    report.goal("requests/s of the soak's mix, 64 clients", "", rate, Bound::AtLeast(600.));
    report.goal("p99 of lists, blocks, getLogs in it (worst)", " ms", others, Bound::AtMost(150.));
    report.goal("p99 of eth_call (balanceOf) in it", " ms", of_calls, Bound::AtMost(150.));
    let bad = [
        ("errors, 500s among them", all.failed),
        ("mixed or wrong answers", all.mixed + all.wrong),
        ("scans broken off without a reorganisation", all.broken_alone),
    ];
    for (name, count) in bad {
        report.goal(name, "", count as f64, Bound::AtMost(0.));
    }
    report.goal("oldest head that was answered from", " s", all.oldest.as_secs_f64(), Bound::AtMost(OLDEST));
    report.goal("logs of WebSockets wrong or lacking", "", outcome.socket_wrongs as f64, Bound::AtMost(0.));
    bed.restart_engine()?;
    report.fact("After the soak the engine was stopped and started, and the API served the newest block again.");
    Ok(())
}
