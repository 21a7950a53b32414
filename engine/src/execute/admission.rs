//! Slots: how many statements of each workload run at a time, how many more may wait, and for how long.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::exception::Exception;
use crate::execute::workload::Workload;

/// How many statements of a workload may run and wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotLimits {
    /// Statements that run at a time.
    pub slots: u32,
    /// Further ones that wait for a slot.
    pub queue: u32,
    /// How long one waits.
    pub wait: Duration,
}

/// The shares of all workloads, by their numbers.
pub type WorkloadLimits = [SlotLimits; Workload::ALL.len()];

/// The slots of all workloads, and how many of them each reader may take.
#[derive(Debug)]
pub struct AdmissionControl {
    rooms: [SlotPool; Workload::ALL.len()],
    /// By name; other readers may take all slots.
    readers: HashMap<String, SlotPool>,
    /// Running statements are being cancelled: waiting ones may not take their slots.
    closed: AtomicBool,
}

/// A slot of a workload, and of its reader, until dropped.
#[derive(Debug)]
pub struct Slot {
    workload: Workload,
    since: Instant,
    _of_workload: OwnedSemaphorePermit,
    _of_reader: Option<OwnedSemaphorePermit>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        let workload = self.workload.name();
        metrics::histogram!("trawl_engine_statement_duration_seconds", "workload" => workload)
            .record(self.since.elapsed());
    }
}

#[derive(Debug)]
struct SlotPool {
    /// Its owner, for messages.
    owner: String,
    share: SlotLimits,
    slots: Arc<Semaphore>,
    queue: Semaphore,
    started: AtomicU64,
    refused: AtomicU64,
}

/// The state of a workload's slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotUsage {
    /// Workload of the statements.
    pub workload: Workload,
    /// How many there are.
    pub slots: u32,
    /// Statements that run.
    pub running: usize,
    /// Statements that wait.
    pub waiting: usize,
    /// Statements that have got a slot so far.
    pub started: u64,
    /// Statements that were refused so far: the queue was full, or the wait too long.
    pub refused: u64,
}

impl AdmissionControl {
    /// Slots as `shares` say.
    #[must_use]
    pub fn new(shares: WorkloadLimits) -> Self {
        let room = |workload: Workload| {
            SlotPool::new(format!("the workload `{}`", workload.name()), shares[workload as usize])
        };
        Self { rooms: Workload::ALL.map(room), readers: HashMap::new(), closed: AtomicBool::new(false) }
    }

    /// The same, with at most `slots` of each of `readers` at a time.
    #[must_use]
    pub fn with_readers<'a>(mut self, readers: impl Iterator<Item = &'a str>, slots: u32) -> Self {
        let share = SlotLimits { slots, ..self.rooms[Workload::Reader as usize].share };
        self.readers = readers.map(|user| (user.into(), SlotPool::new(format!("the user `{user}`"), share))).collect();
        self
    }

    /// A slot for a statement of `workload` and `user`, until what is returned is dropped.
    ///
    /// # Errors
    ///
    /// Code 202 if as many as may wait do, or none got free in time; 210 if this program ends.
    pub async fn enter(&self, workload: Workload, user: &str) -> Result<Slot, Exception> {
        let room = &self.rooms[workload as usize];
        let slot = self.enter_both(workload, self.readers.get(user)).await;
        if self.closed.load(Ordering::SeqCst) {
            return Err(Exception::new(210, "NETWORK_ERROR", "the engine is shutting down"));
        }
        let counter = if slot.is_ok() { &room.started } else { &room.refused };
        counter.fetch_add(1, Ordering::Relaxed);
        slot
    }

    /// The reader's own first: those that wait for it block no other reader.
    async fn enter_both(&self, workload: Workload, reader: Option<&SlotPool>) -> Result<Slot, Exception> {
        let of_reader = match reader {
            Some(reader) => Some(reader.enter().await?),
            None => None,
        };
        let of_workload = self.rooms[workload as usize].enter().await?;
        Ok(Slot { workload, since: Instant::now(), _of_workload: of_workload, _of_reader: of_reader })
    }

    /// From now on no statement gets a slot.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
    }

    /// Waits until nothing runs.
    pub async fn all_free(&self) {
        for room in &self.rooms {
            // It is never closed.
            let _ = room.slots.acquire_many(room.share.slots).await;
        }
    }

    /// The state of every workload's slots.
    #[must_use]
    pub fn uses(&self) -> [SlotUsage; Workload::ALL.len()] {
        Workload::ALL.map(|workload| (workload, &self.rooms[workload as usize])).map(|(workload, room)| SlotUsage {
            workload,
            slots: room.share.slots,
            running: room.share.slots as usize - room.slots.available_permits(),
            waiting: room.share.queue as usize - room.queue.available_permits(),
            started: room.started.load(Ordering::Relaxed),
            refused: room.refused.load(Ordering::Relaxed),
        })
    }
}

