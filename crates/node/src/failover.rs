//! Choice of the node for a call, and retries.
//!
//! Calls go to the first node that is not set aside. A failed node is set aside for a while and others take over. All
//! calls of one attempt go to the same node, as nodes may be on different branches.

use std::future::Future;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

use super::client::{NodeClient, TURN};
use super::error::NodeError;
use super::figures;
use super::node::Node;
use super::settings::RetryPolicy;
use crate::error::failure::{Failure, FailureKind};

/// How often a node may say that it does not know a block: long enough for the nodes of a balancer that are a moment
/// apart.
const MAX_UNKNOWN: u32 = 4;

/// The attempts so far.
struct Attempts {
    /// Which nodes refused for good.
    refused: Vec<bool>,
    /// How often each node did not know the block.
    unknown: Vec<u32>,
    failed: u32,
    limited: u32,
    /// Attempts that were given up when their node came back.
    lost: u32,
}

/// How long a node that is back may take for calls that were sent while it was away.
const REVIVAL_GRACE: Duration = Duration::from_secs(3);

/// Returns when a call that was sent to a node while it was away is not to be expected any more.
async fn lost(node: &Node) {
    node.contact.revived().await;
    tokio::time::sleep(REVIVAL_GRACE).await;
}

impl NodeClient {
    /// Repeats `attempt` until it succeeds or the policy gives up.
    ///
    /// # Errors
    ///
    /// If it fails for good at every node or has failed too often; `what` names the requested data.
    pub async fn retry<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        what: &str,
        attempt: impl FnMut() -> F,
    ) -> Result<T, NodeError> {
        self.with_failover(attempt).await.map_err(|exhausted| exhausted.of(what))
    }

    /// [`NodeClient::retry`] for a caller that needs the last failure.
    ///
    /// # Errors
    ///
    /// If it fails for good at every node or has failed too often.
    pub async fn with_failover<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, RetriesExhausted> {
        let mut pauses = Pauses::default();
        let mut attempts = Attempts::at(self.nodes.len());
        let pending = self.pending.begin();
        loop {
            let turn = self.choose(&attempts.refused);
            let (node, started) = (&self.nodes[turn], Instant::now());
            let outcome = tokio::select! {
                biased;
                () = self.stopped() => Err(Failure::stopped()),
                outcome = TURN.scope(turn, attempt()) => outcome,
                () = lost(node), if attempts.lost == 0 => {
                    // It was sent to a node that was away, and will not be answered any more.
                    attempts.lost += 1;
                    continue;
                }
            };
            let failure = match outcome {
                Ok(value) => {
                    node.health.recovered();
                    return Ok(value);
                }
                Err(failure) if failure.kind() == FailureKind::Stopped => {
                    return Err(RetriesExhausted { node: node.name.clone(), attempts: None, failure });
                }
                Err(failure) => failure,
            };
            tracing::debug!(node = node.name, cause = failure.cause, "a call to a node failed");
            pending.failed(&failure);
            figures::count_failure(&failure);
            let last = attempts.count(turn, &failure, self.policy);
            // A refused part of an answer says nothing about the node's health; a failed relayed call does.
            let says_nothing = match self.policy {
                RetryPolicy::Persistent { .. } => last.is_some() || failure.is_unsupported(),
                RetryPolicy::OncePerNode { .. } => false,
            };
            if !says_nothing {
                node.health.set_aside(started, failure.retry_after, self.policy);
            }
            if let Some(attempts) = last {
                return Err(RetriesExhausted { node: node.name.clone(), attempts, failure });
            }
            if let Some(wait) = self.pause(&attempts.refused, &failure, &mut pauses) {
                tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    () = self.stopped() => {}
                    () = node.contact.revived() => {}
                }
            }
        }
    }

    /// The first node that has not refused and is not set aside. If all are set aside: the one that is ready first, or,
    /// under a policy without waits, the first.
    fn choose(&self, refused: &[bool]) -> usize {
        let candidates = || (0..self.nodes.len()).filter(|turn| !refused[*turn]);
        let ready = candidates().find(|turn| self.nodes[*turn].health.is_ready());
        let best = || match self.policy {
            RetryPolicy::Persistent { .. } => candidates().min_by_key(|turn| self.nodes[*turn].health.ready_at()),
            RetryPolicy::OncePerNode { .. } => candidates().next(),
        };
        ready.or_else(best).unwrap_or_default()
    }

    /// The node for a call that is sent once.
    pub(crate) fn first_ready(&self) -> &Node {
        &self.nodes[self.choose(&vec![false; self.nodes.len()])]
    }

    /// How long to wait before the next attempt, if no node is ready.
    fn pause(&self, refused: &[bool], failure: &Failure, pauses: &mut Pauses) -> Option<Duration> {
        let any_ready = || self.nodes.iter().zip(refused).any(|(node, refused)| !refused && node.health.is_ready());
        if matches!(self.policy, RetryPolicy::OncePerNode { .. }) || any_ready() {
            return None;
        }
        let pause = pauses.after(failure);
        Some(failure.retry_after.map_or(pause, |wait| wait.min(Duration::from_secs(60)).max(pause)))
    }
}

