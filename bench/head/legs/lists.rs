//! Pages of the further lists against the statements that they are made of, and the same lists while the chain grows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::Address;
use anyhow::{Context as _, ensure};
use serde_json::Value;
use ureq::Agent;
use url::form_urlencoded::Serializer;
use xtask::process::Server;

use crate::bed::TestBed;
use crate::chain::Size;
use crate::chain::world::COINBASE;
use crate::clients::agent;
use crate::pace::{GrowingChain, Pace};
use crate::recorder::{Recorder, Statement};
use crate::report::{Bound, Report, figure};
use crate::tally::quantile;
use crate::{Flags, progress};

/// Number of the deep page, where a list has that many.
const DEEP: usize = 200;

/// The lists, without those of the specification's eight endpoints: of an account, a token, a block, and of everything;
/// and the sums that charts show.
fn paths(bed: &TestBed) -> Vec<String> {
    let (model, world) = (bed.chain.model(), &bed.chain.world);
    let (account, token) = (world.accounts[3], world.tokens[0]);
    let height = model.at(model.tip()).number;
    let of_account = ["transactions", "token-transfers?filter=to", "tokens", "token-balances", "coin-balance-history"];
    let of_account = of_account.map(|what| format!("addresses/{account:#x}/{what}"));
    let of_token = ["transfers", "holders"].map(|what| format!("tokens/{token:#x}/{what}"));
    let of_block = ["transactions", "internal-transactions"].map(|what| format!("blocks/{height}/{what}"));
    let of_everything = ["transactions", "token-transfers", "internal-transactions", "advanced-filters"];
    let ranked = ["addresses", "addresses?sort=transactions_count", "tokens", "stats/hot-smart-contracts?scale=1d"];
    let further = [format!("addresses/{token:#x}/logs"), format!("addresses/{COINBASE:#x}/blocks-validated")];
    let all = of_account.into_iter().chain(of_token).chain(of_block).chain(further);
    let all = all.chain(of_everything.into_iter().chain(ranked).map(str::to_owned));
    all.chain(charts(account, token)).collect()
}

fn charts(account: Address, token: Address) -> Vec<String> {
    let of_account = ["coins", "counterparties"].map(|what| format!("addresses/{account:#x}/activity/{what}"));
    let of_contract = ["events", "methods", "failures"].map(|what| format!("addresses/{token:#x}/activity/{what}"));
    let of_token = format!("tokens/{token:#x}/activity");
    let of_chain = ["stats/activity", "stats/activity/failures"].map(str::to_owned);
    of_account.into_iter().chain(of_contract).chain([of_token]).chain(of_chain).collect()
}

/// One API that keeps neither answers nor rows, and another whose statements are seen.
struct Apis {
    cold: Server,
    observed: Server,
    recorder: Recorder,
    agent: Agent,
}

impl Apis {
    fn start(bed: &TestBed) -> anyhow::Result<Self> {
        let recorder = Recorder::start(&bed.engine.url)?;
        let without_cache = ["--cache-size", "0", "--settled-cache-size", "0"].map(str::to_owned);
        let cold = bed.launch.api(&bed.engine.url, &without_cache)?;
        let observed = bed.launch.api(&recorder.url, &without_cache)?;
        Ok(Self { cold, observed, recorder, agent: agent() })
    }

    fn page(&self, target: &str) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&read(&self.agent, &self.cold.url, target)?)?)
    }

    /// The statements of the API for a page, without those that it sends at any time.
    fn statements(&self, target: &str) -> anyhow::Result<Vec<Statement>> {
        // Once, so that what is remembered of contracts and selectors is remembered.
        read(&self.agent, &self.observed.url, target)?;
        self.recorder.take();
        std::thread::sleep(Duration::from_millis(1_200));
        let always = self.recorder.take();
        read(&self.agent, &self.observed.url, target)?;
        let mut statements = self.recorder.take();
        // Without a text: the wait for the next change.
        statements
            .retain(|statement| !statement.sql.is_empty() && always.iter().all(|other| other.sql != statement.sql));
        Ok(statements)
    }
}