impl SlotPool {
    fn new(owner: String, share: SlotLimits) -> Self {
        Self {
            owner,
            share,
            slots: Arc::new(Semaphore::new(share.slots as usize)),
            queue: Semaphore::new(share.queue as usize),
            started: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    async fn enter(&self) -> Result<OwnedSemaphorePermit, Exception> {
        match Arc::clone(&self.slots).try_acquire_owned() {
            Ok(slot) => Ok(slot),
            Err(_) => self.wait().await,
        }
    }

    async fn wait(&self) -> Result<OwnedSemaphorePermit, Exception> {
        let SlotLimits { slots, queue, wait } = self.share;
        let full = |waited: String| {
            let text = format!("{slots} statements of {} are running, {waited}: try again later", self.owner);
            Exception::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", text)
        };
        let _waiting = self.queue.try_acquire().map_err(|_| full(format!("and {queue} wait")))?;
        match timeout(wait, Arc::clone(&self.slots).acquire_owned()).await {
            Ok(Ok(slot)) => Ok(slot),
            Ok(Err(_)) | Err(_) => Err(full(format!("and none has finished for {} s", wait.as_secs()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_workload_refuses_its_own_statements_only() {
        let share = SlotLimits { slots: 1, queue: 1, wait: Duration::from_millis(200) };
        let slots = AdmissionControl::new([share; Workload::ALL.len()]);
        let held = slots.enter(Workload::Scan, "").await.expect("a slot");
        let (late, full) = tokio::join!(slots.enter(Workload::Scan, ""), slots.enter(Workload::Scan, ""));
        for (refused, reason) in [(late, "for 0 s"), (full, "1 wait")] {
            let exception = refused.expect_err("no slot");
            assert!(exception.code == 202 && exception.message.contains(reason), "{exception}");
        }
        drop(slots.enter(Workload::Short, "").await.expect("slots of their own"));
        drop(held);
        drop(slots.enter(Workload::Scan, "").await.expect("free again"));
        let scans = slots.uses()[Workload::Scan as usize];
        assert_eq!((scans.running, scans.waiting, scans.started, scans.refused), (0, 0, 2, 2));
        slots.all_free().await;
        slots.close();
        assert_eq!(slots.enter(Workload::Short, "").await.expect_err("closed").code, 210);
    }

    #[tokio::test]
    async fn no_reader_takes_the_slots_of_another() {
        let share = SlotLimits { slots: 2, queue: 1, wait: Duration::from_millis(100) };
        let slots = AdmissionControl::new([share; Workload::ALL.len()]).with_readers(["ana", "bob"].into_iter(), 1);
        let _held = slots.enter(Workload::Reader, "ana").await.expect("a slot");
        let refused = slots.enter(Workload::Reader, "ana").await.expect_err("the second of one reader");
        assert!(refused.code == 202 && refused.message.contains("the user `ana`"), "{refused}");
        drop(slots.enter(Workload::Reader, "bob").await.expect("the slot of another reader"));
    }
}
