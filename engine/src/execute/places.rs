//! Places: how many statements of each workload run at a time, how many more may wait, and for how long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::exception::Exception;
use crate::execute::workload::Workload;

/// How many statements of a workload may run and wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Statements that run at a time.
    pub places: u32,
    /// Further ones that wait for a place.
    pub queue: u32,
    /// How long one waits.
    pub wait: Duration,
}

/// The shares of all workloads, by their numbers.
pub type Shares = [Share; Workload::ALL.len()];

/// The places of all workloads.
#[derive(Debug)]
pub struct Places {
    rooms: [Room; Workload::ALL.len()],
    /// What still runs is being cancelled: those that wait may not take its place.
    closed: AtomicBool,
}

#[derive(Debug)]
struct Room {
    workload: Workload,
    share: Share,
    places: Arc<Semaphore>,
    queue: Semaphore,
    started: AtomicU64,
    refused: AtomicU64,
}

/// What a workload's places are doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Whose they are.
    pub workload: Workload,
    /// How many there are.
    pub places: u32,
    /// Statements that run.
    pub running: usize,
    /// Statements that wait.
    pub waiting: usize,
    /// Statements that have got a place so far.
    pub started: u64,
    /// Statements that were refused so far: the queue was full, or the wait too long.
    pub refused: u64,
}

impl Places {
    /// Places as `shares` say.
    #[must_use]
    pub fn new(shares: Shares) -> Self {
        let room = |workload: Workload| {
            let share = shares[workload as usize];
            Room {
                workload,
                share,
                places: Arc::new(Semaphore::new(share.places as usize)),
                queue: Semaphore::new(share.queue as usize),
                started: AtomicU64::new(0),
                refused: AtomicU64::new(0),
            }
        };
        Self { rooms: Workload::ALL.map(room), closed: AtomicBool::new(false) }
    }

    /// A place for a statement of `workload`, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// Code 202 if as many as may wait do, or none got free in time; 210 if this program ends.
    pub async fn enter(&self, workload: Workload) -> Result<OwnedSemaphorePermit, Exception> {
        let room = &self.rooms[workload as usize];
        let place = match Arc::clone(&room.places).try_acquire_owned() {
            Ok(place) => Ok(place),
            Err(_) => room.wait().await,
        };
        if self.closed.load(Ordering::SeqCst) {
            return Err(Exception::new(210, "NETWORK_ERROR", "the engine is shutting down"));
        }
        let counter = if place.is_ok() { &room.started } else { &room.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        place
    }

    /// From now on nobody gets a place.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Waits until nothing runs.
    pub async fn all_free(&self) {
        for room in &self.rooms {
            // It is never closed.
            let _ = room.places.acquire_many(room.share.places).await;
        }
    }

    /// What every workload's places are doing.
    #[must_use]
    pub fn uses(&self) -> [Use; Workload::ALL.len()] {
        self.rooms.each_ref().map(|room| Use {
            workload: room.workload,
            places: room.share.places,
            running: room.share.places as usize - room.places.available_permits(),
            waiting: room.share.queue as usize - room.queue.available_permits(),
            started: room.started.load(Ordering::Relaxed),
            refused: room.refused.load(Ordering::Relaxed),
        })
    }
}

impl Room {
    async fn wait(&self) -> Result<OwnedSemaphorePermit, Exception> {
        let Share { places, queue, wait } = self.share;
        let name = self.workload.name();
        let full = |waited: String| {
            let text = format!("{places} statements of the workload `{name}` run, {waited}: try again later");
            Exception::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", text)
        };
        let _waiting = self.queue.try_acquire().map_err(|_| full(format!("and {queue} wait")))?;
        match timeout(wait, Arc::clone(&self.places).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(full(format!("and none has ended for {} s", wait.as_secs()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_workload_refuses_its_own_statements_only() {
        let share = Share { places: 1, queue: 1, wait: Duration::from_millis(200) };
        let places = Places::new([share; Workload::ALL.len()]);
        let held = places.enter(Workload::Scan).await.expect("a place");
        let (late, full) = tokio::join!(places.enter(Workload::Scan), places.enter(Workload::Scan));
        for (refused, reason) in [(late, "for 0 s"), (full, "1 wait")] {
            let exception = refused.expect_err("no place");
            assert!(exception.code == 202 && exception.message.contains(reason), "{exception}");
        }
        drop(places.enter(Workload::Short).await.expect("places of their own"));
        drop(held);
        drop(places.enter(Workload::Scan).await.expect("free again"));
        let scans = places.uses()[Workload::Scan as usize];
        assert_eq!((scans.running, scans.waiting, scans.started, scans.refused), (0, 0, 2, 2));
        places.all_free().await;
        places.close();
        assert_eq!(places.enter(Workload::Short).await.expect_err("closed").code, 210);
    }
}