impl Attempts {
    fn at(nodes: usize) -> Self {
        Self { refused: vec![false; nodes], unknown: vec![0; nodes], failed: 0, limited: 0, lost: 0 }
    }

    /// Counts a failure. After the last attempt: the number of attempts, or `None` if every node refused for good.
    fn count(&mut self, turn: usize, failure: &Failure, policy: RetryPolicy) -> Option<Option<u32>> {
        match failure.is_rate_limited() {
            true => self.limited += 1,
            false => self.failed += 1,
        }
        let all = self.failed + self.limited;
        self.unknown[turn] += u32::from(failure.kind() == FailureKind::UnknownBlock);
        let nodes = u32::try_from(self.refused.len()).unwrap_or(u32::MAX);
        let (is_refused, is_last) = match policy {
            RetryPolicy::Persistent { attempts, limited_attempts } => (
                failure.is_permanent() || self.unknown[turn] >= MAX_UNKNOWN,
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

/// The end of retries.
#[derive(Debug)]
pub struct RetriesExhausted {
    /// The node of the last attempt.
    node: String,
    /// Number of attempts; `None` if every node refused for good.
    attempts: Option<u32>,
    /// The last failure.
    pub failure: Failure,
}

impl RetriesExhausted {
    /// The failure as an error about `what`.
    #[must_use]
    pub fn of(self, what: &str) -> NodeError {
        let Self { node, attempts, failure } = self;
        let (what, cause) = (what.to_owned(), failure.cause.clone());
        match (failure.kind(), attempts) {
            (FailureKind::Stopped, _) => NodeError::Stopped { node, what },
            (FailureKind::OtherChain, _) => NodeError::Foreign { node, cause },
            (_, Some(attempts)) => NodeError::Unreachable { node, what, attempts, cause },
            (FailureKind::UnknownBlock, None) => NodeError::UnknownBlock { node, what, cause },
            (FailureKind::Denied, None) => NodeError::Denied { node, what, cause },
            (_, None) => NodeError::Refused { node, what, cause },
        }
    }
}

/// Pauses between attempts when no node is ready: exponential backoff with jitter, which may double a pause.
struct Pauses {
    /// Short, since a node that is back answers looks, but may have failed with calls only.
    usual: ExponentialBackoff,
    /// For a node that works and limits its callers: looks tell nothing, and it is called ever less often.
    limited: ExponentialBackoff,
}

/// The longest pause before its jitter.
const MAX_PAUSE: Duration = Duration::from_secs(3);
/// The same after an exceeded limit.
const MAX_LIMITED_PAUSE: Duration = Duration::from_secs(10);

impl Default for Pauses {
    fn default() -> Self {
        let up_to = |longest| {
            let pauses = ExponentialBuilder::default().with_min_delay(Duration::from_millis(200)).with_jitter();
            pauses.with_max_delay(longest).without_max_times().build()
        };
        Self { usual: up_to(MAX_PAUSE), limited: up_to(MAX_LIMITED_PAUSE) }
    }
}

impl Pauses {
    /// The pause after a failure.
    fn after(&mut self, failure: &Failure) -> Duration {
        let (pauses, longest) = match failure.is_rate_limited() {
            true => (&mut self.limited, MAX_LIMITED_PAUSE),
            false => (&mut self.usual, MAX_PAUSE),
        };
        pauses.next().unwrap_or(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_limits_its_callers_is_called_less_often() {
        let settled = |failure: &Failure| {
            let mut pauses = Pauses::default();
            let all: Vec<Duration> = (0..16).map(|_| pauses.after(failure)).collect();
            assert!(all[0] >= Duration::from_millis(200) && all[0] <= Duration::from_millis(400), "{all:?}");
            all[15]
        };
        let seconds = |range: std::ops::RangeInclusive<u64>, pause: Duration| {
            let (from, to) = (Duration::from_secs(*range.start()), Duration::from_secs(*range.end()));
            assert!(pause >= from && pause <= to, "{pause:?}");
        };
        seconds(3..=6, settled(&Failure::unreachable("refused")));
        seconds(10..=20, settled(&Failure::rate_limited("HTTP 429", None)));
    }
}
