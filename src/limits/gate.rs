//! Slots with a bounded queue.

use std::time::Duration;

use tokio::time::timeout;
use trawl_serve::Full;

use super::refused;
use super::slots::{Slot, SlotPool};
use crate::error::Problem;

/// So many slots, and so many that wait for one, none longer than a bound.
pub(crate) struct Gate {
    what: &'static str,
    slots: SlotPool,
    queue: SlotPool,
    queue_timeout: Duration,
}

/// How full a gate is.
pub(crate) struct GateFigures {
    pub what: &'static str,
    pub taken: usize,
    pub waiting: usize,
}

impl Gate {
    /// A gate that is open; `what` goes through it.
    pub(super) fn new(what: &'static str, slots: SlotPool, queue: SlotPool, queue_timeout: Duration) -> Self {
        Self { what, slots, queue, queue_timeout }
    }

    /// The gate of another chain.
    pub fn of_another_chain(&self) -> Self {
        Self { slots: self.slots.of_another_chain(), queue: self.queue.of_another_chain(), ..*self }
    }

    /// What goes through it, how many have a slot, and how many wait for one.
    pub fn figures(&self) -> GateFigures {
        GateFigures { what: self.what, taken: self.slots.taken(), waiting: self.queue.taken() }
    }

    /// A slot, if one is free and no request waits for one.
    pub fn try_enter(&self) -> Option<Slot> {
        if self.queue.taken() > 0 { None } else { self.slots.try_take() }
    }

    /// A slot, which is free again when it is dropped.
    ///
    /// # Errors
    ///
    /// [`Problem::Busy`] when the queue is full, or no slot came free in time.
    pub async fn enter(&self) -> Result<Slot, Problem> {
        if let Some(slot) = self.slots.try_take() {
            return Ok(slot);
        }
        let Some(_waiting) = self.queue.try_take() else { return Err(refused(self.what, None, Full::All)) };
        match timeout(self.queue_timeout, self.slots.take()).await {
            Ok(Some(slot)) => Ok(slot),
            Ok(None) | Err(_) => Err(refused(self.what, None, Full::All)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_queue_is_bounded_in_length_and_time() {
        let gate = Gate::new("tests", SlotPool::new(1, 1), SlotPool::new(1, 1), Duration::from_millis(100));
        let slot = gate.enter().await.expect("a slot");
        let (waiting, refused) = tokio::join!(gate.enter(), gate.enter());
        assert_eq!(waiting.err(), Some(Problem::Busy), "it waited too long");
        assert_eq!(refused.err(), Some(Problem::Busy), "the queue was full");
        assert!(gate.try_enter().is_none());
        let (next, ()) = tokio::join!(gate.enter(), async { drop(slot) });
        assert!(next.is_ok() && gate.try_enter().is_none());
        drop(next);
        assert!(gate.try_enter().is_some());
    }
}
