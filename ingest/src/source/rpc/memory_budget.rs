//! Bounds the memory of blocks that are fetched ahead, however many may be requested at a time.
//!
//! How large a block is shows only once it is there, so each reserves as much as those before it had, and gives
//! back or takes more when it has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Unit of the budget in bytes.
const UNIT: usize = 1024;
/// Memory of all blocks that are being fetched or wait for those before them.
const ALL: usize = (128 << 20) / UNIT;
/// Assumed size of the first blocks: until sizes are known, few are requested at a time.
const FIRST: usize = (4 << 20) / UNIT;
/// The least that a block takes.
const LEAST: usize = (64 << 10) / UNIT;

/// Memory that blocks share.
#[derive(Debug, Clone)]
pub(super) struct MemoryBudget {
    units: Arc<Semaphore>,
    expected: Arc<AtomicUsize>,
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(ALL)), expected: Arc::new(AtomicUsize::new(FIRST)) }
    }
}

impl MemoryBudget {
    /// Waits until there is memory for one more block.
    pub async fn reserve(&self) -> Reservation {
        let expected = self.expected.load(Ordering::Relaxed).clamp(LEAST, ALL);
        let units = u32::try_from(expected).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.units).acquire_many_owned(units).await;
        Reservation { budget: self.clone(), permit: permit.expect("it is never closed") }
    }

    /// Follows larger blocks at once and smaller ones slowly.
    fn expect(&self, units: usize) {
        let smoothed = |expected: usize| Some(units.max(expected - expected.div_ceil(8) + units / 8));
        // It cannot fail: there is always a new value.
        let _ = self.expected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, smoothed);
    }
}

/// The memory of one block; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Reservation {
    budget: MemoryBudget,
    permit: OwnedSemaphorePermit,
}

impl Reservation {
    /// Makes it as large as the block turned out to be, as far as the budget allows: a block that is there does not
    /// wait.
    pub fn resize(&mut self, bytes: usize) {
        let (needed, has) = (bytes.div_ceil(UNIT), self.permit.num_permits());
        self.budget.expect(needed);
        if needed < has {
            drop(self.permit.split(has - needed));
        }
        let more = needed.saturating_sub(has).min(self.budget.units.available_permits());
        if let Ok(more) = Arc::clone(&self.budget.units).try_acquire_many_owned(u32::try_from(more).unwrap_or_default())
        {
            self.permit.merge(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The blocks that get memory within a moment.
    async fn fitting(budget: &MemoryBudget) -> Vec<Reservation> {
        let mut reservations = Vec::new();
        while let Ok(reservation) = tokio::time::timeout(Duration::from_millis(20), budget.reserve()).await {
            reservations.push(reservation);
            if reservations.len() > 5000 {
                break;
            }
        }
        reservations
    }

    #[tokio::test]
    async fn blocks_of_a_mebibyte_are_at_most_128() {
        let budget = MemoryBudget::default();
        let mut reservations = fitting(&budget).await;
        assert_eq!(reservations.len(), 32);
        while !reservations.is_empty() {
            reservations.iter_mut().for_each(|reservation| reservation.resize(1 << 20));
            reservations.clear();
            reservations = fitting(&budget).await;
            if reservations.len() == 128 {
                return;
            }
        }
        panic!("never 128");
    }

    #[tokio::test]
    async fn one_block_larger_than_the_budget_goes_through() {
        let budget = MemoryBudget::default();
        budget.reserve().await.resize(1 << 30);
        let mut reservation = budget.reserve().await;
        assert_eq!(budget.units.available_permits(), 0);
        reservation.resize(1000);
        assert_eq!(budget.units.available_permits(), ALL - 1);
        drop(reservation);
        assert_eq!(budget.units.available_permits(), ALL);
    }
}
