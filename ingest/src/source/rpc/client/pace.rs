//! How much is asked of a node at once: less when it says that it is too much, slowly more while it answers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::MAX_BATCH;

/// The longest a node may send callers away.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Requests of full size that must succeed before a larger one is tried.
const SUCCESSES: u32 = 16;

/// The limits of one node, found by trying.
#[derive(Debug)]
pub(super) struct Pace {
    limits: Mutex<Limits>,
    changed: Notify,
    /// Requests at the same time, at most.
    most: usize,
}

#[derive(Debug)]
struct Limits {
    in_flight: usize,
    /// Requests at the same time; grows by one for each round of successes, halves at a refusal.
    concurrency: f64,
    /// Calls in a request.
    batch: usize,
    /// Requests of that size that succeeded in a row.
    successes: u32,
    not_before: Option<Instant>,
    lowered: Option<Instant>,
}

/// A request under way.
pub(super) struct Turn<'a> {
    pace: &'a Pace,
    started: Instant,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.pace.limits().in_flight -= 1;
        self.pace.changed.notify_waiters();
    }
}

impl Pace {
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        let limits = Limits {
            in_flight: 0,
            concurrency: most as f64,
            batch: MAX_BATCH,
            successes: 0,
            not_before: None,
            lowered: None,
        };
        Self { limits: Mutex::new(limits), changed: Notify::new(), most }
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls to put into a request.
    pub fn batch(&self) -> usize {
        self.limits().batch
    }

    /// Waits until one more request may be sent.
    pub async fn enter(&self) -> Turn<'_> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before looking, so that no change is missed.
            changed.as_mut().enable();
            match self.try_enter() {
                Ok(turn) => return turn,
                Err(Some(until)) => tokio::time::sleep_until(until.into()).await,
                Err(None) => changed.await,
            }
        }
    }

    /// A turn, or when to try again if that is known.
    fn try_enter(&self) -> Result<Turn<'_>, Option<Instant>> {
        let mut limits = self.limits();
        let now = Instant::now();
        if let Some(until) = limits.not_before.filter(|until| *until > now) {
            return Err(Some(until));
        }
        if limits.in_flight >= (limits.concurrency as usize).max(1) {
            return Err(None);
        }
        limits.in_flight += 1;
        Ok(Turn { pace: self, started: now })
    }

    /// A request of `calls` was answered.
    pub fn succeeded(&self, calls: usize) {
        let mut limits = self.limits();
        limits.concurrency = (limits.concurrency + 1.0 / limits.concurrency).min(self.most as f64);
        if calls >= limits.batch && limits.batch < MAX_BATCH {
            limits.successes += 1;
            if limits.successes >= SUCCESSES {
                (limits.batch, limits.successes) = (limits.batch + 1, 0);
            }
        }
    }

    /// The node was asked too much. Requests that were under way together lower the limit once.
    pub fn overloaded(&self, turn: &Turn<'_>, retry_after: Option<Duration>) {
        let mut limits = self.limits();
        if limits.lowered.is_none_or(|lowered| lowered <= turn.started) {
            limits.concurrency = (limits.concurrency / 2.0).max(1.0);
            limits.lowered = Some(Instant::now());
            tracing::debug!(concurrency = limits.concurrency, ?retry_after, "asking the node less");
        }
        let until = retry_after.map(|wait| Instant::now() + wait.min(LONGEST_WAIT));
        limits.not_before = limits.not_before.max(until);
    }

    /// A request of `calls` was too large, or its answer.
    pub fn too_large(&self, calls: usize) {
        let mut limits = self.limits();
        limits.batch = limits.batch.min((calls / 2).max(1));
        limits.successes = 0;
        tracing::debug!(batch = limits.batch, "asking the node for less at once");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_halve_and_successes_grow_up_to_the_bound() {
        let pace = Pace::new(8);
        let turns: Vec<_> = (0..8).map(|_| pace.try_enter().expect("a turn")).collect();
        assert!(pace.try_enter().is_err());
        for turn in &turns {
            pace.overloaded(turn, None);
        }
        drop(turns);
        assert_eq!(pace.limits().concurrency, 4.0, "one refusal, though eight requests heard it");
        for _ in 0..1000 {
            pace.succeeded(1);
        }
        assert_eq!(pace.limits().concurrency, 8.0);
    }

    #[test]
    fn sizes_shrink_at_once_and_grow_slowly() {
        let pace = Pace::new(1);
        pace.too_large(50);
        pace.too_large(25);
        assert_eq!(pace.batch(), 12);
        for _ in 0..SUCCESSES {
            pace.succeeded(12);
        }
        assert_eq!(pace.batch(), 13);
        pace.too_large(1);
        assert_eq!(pace.batch(), 1);
    }

    #[test]
    fn nobody_asks_before_the_node_said() {
        let pace = Pace::new(4);
        let turn = pace.try_enter().expect("a turn");
        pace.overloaded(&turn, Some(Duration::from_secs(5)));
        assert!(matches!(pace.try_enter(), Err(Some(_))));
    }
}
