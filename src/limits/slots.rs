//! Slots of a chain: its own, and those that it shares with other chains of this server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::portion::Portion;

/// Slots that requests of one chain take.
pub(super) struct SlotPool {
    portion: Portion,
    own: Arc<Semaphore>,
    /// None where the server has one chain.
    shared: Option<Arc<Semaphore>>,
    taken: Arc<AtomicUsize>,
}

/// A slot, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _permit: OwnedSemaphorePermit,
    taken: Arc<AtomicUsize>,
}

impl SlotPool {
    /// So many slots, none of which is taken, for so many chains: this is the pool of one of them.
    pub fn new(most: usize, chains: usize) -> Self {
        let portion = Portion::of(u64::try_from(most).unwrap_or(u64::MAX), chains);
        let shared = (chains > 1).then(|| semaphore(portion.shared));
        Self { portion, own: semaphore(portion.own), shared, taken: Arc::default() }
    }

    /// The pool of another chain, which shares with this one what is shared.
    pub fn of_another_chain(&self) -> Self {
        let (own, shared) = (semaphore(self.portion.own), self.shared.clone());
        Self { portion: self.portion, own, shared, taken: Arc::default() }
    }

    /// A slot that is free now.
    pub fn try_take(&self) -> Option<Slot> {
        let of = |slots: &Arc<Semaphore>| Arc::clone(slots).try_acquire_owned().ok();
        of(&self.own).or_else(|| self.shared.as_ref().and_then(of)).map(|permit| self.slot(permit))
    }

    /// The next slot that is free; those who wait get theirs in turn.
    pub async fn take(&self) -> Option<Slot> {
        let own = Arc::clone(&self.own).acquire_owned();
        let permit = match &self.shared {
            None => own.await,
            Some(shared) => tokio::select! {
                permit = own => permit,
                permit = Arc::clone(shared).acquire_owned() => permit,
            },
        };
        // The semaphores are never closed.
        permit.ok().map(|permit| self.slot(permit))
    }

    /// How many this chain has.
    pub fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    fn slot(&self, permit: OwnedSemaphorePermit) -> Slot {
        self.taken.fetch_add(1, Ordering::Relaxed);
        Slot { _permit: permit, taken: Arc::clone(&self.taken) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

fn semaphore(slots: u64) -> Arc<Semaphore> {
    let slots = usize::try_from(slots).unwrap_or(usize::MAX);
    Arc::new(Semaphore::new(slots.min(Semaphore::MAX_PERMITS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_chain_that_takes_what_it_can_leaves_another_its_own() {
        let flooded = SlotPool::new(8, 2);
        let other = flooded.of_another_chain();
        let mut taken: Vec<Slot> = std::iter::from_fn(|| flooded.try_take()).collect();
        assert_eq!((taken.len(), flooded.taken()), (6, 6));
        let own: Vec<Slot> = std::iter::from_fn(|| other.try_take()).collect();
        assert_eq!((own.len(), other.taken()), (2, 2));
        drop(own);
        // The first slot that comes free is a shared one, for either.
        let waiting = flooded.take();
        taken.truncate(2);
        assert!(waiting.await.is_some());
        let rest: Vec<Slot> = std::iter::from_fn(|| other.try_take()).collect();
        assert_eq!((flooded.taken(), rest.len()), (2, 6));
    }

    #[tokio::test]
    async fn one_chain_has_all() {
        let pool = SlotPool::new(3, 1);
        assert_eq!(std::iter::from_fn(|| pool.try_take()).collect::<Vec<_>>().len(), 3);
        assert_eq!(pool.taken(), 0);
    }
}
