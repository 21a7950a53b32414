//! Clients that ask the mix over HTTP and judge each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use ureq::Agent;

use crate::answer::{self, Content};
use crate::ask::{HeadRequest, HighestBlock};
use crate::chain::Chain;
use crate::judge::{Verdict, hold, judge};
use crate::tally::Tally;

/// What a client needs.
#[derive(Clone)]
pub struct Target {
    /// Of the API.
    pub url: String,
    /// What its answers are held against.
    pub chain: Arc<Chain>,
    /// The highest block it showed.
    pub seen: Arc<HighestBlock>,
    /// How long ago a head may have been left that an answer is of.
    pub allowed: Duration,
}

/// An answer that was read to its end, or not.
pub enum Answer {
    /// Its status and body.
    Whole(u16, Vec<u8>),
    /// It broke off.
    BrokenOff,
    /// There was none.
    None(String),
}

/// An agent whose answers may take as long as any client waits.
pub fn agent() -> Agent {
    let wait = Some(Duration::from_secs(60));
    Agent::config_builder().http_status_as_error(false).timeout_global(wait).build().into()
}

impl Target {
    /// Sends a request.
    pub fn send(&self, agent: &Agent, ask: HeadRequest) -> Answer {
        let request = ask.request(&self.chain.world);
        let url = format!("{}{}", self.url, request.path);
        let sent = match request.body {
            Some(body) => agent.post(&url).header("content-type", "application/json").send(body.to_string()),
            None => agent.get(&url).call(),
        };
        match sent {
            Ok(mut response) => {
                let status = response.status().as_u16();
                match response.body_mut().with_config().limit(u64::MAX).read_to_vec() {
                    Ok(body) => Answer::Whole(status, body),
                    Err(_) => Answer::BrokenOff,
                }
            }
            Err(error) => Answer::None(error.to_string()),
        }
    }

    /// Sends a request, judges the answer and counts it.
    pub fn ask(&self, agent: &Agent, ask: HeadRequest, tally: &mut Tally) {
        let start = Instant::now();
        let answer = self.send(agent, ask);
        let end = Instant::now();
        let model = self.chain.model();
        let verdict = match answer {
            Answer::Whole(200, body) => {
                self.note(ask, &body, &model);
                judge(ask, &body, (&model, &self.chain.world), (start, end))
            }
            Answer::Whole(404, _) if matches!(ask, HeadRequest::TransactionLogs(_) | HeadRequest::Summary(_)) => {
                hold(ask, &Content::Nothing, (&model, &self.chain.world), (start, end))
            }
            Answer::Whole(429 | 503, _) => Verdict::Refused,
            Answer::Whole(status, body) => Verdict::Failed(format!("{status} {}", String::from_utf8_lossy(&body))),
            Answer::BrokenOff => Verdict::BrokenOff,
            Answer::None(error) => Verdict::Failed(error),
        };
        tally.add(ask.route(), end - start, verdict, self.allowed, model.had_reorganisation(start, end));
    }

    /// Remembers what the API showed of the head.
    fn note(&self, ask: HeadRequest, body: &[u8], model: &crate::chain::Model) {
        if ask != HeadRequest::Blocks {
            return;
        }
        if let Ok(Content::Rows(rows)) = answer::read(ask, body, model)
            && let Some(block_index) = rows.first().and_then(|row| row.0)
        {
            self.seen.set(model.at(block_index).number);
        }
    }

    /// Height of the node's newest block.
    pub fn tip_number(&self) -> u64 {
        let model = self.chain.model();
        model.at(model.tip()).number
    }

    /// Waits until the API shows the newest block of the node.
    pub fn catch_up(&self, agent: &Agent) -> anyhow::Result<Duration> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(120) {
            let number = self.tip_number();
            let answer = self.send(agent, HeadRequest::Batch(number));
            if let Answer::Whole(200, body) = answer {
                let model = self.chain.model();
                self.seen.set(number);
                let tip = Some(model.tip());
                if let Ok(Content::Rows(rows)) = answer::read(HeadRequest::Batch(number), &body, &model)
                    && rows.last().is_some_and(|row| row.0 == tip)
                {
                    return Ok(started.elapsed());
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(anyhow!("the API did not show block {} within two minutes", self.seen.get()))
    }
}

/// Clients at work.
pub struct ClientPool {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tally>>,
    started: Instant,
}

impl ClientPool {
    /// Starts so many clients, each with one request at a time.
    pub fn start(target: &Target, clients: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let client = |number: usize| {
            let (target, stop) = (target.clone(), Arc::clone(&stop));
            std::thread::spawn(move || {
                let (agent, mut tally) = (agent(), Tally::default());
                let mut random = fastrand::Rng::with_seed(number as u64);
                while !stop.load(Ordering::Relaxed) {
                    let ask = HeadRequest::any(&mut random, &target.seen, &target.chain.model());
                    target.ask(&agent, ask, &mut tally);
                }
                tally
            })
        };
        Self { threads: (0..clients).map(client).collect(), stop, started: Instant::now() }
    }

    /// Lets them finish; what came of it, and how many seconds they were at work.
    pub fn stop(self) -> (Tally, f64) {
        self.stop.store(true, Ordering::Relaxed);
        let mut tally = Tally::default();
        for thread in self.threads {
            if let Ok(of_one) = thread.join() {
                tally.merge(of_one);
            }
        }
        (tally, self.started.elapsed().as_secs_f64())
    }
}
