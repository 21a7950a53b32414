//! Calls that wait for an answer, over all their attempts: what has waited for long shows what is wrong.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::failure::{Failure, FailureKind};

/// The calls of a client.
#[derive(Debug, Default)]
pub(crate) struct PendingCalls(Mutex<Calls>);

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    /// In the order in which they began.
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    since: Instant,
    failure: Option<(FailureKind, String)>,
}

/// A call that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// How long it has waited.
    pub age: Duration,
    /// Why its last attempt failed; `None` while the first goes on.
    pub failure: Option<(FailureKind, String)>,
}

/// A slot among the calls; the call ends when it is dropped.
pub(crate) struct CallGuard<'a> {
    calls: &'a PendingCalls,
    id: u64,
}

impl PendingCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins.
    pub fn begin(&self) -> CallGuard<'_> {
        let mut calls = self.calls();
        let id = calls.next;
        calls.next += 1;
        calls.open.insert(id, Open { since: Instant::now(), failure: None });
        CallGuard { calls: self, id }
    }

    /// The one that has waited longest.
    pub fn oldest(&self) -> Option<PendingCall> {
        let calls = self.calls();
        let (_, open) = calls.open.first_key_value()?;
        Some(PendingCall { age: open.since.elapsed(), failure: open.failure.clone() })
    }
}

impl CallGuard<'_> {
    /// An attempt failed.
    pub fn failed(&self, failure: &Failure) {
        if let Some(open) = self.calls.calls().open.get_mut(&self.id) {
            open.failure = Some((failure.kind(), failure.cause().into()));
        }
    }
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.calls.calls().open.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_call_is_shown_until_it_ends() {
        let calls = PendingCalls::default();
        let (first, second) = (calls.begin(), calls.begin());
        second.failed(&Failure::transient("garbage"));
        assert_eq!(calls.oldest().map(|call| call.failure), Some(None));
        drop(first);
        assert_eq!(calls.oldest().and_then(|call| call.failure), Some((FailureKind::Malformed, "garbage".into())));
        drop(second);
        assert_eq!(calls.oldest(), None);
    }
}
