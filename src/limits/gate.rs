//! Slots with a bounded queue.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use trawl_serve::Full;

use super::refused;
use crate::error::Problem;

/// So many slots, and so many that wait for one, none longer than a bound.
pub(crate) struct Gate {
    what: &'static str,
    most: usize,
    slots: Arc<Semaphore>,
    longest_queue: usize,
    queue: Semaphore,
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
    pub fn new(what: &'static str, slots: usize, queue: usize, queue_timeout: Duration) -> Self {
        let (most, longest_queue) = (slots, queue);
        let (slots, queue) = (Arc::new(Semaphore::new(slots)), Semaphore::new(queue));
        Self { what, most, slots, longest_queue, queue, queue_timeout }
    }

    /// What goes through it, how many have a slot, and how many wait for one.
    pub fn figures(&self) -> GateFigures {
        let missing = |most: usize, semaphore: &Semaphore| most.saturating_sub(semaphore.available_permits());
        let (taken, waiting) = (missing(self.most, &self.slots), missing(self.longest_queue, &self.queue));
        GateFigures { what: self.what, taken, waiting }
    }

    /// A slot, which is free again when the permit is dropped.
    ///
    /// # Errors
    ///
    /// [`Problem::Busy`] when the queue is full, or no slot came free in time.
    pub async fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(slot);
        }
        let Ok(_waiting) = self.queue.try_acquire() else { return Err(refused(self.what, None, Full::All)) };
        match timeout(self.queue_timeout, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(refused(self.what, None, Full::All)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_queue_is_bounded_in_length_and_time() {
        let gate = Gate::new("tests", 1, 1, Duration::from_millis(100));
        let slot = gate.enter().await.expect("a slot");
        let (waiting, refused) = tokio::join!(gate.enter(), gate.enter());
        assert_eq!(waiting.err(), Some(Problem::Busy), "it waited too long");
        assert_eq!(refused.err(), Some(Problem::Busy), "the queue was full");
        let (next, ()) = tokio::join!(gate.enter(), async { drop(slot) });
        assert!(next.is_ok());
    }
}