fn read(agent: &Agent, api: &str, target: &str) -> anyhow::Result<Vec<u8>> {
    let mut response = agent.get(format!("{api}/api/v2/{target}")).call()?;
    let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
    ensure!(response.status() == 200, "{target}: {} {}", response.status(), String::from_utf8_lossy(&body));
    Ok(body)
}

/// The last full page of a list, or the one that is [`DEEP`] in, with its number; none where there is only one page.
fn deep(apis: &Apis, path: &str) -> anyhow::Result<Option<(usize, String)>> {
    let (mut target, mut found) = (path.to_owned(), None);
    for number in 1..=DEEP {
        let page = apis.page(&target)?;
        let Some(next) = page.get("next_page_params").and_then(Value::as_object) else { break };
        if number > 1 {
            found = Some((number, target));
        }
        let mut query = Serializer::new(String::new());
        for (name, value) in next {
            query.append_pair(name, &value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        target = format!("{path}{}{}", if path.contains('?') { '&' } else { '?' }, query.finish());
    }
    Ok(found)
}

/// Milliseconds of a page, of its longest statement, and of all its statements one after the other; and how many they
/// are.
fn against_raw(bed: &TestBed, apis: &Apis, target: &str, rounds: u64) -> anyhow::Result<([f64; 3], usize)> {
    let statements = apis.statements(target)?;
    let engine = &bed.engine.url;
    let timed = |act: &dyn Fn() -> anyhow::Result<()>| {
        let started = Instant::now();
        act().map(|()| started.elapsed().as_secs_f64() * 1e3)
    };
    let ask = |statement: &Statement| timed(&|| statement.ask(&apis.agent, engine).map(drop));
    let page = || read(&apis.agent, &apis.cold.url, target).map(drop);
    let all = || statements.iter().try_for_each(|statement| statement.ask(&apis.agent, engine).map(drop));
    let mut longest: Option<(f64, &Statement)> = None;
    for statement in &statements {
        ask(statement)?;
        let times: Vec<f64> = (0..5).map(|_| ask(statement)).collect::<anyhow::Result<_>>()?;
        let time = quantile(&times, 0.5);
        if longest.is_none_or(|(least, _)| time > least) {
            longest = Some((time, statement));
        }
    }
    // A page from memory alone needs none.
    let one = || longest.map_or(Ok(()), |(_, statement)| statement.ask(&apis.agent, engine).map(drop));
    let mut times = [const { Vec::new() }; 3];
    for round in 0..=rounds {
        let samples = [timed(&page)?, timed(&one)?, timed(&all)?];
        if round > 0 {
            times.iter_mut().zip(samples).for_each(|(times, sample)| times.push(sample));
        }
    }
    Ok((times.map(|times| quantile(&times, 0.5)), statements.len()))
}

/// The lists that this chain has; the report names the others.
fn served(bed: &TestBed, apis: &Apis, report: &mut Report) -> Vec<String> {
    let mut paths = paths(bed);
    paths.retain(|path| match apis.page(path) {
        Ok(_) => true,
        Err(error) => {
            report.fact(format!("Not measured: {error:#}."));
            false
        }
    });
    paths
}

/// Every list, its first page and a deep one, while nothing is added. How much longer the slowest pages take than all
/// their statements in turn.
fn at_rest(
    bed: &TestBed,
    apis: &Apis,
    (paths, flags): (&[String], &Flags),
    report: &mut Report,
) -> anyhow::Result<f64> {
    let (mut rows, mut worst) = (Vec::new(), 0_f64);
    for path in paths {
        let mut pages = vec![(1, path.clone())];
        pages.extend(deep(apis, path)?);
        for (number, target) in pages {
            let ([page, longest, all], statements) = against_raw(bed, apis, &target, 10 * flags.rounds)?;
            let ratio = page / longest;
            progress(&format!("{path}, page {number}: {page:.1} ms, its longest statement {longest:.1} ms"));
            if statements > 0 {
                worst = worst.max(page / all);
            }
            // A page of blocks in memory needs no statement.
            let values = if statements > 0 { vec![longest, all, ratio, page / all] } else { Vec::new() };
            let mut row = vec![format!("`{path}`"), number.to_string(), statements.to_string(), figure(page)];
            row.extend(values.into_iter().map(figure));
            row.resize(8, String::new());
            rows.push(row);
        }
    }
    let columns =
        ["list", "page", "statements", "API ms", "longest ms", "all in turn ms", "API / longest", "API / all"];
    report.table("Lists at rest, without caches of answers and rows, one client (medians)", &columns, &rows);
    Ok(worst)
}

/// Milliseconds of each answer of a list, and those that were refused.
#[derive(Default)]
struct Answers {
    times: Vec<f64>,
    refused: usize,
    other: Vec<String>,
}

/// So many clients that ask for the first pages of all lists, one after the other.
fn crowd(api: &str, paths: &[String], clients: usize, seconds: f64) -> BTreeMap<String, Answers> {
    let is_over = AtomicBool::new(false);
    let client = |number: usize| {
        let (agent, mut answers) = (agent(), BTreeMap::<String, Answers>::new());
        for path in paths.iter().cycle().skip(number) {
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            let of = answers.entry(path.clone()).or_default();
            let started = Instant::now();
            let status = agent.get(format!("{api}/api/v2/{path}")).call().and_then(|mut response| {
                let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
                Ok((response.status().as_u16(), body))
            });
            match status {
                Ok((200, body)) if serde_json::from_slice::<Value>(&body).is_ok() => {
                    of.times.push(started.elapsed().as_secs_f64() * 1e3);
                }
                Ok((429 | 503, _)) => of.refused += 1,
                Ok((status, body)) => of.other.push(format!("{status} {}", String::from_utf8_lossy(&body))),
                Err(error) => of.other.push(error.to_string()),
            }
        }
        answers
    };
    std::thread::scope(|scope| {
        let client = &client;
        let threads: Vec<_> = (0..clients).map(|number| scope.spawn(move || client(number))).collect();
        std::thread::sleep(Duration::from_secs_f64(seconds));
        is_over.store(true, Ordering::Relaxed);
        let mut all = BTreeMap::<String, Answers>::new();
        for (path, answers) in threads.into_iter().filter_map(|thread| thread.join().ok()).flatten() {
            let of = all.entry(path).or_default();
            of.times.extend(answers.times);
            of.refused += answers.refused;
            of.other.extend(answers.other);
        }
        all
    })
}

/// The first pages with one client and with 64, on settled heads and on a chain that grows and reorganises.
fn under_load(
    bed: &TestBed,
    (paths, flags): (&[String], &Flags),
    size: Size,
    report: &mut Report,
) -> anyhow::Result<usize> {
    let api = bed.api.as_ref().context("the API runs")?.url.clone();
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut failed = 0;
    for clients in [1, 64] {
        for grows in [None, Some(1.)] {
            let pace = |rate| Pace { rate, size, reorganise_every: Some(flags.seconds / 3.) };
            let growing = grows.map(|rate| GrowingChain::start(&bed.chain, pace(rate)));
            let answers = crowd(&api, paths, clients, 2. * flags.seconds);
            growing.map_or(Ok(()), GrowingChain::stop)?;
            bed.wait_until_followed()?;
            for (path, of) in answers {
                failed += of.other.len();
                for said in of.other.iter().take(1) {
                    report.fact(format!("{path}: {said}."));
                }
                let [median, most] = [0.5, 0.99].map(|share| figure(quantile(&of.times, share)));
                let row = rows.entry(format!("`{path}`")).or_default();
                row.push(format!("{median}, {most} ({}, {} refused)", of.times.len(), of.refused));
            }
        }
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(path, row)| [vec![path], row].concat()).collect();
    let columns = ["list", "1 client, at rest", "1 client, growing", "64 clients, at rest", "64 clients, growing"];
    report.table("First pages, p50 and p99 ms (answers)", &columns, &rows);
    Ok(failed)
}

/// All of it.
pub fn measure(bed: &TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    bed.rest()?;
    let apis = Apis::start(bed)?;
    let paths = served(bed, &apis, report);
    let worst = at_rest(bed, &apis, (&paths, flags), report)?;
    drop(apis);
    let failed = under_load(bed, (&paths, flags), size, report)?;
    report.goal("page of a list / its statements in turn (worst)", "", worst, Bound::AtMost(1.3));
    report.goal("pages of lists that failed, of a growing chain's too", "", failed as f64, Bound::AtMost(0.));
    Ok(())
}
