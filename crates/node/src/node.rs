//! One node: its limits, its health, the features it does not have, and calls in batches.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::chain::KnownChain;
use super::contact::{AnsweredLook, Contact};
use super::error::NodeError;
use super::figures;
use super::health::Health;
use super::limiter::AdaptiveLimiter;
use super::message;
use super::settings::NodeSettings;
use super::transport::{MAX_RESPONSE_BYTES, Transport};
use crate::error::call::{Answer, CallError};
use crate::error::failure::Failure;

/// One JSON-RPC endpoint, over HTTP or WebSocket.
#[derive(Debug)]
pub struct Node {
    pub transport: Transport,
    /// Scheme, host and port: paths and queries hold keys and are never shown.
    pub name: String,
    pub health: Health,
    pub contact: Contact,
    limiter: AdaptiveLimiter,
    /// Its chain, once checked and as long as it was not away since.
    checked: Mutex<Option<KnownChain>>,
    /// Missing features, each with the node's message.
    missing: Mutex<BTreeMap<&'static str, String>>,
}

impl Node {
    pub fn new(url: &str, settings: NodeSettings) -> Result<Self, NodeError> {
        let (transport, name) = Transport::new(url, settings).map_err(|cause| NodeError::Address { cause })?;
        let limiter = AdaptiveLimiter::new(settings.concurrency);
        let (health, contact) = (Health::default(), Contact::default());
        Ok(Self { transport, name, health, contact, limiter, checked: Mutex::default(), missing: Mutex::default() })
    }

    fn features(&self) -> MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the node does not have this feature, if known.
    pub fn missing(&self, feature: &'static str) -> Option<String> {
        self.features().get(feature).cloned()
    }

    /// Records that the node does not have this feature.
    pub fn mark_missing(&self, feature: &'static str, cause: &str) {
        if self.features().insert(feature, cause.into()).is_none() {
            tracing::info!(node = self.name, feature, cause, "the node does not support this feature");
        }
    }

    fn checked(&self) -> MutexGuard<'_, Option<KnownChain>> {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the node was checked to be of this chain.
    pub fn is_of_chain(&self, expected: &KnownChain) -> bool {
        self.checked().as_ref() == Some(expected)
    }

    /// Checks the node anew before its next call.
    pub fn distrust(&self) {
        *self.checked() = None;
    }

    /// Checks its answer to `eth_chainId`.
    pub fn compare_chain(&self, answer: &RawValue, expected: u64) -> Result<(), Failure> {
        let found = message::quantity(answer)?;
        if found != expected {
            return Err(Failure::other_chain(found, expected));
        }
        *self.checked() = Some(KnownChain::of_id(expected));
        Ok(())
    }

    /// Asks the node what shows its chain, unless that was done before.
    pub async fn check_chain(&self, expected: &KnownChain) -> Result<(), Failure> {
        if self.is_of_chain(expected) {
            return Ok(());
        }
        let answers = self.batch(&expected.calls()).await?;
        self.compare(answers, expected)
    }

    fn compare(&self, answers: Vec<Answer>, expected: &KnownChain) -> Result<(), Failure> {
        let compared = expected.compare(answers);
        self.contact.compared(compared.as_ref().err());
        if compared.is_ok() {
            *self.checked() = Some(expected.clone());
        }
        compared
    }

    /// Looks at the newest block of the node, and at what shows its chain if that was not done since it was away. Looks
    /// are apart from all other calls and their limits.
    pub async fn poll(&self, timeout: Duration, expected: Option<&KnownChain>) {
        let started = Instant::now();
        let unchecked = expected.filter(|expected| !self.is_of_chain(expected));
        let mut calls = vec![("eth_blockNumber", json!([]))];
        calls.extend(unchecked.into_iter().flat_map(KnownChain::calls));
        let answers = match tokio::time::timeout(timeout, self.request(&calls, MAX_RESPONSE_BYTES)).await {
            Ok(answers) => answers,
            Err(_) => Err(Failure::timeout("no answer in time")),
        };
        let looked = answers.and_then(|mut answers| {
            let height = message::quantity(&answers.remove(0)?)?;
            Ok((height, answers))
        });
        match looked {
            Ok((height, answers)) => {
                match self.contact.answered_look(started, height) {
                    AnsweredLook::Late => return,
                    AnsweredLook::Usual => {}
                    AnsweredLook::Revival => {
                        self.distrust();
                        self.health.recovered();
                        self.limiter.forgive();
                    }
                }
                if let Some(expected) = unchecked {
                    // Noted where it is shown.
                    drop(self.compare(answers, expected));
                }
            }
            Err(failure) => self.contact.missed_look(started, &failure),
        }
    }

    /// Sends calls in as few requests as the node accepts; the answers are in their order, one each. A call whose
    /// response alone is too large for the node gets an error.
    pub async fn batch(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let mut answers: Vec<Answer> = Vec::with_capacity(calls.len());
        while let Some(rest) = calls.get(answers.len()..).filter(|rest| !rest.is_empty()) {
            let size = self.limiter.batch().min(rest.len());
            let permit = self.limiter.acquire().await;
            match self.request(&rest[..size], MAX_RESPONSE_BYTES).await {
                Ok(some) => {
                    if some.iter().any(is_rate_limited) {
                        self.limiter.overloaded(&permit, None);
                    } else {
                        self.limiter.succeeded(size);
                    }
                    answers.extend(some);
                }
                Err(failure) if failure.is_too_large() => {
                    self.limiter.too_large(size);
                    if size == 1 {
                        let message = format!("response too large: {}", failure.cause);
                        answers.push(Err(CallError { code: -32003, message }));
                    }
                }
                Err(failure) => {
                    if failure.is_overload() {
                        self.limiter.overloaded(&permit, failure.retry_after);
                    }
                    return Err(failure);
                }
            }
        }
        Ok(answers)
    }

    /// Sends calls in one request, once, and reads at most `limit` bytes of the answer. `timeout` begins when
    /// the request is sent.
    pub async fn once(
        &self,
        calls: &[(&'static str, Value)],
        limit: usize,
        timeout: Duration,
    ) -> Result<Vec<Answer>, Failure> {
        let permit = self.limiter.acquire().await;
        let answered = match tokio::time::timeout(timeout, self.request(calls, limit)).await {
            Ok(answered) => answered,
            Err(_) => return Err(Failure::too_large("an answer that takes too long")),
        };
        match &answered {
            Ok(answers) if answers.iter().any(is_rate_limited) => self.limiter.overloaded(&permit, None),
            Ok(_) => self.limiter.succeeded(calls.len()),
            Err(failure) if failure.is_overload() => self.limiter.overloaded(&permit, failure.retry_after),
            Err(_) => {}
        }
        answered
    }

    /// One request; the answer has at most `limit` bytes.
    async fn request(&self, calls: &[(&'static str, Value)], limit: usize) -> Result<Vec<Answer>, Failure> {
        let answers = async {
            let incoming = self.transport.send(message::batch_request(calls)).await?;
            match incoming.status_failure() {
                Some(failure) => Err(failure),
                None => message::batch_answers(&incoming.text(limit).await?, calls.len()),
            }
        };
        let started = Instant::now();
        let answers = answers.await;
        figures::count_request(calls, &answers, started.elapsed());
        match &answers {
            Ok(_) => self.contact.answered(),
            Err(failure) => {
                self.contact.failed(failure);
                if failure.is_outage() {
                    self.distrust();
                }
            }
        }
        answers
    }
}

fn is_rate_limited(answer: &Answer) -> bool {
    answer.as_ref().is_err_and(|error| Failure::from(error.clone()).is_rate_limited())
}
