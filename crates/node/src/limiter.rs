//! The number of concurrent calls to a node: halved when its limits are exceeded, slowly raised otherwise (AIMD).

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::settings::MAX_BATCH;

/// Longest `Retry-After` that is honoured.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Requests of full size that must succeed before a larger one is tried.
const SUCCESSES_TO_GROW: u32 = 16;

/// Finds the limits of one node by experiment.
#[derive(Debug)]
pub struct AdaptiveLimiter {
    limits: Mutex<Limits>,
    changed: Notify,
    /// Most concurrent requests.
    max_concurrency: usize,
}

#[derive(Debug)]
struct Limits {
    in_flight: usize,
    /// Concurrent requests; grows by one for each round of successes, halves at a refusal.
    concurrency: f64,
    /// Calls in a request.
    batch: usize,
    /// Requests of that size that succeeded in a row.
    successes: u32,
    not_before: Option<Instant>,
    lowered: Option<Instant>,
}

/// A request in flight.
pub struct Permit<'a> {
    limiter: &'a AdaptiveLimiter,
    started: Instant,
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limiter.limits().in_flight -= 1;
        self.limiter.changed.notify_waiters();
    }
}

impl AdaptiveLimiter {
    pub fn new(max_concurrency: usize) -> Self {
        let max_concurrency = max_concurrency.max(1);
        let limits = Limits {
            in_flight: 0,
            concurrency: max_concurrency as f64,
            batch: MAX_BATCH,
            successes: 0,
            not_before: None,
            lowered: None,
        };
        Self { limits: Mutex::new(limits), changed: Notify::new(), max_concurrency }
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls to put into a request.
    pub fn batch(&self) -> usize {
        self.limits().batch
    }

    /// Waits until one more request may be sent.
    pub async fn acquire(&self) -> Permit<'_> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Subscribe before the check, so that no change is missed.
            changed.as_mut().enable();
            match self.try_acquire() {
                Ok(permit) => return permit,
                Err(Some(until)) => tokio::select! {
                    () = tokio::time::sleep_until(until.into()) => {}
                    () = changed => {}
                },
                Err(None) => changed.await,
            }
        }
    }

    /// A permit, or when to try again if that is known.
    fn try_acquire(&self) -> Result<Permit<'_>, Option<Instant>> {
        let mut limits = self.limits();
        let now = Instant::now();
        if let Some(until) = limits.not_before.filter(|until| *until > now) {
            return Err(Some(until));
        }
        if limits.in_flight >= (limits.concurrency as usize).max(1) {
            return Err(None);
        }
        limits.in_flight += 1;
        Ok(Permit { limiter: self, started: now })
    }

    /// A request of `calls` was answered.
    pub fn succeeded(&self, calls: usize) {
        let mut limits = self.limits();
        limits.concurrency = (limits.concurrency + 1.0 / limits.concurrency).min(self.max_concurrency as f64);
        if calls >= limits.batch && limits.batch < MAX_BATCH {
            limits.successes += 1;
            if limits.successes >= SUCCESSES_TO_GROW {
                (limits.batch, limits.successes) = (limits.batch + 1, 0);
            }
        }
    }

    /// The node's limits were exceeded. Requests that were in flight together lower the limit once.
    pub fn overloaded(&self, permit: &Permit<'_>, retry_after: Option<Duration>) {
        let mut limits = self.limits();
        if limits.lowered.is_none_or(|lowered| lowered <= permit.started) {
            limits.concurrency = (limits.concurrency / 2.0).max(1.0);
            limits.lowered = Some(Instant::now());
            tracing::debug!(
                concurrency = limits.concurrency,
                ?retry_after,
                "sending fewer requests to the node at the same time"
            );
        }
        let until = retry_after.map(|wait| Instant::now() + wait.min(MAX_WAIT));
        limits.not_before = limits.not_before.max(until);
    }

    /// The node takes calls again, whatever it said before.
    pub fn forgive(&self) {
        self.limits().not_before = None;
        self.changed.notify_waiters();
    }

    /// A request of `calls`, or its response, was too large.
    pub fn too_large(&self, calls: usize) {
        let mut limits = self.limits();
        limits.batch = limits.batch.min((calls / 2).max(1));
        limits.successes = 0;
        tracing::debug!(batch = limits.batch, "sending smaller batches to the node");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_halve_and_successes_grow_up_to_the_bound() {
        let limiter = AdaptiveLimiter::new(8);
        let permits: Vec<_> = (0..8).map(|_| limiter.try_acquire().expect("a permit")).collect();
        assert!(limiter.try_acquire().is_err());
        for permit in &permits {
            limiter.overloaded(permit, None);
        }
        drop(permits);
        assert_eq!(limiter.limits().concurrency, 4.0, "one refusal, though eight requests were refused");
        for _ in 0..1000 {
            limiter.succeeded(1);
        }
        assert_eq!(limiter.limits().concurrency, 8.0);
    }

    #[test]
    fn sizes_shrink_at_once_and_grow_slowly() {
        let limiter = AdaptiveLimiter::new(1);
        limiter.too_large(50);
        limiter.too_large(25);
        assert_eq!(limiter.batch(), 12);
        for _ in 0..SUCCESSES_TO_GROW {
            limiter.succeeded(12);
        }
        assert_eq!(limiter.batch(), 13);
        limiter.too_large(1);
        assert_eq!(limiter.batch(), 1);
    }

    #[test]
    fn no_request_is_sent_before_retry_after() {
        let limiter = AdaptiveLimiter::new(4);
        let permit = limiter.try_acquire().expect("a permit");
        limiter.overloaded(&permit, Some(Duration::from_secs(5)));
        assert!(matches!(limiter.try_acquire(), Err(Some(_))));
    }
}
