//! An API over two addresses of one database, each an engine with the same chain: one that ends or hangs is replaced,
//! and nothing is short.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;
use xtask::http;
use xtask::process::{self, Server};

use crate::chains::dump;
use crate::damage::questions::{Answer, Question, ask, questions};
use crate::env;

const DATABASE: &str = "trawl";

/// An engine that can be started again where it was.
struct Engine {
    data: TempDir,
    port: u16,
    server: Option<Server>,
}

impl Engine {
    /// One with the chain up to a block.
    fn with_blocks_to(last: &str) -> anyhow::Result<Self> {
        let mut engine = Self { data: env::directory()?, port: env::free_port()?, server: None };
        engine.start()?;
        env::run(env::ingest_at(&engine.url(), DATABASE, &["migrate"]), 0)?;
        engine.load_to(last)?;
        Ok(engine)
    }

    fn load_to(&self, last: &str) -> anyhow::Result<()> {
        let load = ["load", "--dump", &dump("devchain"), "--to", last, "--merge", "off"];
        env::run(env::ingest_at(&self.url(), DATABASE, &load), 0).map(drop)
    }

    fn start(&mut self) -> anyhow::Result<()> {
        self.server = Some(env::start_engine(self.data.path(), self.port, &[])?);
        Ok(())
    }

    fn kill(&mut self) -> anyhow::Result<()> {
        self.server.take().context("it runs")?.kill()
    }

    fn signal(&self, signal: i32) -> anyhow::Result<()> {
        process::signal(self.server.as_ref().context("it runs")?.id(), signal)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

/// Questions with the answers that are right.
struct QuestionSet(Vec<(Question, Answer)>);

impl QuestionSet {
    fn of(api: &str) -> anyhow::Result<Self> {
        let answers = questions()?.into_iter().step_by(9).map(|question| (question.clone(), ask(api, &question)));
        // Two loads of the same blocks differ in when they were.
        let is_of_a_load = |answer: &Answer| matches!(answer, Answer::Rest(_, body) if body.contains("decided_at"));
        let answers: Vec<_> = answers.filter(|(_, answer)| !answer.is_error() && !is_of_a_load(answer)).collect();
        ensure!(answers.len() > 15, "{} answers", answers.len());
        Ok(Self(answers))
    }

    /// Asks one thing after another until `limit` is over: each answer is right, or says that it cannot be given now.
    /// The time from the beginning to the last of those, and how many were right.
    fn ask_for(&self, api: &str, limit: Duration) -> anyhow::Result<(Duration, usize)> {
        let started = Instant::now();
        let (mut last_refusal, mut right) = (Duration::ZERO, 0);
        for (question, expected) in self.0.iter().cycle() {
            match ask(api, question) {
                found if found == *expected => right += 1,
                // One that had begun is cut off.
                Answer::Rest(503, _) | Answer::Nothing => last_refusal = started.elapsed(),
                Answer::Rpc(envelope) if envelope["error"]["code"] == -32005 => last_refusal = started.elapsed(),
                found => anyhow::bail!("{question:?}: {found:?}\ninstead of\n{expected:?}"),
            }
            if started.elapsed() > limit {
                break;
            }
            std::thread::sleep(Duration::from_millis(40));
        }
        Ok((last_refusal, right))
    }
}

fn ready(api: &str) -> anyhow::Result<(u16, String)> {
    let answer = http::get(&http::agent(), &format!("{api}/health/ready"))?;
    Ok((answer.status, answer.text()))
}

#[test]
fn of_two_addresses_one_that_is_gone_is_replaced() -> anyhow::Result<()> {
    let (mut first, mut second) = (Engine::with_blocks_to("91")?, Engine::with_blocks_to("60")?);
    let both = format!("{},{}", first.url(), second.url());
    let api = env::start_api_at(&both, DATABASE, &["--cache-size", "0", "--settled-cache-size", "0"])?;
    let questions = QuestionSet::of(&api.url)?;

    first.kill()?;
    let (_, right) = questions.ask_for(&api.url, Duration::from_secs(1))?;
    ensure!(right == 0, "the second address lacks blocks, and {right} answers were made of it");
    second.load_to("91")?;
    env::eventually(Duration::from_secs(5), || Ok(ready(&api.url)?.0 == 200))?;
    let (refused_for, right) = questions.ask_for(&api.url, Duration::from_secs(1))?;
    ensure!(refused_for == Duration::ZERO && right > 0, "refused for {refused_for:?}, {right} right");

    first.start()?;
    second.kill()?;
    let (refused_for, right) = questions.ask_for(&api.url, Duration::from_secs(4))?;
    ensure!(refused_for < Duration::from_secs(4) && right > 0, "refused for {refused_for:?}, {right} right");

    second.start()?;
    first.signal(libc::SIGSTOP)?;
    let (refused_for, right) = questions.ask_for(&api.url, Duration::from_secs(10))?;
    first.signal(libc::SIGCONT)?;
    ensure!(refused_for < Duration::from_secs(10) && right > 0, "refused for {refused_for:?}, {right} right");

    first.kill()?;
    second.kill()?;
    let (_, right) = questions.ask_for(&api.url, Duration::from_secs(1))?;
    ensure!(right == 0, "{right} answers without an engine");
    let answer = http::get(&http::agent(), &format!("{}/api/v2/blocks", api.url))?;
    ensure!((answer.status, answer.header("retry-after")) == (503, "5"), "{answer:?}");
    ensure!(ready(&api.url)?.0 == 503);
    second.start()?;
    env::eventually(Duration::from_secs(5), || Ok(ready(&api.url)?.0 == 200))?;
    let (refused_for, right) = questions.ask_for(&api.url, Duration::from_secs(1))?;
    ensure!(refused_for == Duration::ZERO && right > 0, "refused for {refused_for:?}, {right} right");
    api.stop()?;
    Ok(())
}

#[test]
fn what_writes_takes_one_address() -> anyhow::Result<()> {
    let status = env::ingest_at("http://127.0.0.1:1,http://127.0.0.1:2", DATABASE, &["status"]);
    let output = env::run(status, 2)?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(stderr.contains("--clickhouse-url has 2 addresses"), "{stderr}");
    Ok(())
}
