//! Which node is called, and how often until it is given up.
//!
//! The first node that is not set aside answers. One that fails is set aside while others take over; all calls of one
//! attempt go to the same node, as nodes may stand on different branches.

use std::future::Future;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};

use super::client::{NodeClient, TURN};
use super::error::NodeError;
use super::failure::Failure;
use super::node::Node;
use super::settings::RetryPolicy;

/// What became of the attempts so far.
struct Attempts {
    /// Which nodes will not answer this.
    refused: Vec<bool>,
    failed: u32,
    limited: u32,
}

impl NodeClient {
    /// Repeats `attempt` as the policy says, until it succeeds.
    ///
    /// # Errors
    ///
    /// If it fails for good at every node or has failed too often; `what` names what was called for.
    pub async fn retry<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        what: &str,
        attempt: impl FnMut() -> F,
    ) -> Result<T, NodeError> {
        self.with_failover(attempt).await.map_err(|exhausted| exhausted.of(what))
    }

    /// The same for a caller that looks at the last failure.
    ///
    /// # Errors
    ///
    /// If it fails for good at every node or has failed too often.
    pub async fn with_failover<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Exhausted> {
        let mut pauses = pauses();
        let mut attempts = Attempts { refused: vec![false; self.nodes.len()], failed: 0, limited: 0 };
        loop {
            let turn = self.choose(&attempts.refused);
            let (node, started) = (&self.nodes[turn], Instant::now());
            let failure = match TURN.scope(turn, attempt()).await {
                Ok(value) => {
                    node.health.recovered();
                    return Ok(value);
                }
                Err(failure) => failure,
            };
            tracing::debug!(node = node.name, cause = failure.cause, "a node failed");
            let last = attempts.count(turn, &failure, self.policy);
            // What no node gives to one caller says nothing about the next call; that a relayed call failed does.
            let says_nothing = match self.policy {
                RetryPolicy::Persistent { .. } => last.is_some() || failure.is_unsupported(),
                RetryPolicy::OncePerNode { .. } => false,
            };
            if !says_nothing {
                node.health.set_aside(started, failure.retry_after, self.policy);
            }
            if let Some(attempts) = last {
                return Err(Exhausted { node: node.name.clone(), attempts, failure });
            }
            if let Some(wait) = self.pause(&attempts.refused, &failure, &mut pauses) {
                tokio::time::sleep(wait).await;
            }
        }
    }

    /// The first node that may answer and is not set aside; if all are, the one whose time is up first, or, where nothing
    /// is awaited, the first.
    fn choose(&self, refused: &[bool]) -> usize {
        let candidates = || (0..self.nodes.len()).filter(|turn| !refused[*turn]);
        let ready = candidates().find(|turn| self.nodes[*turn].health.is_ready());
        let best = || match self.policy {
            RetryPolicy::Persistent { .. } => candidates().min_by_key(|turn| self.nodes[*turn].health.ready_at()),
            RetryPolicy::OncePerNode { .. } => candidates().next(),
        };
        ready.or_else(best).unwrap_or_default()
    }

    /// The node that a call goes to that is sent once.
    pub(crate) fn first_ready(&self) -> &Node {
        &self.nodes[self.choose(&vec![false; self.nodes.len()])]
    }

    /// How long to wait before the next attempt, if no node is ready.
    fn pause(
        &self,
        refused: &[bool],
        failure: &Failure,
        pauses: &mut impl Iterator<Item = Duration>,
    ) -> Option<Duration> {
        let any_ready = || self.nodes.iter().zip(refused).any(|(node, refused)| !refused && node.health.is_ready());
        if matches!(self.policy, RetryPolicy::OncePerNode { .. }) || any_ready() {
            return None;
        }
        let pause = pauses.next().unwrap_or(Duration::from_secs(10));
        Some(failure.retry_after.map_or(pause, |wait| wait.min(Duration::from_secs(60)).max(pause)))
    }
}

impl Attempts {
    /// Counts a failure of a node; if it was the last: how many attempts there were, or `None` if no node will ever answer.
    fn count(&mut self, turn: usize, failure: &Failure, policy: RetryPolicy) -> Option<Option<u32>> {
        match failure.is_rate_limited() {
            true => self.limited += 1,
            false => self.failed += 1,
        }
        let all = self.failed + self.limited;
        let nodes = u32::try_from(self.refused.len()).unwrap_or(u32::MAX);
        let (is_refused, is_last) = match policy {
            RetryPolicy::Persistent { attempts, limited_attempts } => (
                failure.is_permanent(),
                self.failed >= attempts.saturating_mul(nodes) || all >= limited_attempts.saturating_mul(nodes),
            ),
            RetryPolicy::OncePerNode { .. } => (true, all >= nodes),
        };
        self.refused[turn] |= is_refused;
        match self.refused.iter().all(|refused| *refused) {
            true => Some(None),
            false => is_last.then_some(Some(all)),
        }
    }
}

/// Why an attempt was given up.
#[derive(Debug)]
pub struct Exhausted {
    /// The node that was called last.
    node: String,
    /// How often it was tried; `None` if every node refused for good.
    attempts: Option<u32>,
    /// The last failure.
    pub failure: Failure,
}

impl Exhausted {
    /// The same as an error about `what`.
    #[must_use]
    pub fn of(self, what: &str) -> NodeError {
        let Self { node, attempts, failure } = self;
        let (what, cause) = (what.to_owned(), failure.cause);
        match attempts {
            Some(attempts) => NodeError::Unreachable { node, what, attempts, cause },
            None => NodeError::Refused { node, what, cause },
        }
    }
}

/// Pauses between attempts when no node is left to call: growing, with jitter.
fn pauses() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(200))
        .with_max_delay(Duration::from_secs(10))
        .without_max_times()
        .with_jitter()
        .build()
}
