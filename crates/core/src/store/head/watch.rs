//! The newest head, kept up to date in the background and taken once per request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::changes::Changes;
use super::contact::Contact;
use super::poll::PollScope;
use super::{Head, NewestSource};
use crate::served_chain::for_same_chain;
use crate::store::Reader;
use crate::store::client::failover::Failover;
use crate::store::integrity::damage_watch::DamageWatch;

/// How a head is followed.
#[derive(Debug, Clone, Copy)]
pub struct HeadSettings {
    /// Time between two polls.
    pub interval: Duration,
    /// Most bytes of the newest blocks in memory.
    pub memory_bytes: u64,
}

/// The newest head known, kept up to date by a task of its own.
#[derive(Clone)]
pub struct HeadWatch {
    head: watch::Receiver<Option<Arc<Head>>>,
    contact: Arc<Contact>,
}

impl HeadWatch {
    /// Follows the commits once `ready` resolves, reading every interval. The task ends when the last watch is
    /// dropped.
    #[must_use]
    pub fn follow(reader: Reader, settings: HeadSettings, ready: impl Future<Output = ()> + Send + 'static) -> Self {
        let (sender, head) = watch::channel(None);
        let contact = Arc::new(Contact::default());
        let watch = Self { head, contact: Arc::clone(&contact) };
        tokio::spawn(for_same_chain(async move {
            ready.await;
            follow(reader, settings, sender, &contact).await;
        }));
        watch
    }

    /// Waits for a head that this watch has not returned yet; `None` once the background task has ended.
    pub async fn changed(&mut self) -> Option<Arc<Head>> {
        loop {
            self.head.changed().await.ok()?;
            let head = self.head.borrow_and_update().clone();
            if head.is_some() {
                return head;
            }
        }
    }

    /// Whether the store could not be reached the last time, or has been silent for longer than a busy one is.
    #[must_use]
    pub fn is_away(&self) -> bool {
        self.contact.is_lost()
    }

    /// The newest head; `None` before the first successful read.
    #[must_use]
    pub fn now(&self) -> Option<Arc<Head>> {
        self.head.borrow().clone()
    }
}

/// Tables with what is loaded beside blocks.
const BESIDE_BLOCKS: [&str; 5] = ["chain_configurations", "label_loads", "tokens", "token_steps", "left_out_tables"];

/// When to poll, and what. Of a database that reports writes, the number of commits is polled every few intervals, and
/// the rest seldom.
struct Schedule {
    settings: HeadSettings,
    blocks: Changes,
    beside: Changes,
    losses: u64,
    database: Failover,
    turn: u64,
    /// Whether the last poll failed.
    has_failed: bool,
    looked_at_all: Instant,
}

impl Schedule {
    fn new(settings: HeadSettings, reader: &Reader) -> Self {
        let changes = |tables: &[&str]| Changes::of(&reader.failover, tables);
        let (blocks, beside) = (changes(&["ingest_heads", "ingest_commits"]), changes(&BESIDE_BLOCKS));
        let (database, turn) = (reader.failover.clone(), reader.turn());
        Self { settings, blocks, beside, losses: 0, database, turn, has_failed: false, looked_at_all: Instant::now() }
    }

    /// Whether the database ceased to report writes since the last call, so that it may be another process now, or is
    /// at another address.
    fn is_lost(&mut self) -> bool {
        let (losses, turn) = (self.blocks.losses() + self.beside.losses(), self.database.in_use().turn);
        let has_lost = std::mem::replace(&mut self.losses, losses) != losses;
        std::mem::replace(&mut self.turn, turn) != turn || has_lost
    }

    fn is_live(&self) -> bool {
        self.blocks.is_live() && self.beside.is_live()
    }

    /// Waits until there is something to poll; after a failure at most one interval, and then all of it is polled.
    async fn next(&mut self) -> PollScope {
        let interval = self.settings.interval;
        let is_live = self.is_live();
        let (pause, until_all) =
            if is_live && !self.has_failed { (interval * 4, interval * 60) } else { (interval, interval) };
        let in_use = self.database.in_use();
        let look = tokio::select! {
            () = self.database.changed(in_use) => PollScope::All,
            () = self.blocks.next() => PollScope::Blocks,
            () = self.beside.next() => PollScope::All,
            () = tokio::time::sleep(pause) => if is_live { PollScope::Commits } else { PollScope::All },
        };
        let look = if self.has_failed || self.looked_at_all.elapsed() >= until_all { PollScope::All } else { look };
        if look == PollScope::All {
            self.looked_at_all = Instant::now();
        }
        look
    }
}

async fn follow(reader: Reader, settings: HeadSettings, sender: watch::Sender<Option<Arc<Head>>>, contact: &Contact) {
    let mut schedule = Schedule::new(settings, &reader);
    let mut known: Option<Arc<Head>> = None;
    let mut damage = DamageWatch::default();
    let mut look = PollScope::All;
    while !sender.is_closed() {
        if schedule.is_lost() {
            look = PollScope::All;
            damage.forget();
        }
        let read = async {
            let damage = damage.now(&reader).await?;
            Head::read(&reader, known.as_ref(), look, NewestSource::InMemory(settings.memory_bytes), &damage).await
        };
        let turn = schedule.turn;
        let read = read.await;
        contact.note(read.as_ref().err());
        match read {
            Ok(head) if head.turn != turn || !reader.failover.show(turn, head.shown()) => {
                tracing::debug!("the ClickHouse address changed while the committed ranges were read");
                continue;
            }
            Ok(head) => {
                schedule.has_failed = false;
                if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &head)) {
                    known = Some(Arc::clone(&head));
                    sender.send_replace(Some(head));
                }
            }
            Err(error) if schedule.has_failed => tracing::debug!(%error, "still cannot read the committed ranges"),
            Err(error) => {
                schedule.has_failed = true;
                damage.forget();
                tracing::warn!(error = %crate::error_chain(&error), "cannot read the committed ranges; serving the last known ones");
            }
        }
        look = schedule.next().await;
    }
}
