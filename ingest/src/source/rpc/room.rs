//! Bounds what blocks that were fetched ahead take of memory, however many may be requested at the same time.
//!
//! How large a block is shows only once it is there, so each takes room for as much as those before it had, and gives
//! back or takes more when it has come.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Unit of room in bytes.
const UNIT_BYTES: usize = 1024;
/// Room for all blocks that are being fetched or wait for those before them.
const BUDGET_UNITS: usize = (128 << 20) / UNIT_BYTES;
/// What the first blocks take: as long as nothing is known, few are requested at a time.
const FIRST_BLOCK_UNITS: usize = (4 << 20) / UNIT_BYTES;
/// The least that a block takes.
const MIN_BLOCK_UNITS: usize = (64 << 10) / UNIT_BYTES;

/// Room that blocks share.
#[derive(Debug, Clone)]
pub(super) struct Room {
    units: Arc<Semaphore>,
    expected: Arc<AtomicUsize>,
}

impl Default for Room {
    fn default() -> Self {
        Self { units: Arc::new(Semaphore::new(BUDGET_UNITS)), expected: Arc::new(AtomicUsize::new(FIRST_BLOCK_UNITS)) }
    }
}

impl Room {
    /// Waits until there is room for one more block.
    pub async fn take(&self) -> Place {
        let expected = self.expected.load(Ordering::Relaxed).clamp(MIN_BLOCK_UNITS, BUDGET_UNITS);
        let units = u32::try_from(expected).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.units).acquire_many_owned(units).await;
        Place { room: self.clone(), permit: permit.expect("it is never closed") }
    }

    /// Follows larger blocks at once and smaller ones slowly.
    fn expect(&self, units: usize) {
        let smoothed = |expected: usize| Some(units.max(expected - expected.div_ceil(8) + units / 8));
        // It cannot fail: there is always a new value.
        let _ = self.expected.fetch_update(Ordering::Relaxed, Ordering::Relaxed, smoothed);
    }
}

/// The room of one block; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Room,
    permit: OwnedSemaphorePermit,
}

impl Place {
    /// Makes it as large as the block turned out to be, as far as there is room: a block that is there is not waited for.
    pub fn settle(&mut self, bytes: usize) {
        let (wanted, has) = (bytes.div_ceil(UNIT_BYTES), self.permit.num_permits());
        self.room.expect(wanted);
        if wanted < has {
            drop(self.permit.split(has - wanted));
        }
        let more = wanted.saturating_sub(has).min(self.room.units.available_permits());
        if let Ok(more) = Arc::clone(&self.room.units).try_acquire_many_owned(u32::try_from(more).unwrap_or_default()) {
            self.permit.merge(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// How many blocks get room within a moment.
    async fn fitting(room: &Room) -> Vec<Place> {
        let mut places = Vec::new();
        while let Ok(place) = tokio::time::timeout(Duration::from_millis(20), room.take()).await {
            places.push(place);
            if places.len() > 5000 {
                break;
            }
        }
        places
    }

    #[tokio::test]
    async fn blocks_of_a_mebibyte_are_at_most_128() {
        let room = Room::default();
        let mut places = fitting(&room).await;
        assert_eq!(places.len(), 32);
        while !places.is_empty() {
            places.iter_mut().for_each(|place| place.settle(1 << 20));
            places.clear();
            places = fitting(&room).await;
            if places.len() == 128 {
                return;
            }
        }
        panic!("never 128");
    }

    #[tokio::test]
    async fn one_block_larger_than_all_room_goes_through() {
        let room = Room::default();
        room.take().await.settle(1 << 30);
        let mut place = room.take().await;
        assert_eq!(room.units.available_permits(), 0);
        place.settle(1000);
        assert_eq!(room.units.available_permits(), BUDGET_UNITS - 1);
        drop(place);
        assert_eq!(room.units.available_permits(), BUDGET_UNITS);
    }
}
