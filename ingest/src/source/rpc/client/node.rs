//! One node: its pace, whether it is set aside, and calls told apart into answers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::NodeSettings;
use super::failure::{self, Answer, CallError, Failure};
use super::pace::Pace;
use super::transport::{MAX_ANSWER, Transport};
use crate::source::SourceError;

/// The longest a node is set aside before it is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A node.
#[derive(Debug)]
pub(super) struct Node {
    transport: Transport,
    /// Scheme, host and port: paths and queries hold keys and are never shown.
    pub name: String,
    pace: Pace,
    /// It was found to be of the right chain.
    checked: AtomicBool,
    health: Mutex<Health>,
    /// What it has said that it does not have, in its words.
    lacking: Mutex<BTreeMap<&'static str, String>>,
}

#[derive(Debug, Default)]
struct Health {
    failures: u32,
    /// When it was set aside last, and until when.
    aside: Option<(Instant, Instant)>,
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<usize>,
    result: Option<Box<RawValue>>,
    error: Option<CallError>,
}

impl Node {
    pub fn new(url: &str, settings: NodeSettings) -> Result<Self, SourceError> {
        let (transport, name) = Transport::new(url, settings.timeout).map_err(|cause| SourceError::Refused {
            node: "--rpc-url".into(),
            what: "a connection".into(),
            cause,
        })?;
        let (pace, health) = (Pace::new(settings.concurrency), Mutex::default());
        Ok(Self { transport, name, pace, checked: AtomicBool::new(false), health, lacking: Mutex::default() })
    }

    fn lacking(&self) -> MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.lacking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has said that it does not have this way of answering, and how.
    pub fn lacks(&self, way: &'static str) -> Option<String> {
        self.lacking().get(way).cloned()
    }

    /// It said that it does not have this way of answering.
    pub fn is_without(&self, way: &'static str, told: &str) {
        if self.lacking().insert(way, told.into()).is_none() {
            tracing::info!(node = self.name, way, told, "the node does not have this way to answer");
        }
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When it may be asked again; the past if it is not set aside.
    pub fn ready_at(&self) -> Option<Instant> {
        self.health().aside.map(|(_, until)| until)
    }

    pub fn is_ready(&self) -> bool {
        self.ready_at().is_none_or(|until| until <= Instant::now())
    }

    /// An attempt that began at `started` failed: the node rests. Attempts that ran together count once.
    pub fn set_aside(&self, started: Instant, retry_after: Option<Duration>) {
        let mut health = self.health();
        let now = Instant::now();
        if health.aside.is_some_and(|(since, _)| since > started) {
            return;
        }
        let pause = Duration::from_millis(200) * 2_u32.saturating_pow(health.failures.min(16));
        let pause = pause.max(retry_after.unwrap_or_default()).min(LONGEST_PAUSE);
        health.failures += 1;
        health.aside = Some((now, now + pause));
    }

    /// An attempt succeeded.
    pub fn recovered(&self) {
        *self.health() = Health::default();
    }

    /// Asks once which chain it is of.
    pub async fn check_chain(&self, expected: u64) -> Result<(), Failure> {
        if self.checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut answers = self.batch(&[("eth_chainId", json!([]))]).await?;
        let answer = answers.pop().ok_or_else(|| Failure::transient("no answer"))??;
        let found = failure::quantity(&answer)?;
        if found != expected {
            return Err(Failure::other_chain(found, expected));
        }
        self.checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Sends calls in as few requests as the node takes; the answers are in their order, one each. A call whose answer
    /// alone is too large for the node has an error that says so.
    pub async fn batch(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let mut answers: Vec<Answer> = Vec::with_capacity(calls.len());
        while let Some(rest) = calls.get(answers.len()..).filter(|rest| !rest.is_empty()) {
            let size = self.pace.batch().min(rest.len());
            let turn = self.pace.enter().await;
            match self.request(&rest[..size], MAX_ANSWER).await {
                Ok(some) => {
                    let busy = |answer: &Answer| answer.clone().is_err_and(|error| Failure::from(error).is_overload());
                    if some.iter().any(busy) {
                        self.pace.overloaded(&turn, None);
                    } else {
                        self.pace.succeeded(size);
                    }
                    answers.extend(some);
                }
                Err(failure) if failure.is_too_large() => {
                    self.pace.too_large(size);
                    if size == 1 {
                        let message = format!("response too large: {}", failure.cause);
                        answers.push(Err(CallError { code: -32003, message }));
                    }
                }
                Err(failure) => {
                    if failure.is_pressure() {
                        self.pace.overloaded(&turn, failure.retry_after);
                    }
                    return Err(failure);
                }
            }
        }
        Ok(answers)
    }

    /// Sends calls in one request, once, and reads at most `limit` bytes of the answer. `patience` begins when the node
    /// may be asked.
    pub async fn once(
        &self,
        calls: &[(&'static str, Value)],
        limit: usize,
        patience: Duration,
    ) -> Result<Vec<Answer>, Failure> {
        let turn = self.pace.enter().await;
        let answered = match tokio::time::timeout(patience, self.request(calls, limit)).await {
            Ok(answered) => answered,
            Err(_) => return Err(Failure::too_large("an answer that takes too long")),
        };
        let busy = |answer: &Answer| answer.clone().is_err_and(|error| Failure::from(error).is_overload());
        match &answered {
            Ok(answers) if answers.iter().any(busy) => self.pace.overloaded(&turn, None),
            Ok(_) => self.pace.succeeded(calls.len()),
            Err(failure) if failure.is_pressure() => self.pace.overloaded(&turn, failure.retry_after),
            Err(_) => {}
        }
        answered
    }

    /// One request; the answer has at most `limit` bytes.
    pub async fn request(&self, calls: &[(&'static str, Value)], limit: usize) -> Result<Vec<Answer>, Failure> {
        let body: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .collect();
        let text = self.transport.post(Value::Array(body).to_string(), limit).await?;
        let envelopes: Vec<Envelope> = match serde_json::from_str(&text) {
            Ok(envelopes) => envelopes,
            Err(error) => match serde_json::from_str::<Envelope>(&text) {
                // Some nodes refuse a whole batch with one error object.
                Ok(Envelope { error: Some(error), .. }) => return Err(error.into()),
                _ => return Err(Failure::transient(format!("its answer is no JSON-RPC: {error}"))),
            },
        };
        in_order(envelopes, calls.len())
    }
}

/// Sorts answers by the calls they answer; nodes may shuffle them.
fn in_order(envelopes: Vec<Envelope>, calls: usize) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Option<Answer>> = (0..calls).map(|_| None).collect();
    for envelope in envelopes {
        let slot = envelope.id.and_then(|id| answers.get_mut(id));
        let Some(slot) = slot else {
            return Err(match envelope.error {
                Some(error) => error.into(),
                None => Failure::transient("an answer belongs to no call"),
            });
        };
        *slot = Some(match envelope.error {
            Some(error) => Err(error),
            // An absent result and `null` are the same to serde.
            None => Ok(envelope.result.unwrap_or_else(null)),
        });
    }
    answers.into_iter().map(|answer| answer.ok_or_else(|| Failure::transient("a call was not answered"))).collect()
}

fn null() -> Box<RawValue> {
    RawValue::from_string("null".into()).expect("valid JSON")
}
