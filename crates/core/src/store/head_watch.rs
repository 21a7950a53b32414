//! The newest head, kept up to date in the background and taken once per request.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Reader;
use super::changes::Changes;
use super::contact::Contact;
use super::damage_watch::DamageWatch;
use super::head::{Head, Look, Newest};

/// How a head is followed.
#[derive(Debug, Clone, Copy)]
pub struct HeadSettings {
    /// Time between two looks.
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
        tokio::spawn(async move {
            ready.await;
            follow(reader, settings, sender, &contact).await;
        });
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

async fn follow(reader: Reader, settings: HeadSettings, sender: watch::Sender<Option<Arc<Head>>>, contact: &Contact) {
    let changes = Changes::of(&reader.address, &["ingest_heads", "ingest_commits"]);
    let mut known: Option<Arc<Head>> = None;
    let mut failing = false;
    let mut damage = DamageWatch::default();
    // What is loaded beside blocks, such as labels, is found by polling.
    let (mut look, mut looked_at_all) = (Look::AtAll, Instant::now());
    while !sender.is_closed() {
        let read = async {
            let damage = damage.now(&reader).await?;
            Head::read(&reader, known.as_ref(), (look, Newest::InMemory(settings.memory_bytes)), &damage).await
        };
        let read = read.await;
        contact.note(read.as_ref().err());
        match read {
            Ok(head) => {
                failing = false;
                if known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &head)) {
                    known = Some(Arc::clone(&head));
                    sender.send_replace(Some(head));
                }
            }
            Err(error) if failing => tracing::debug!(%error, "still cannot read the committed ranges"),
            Err(error) => {
                failing = true;
                damage.forget();
                tracing::warn!(error = %crate::error_chain(&error), "cannot read the committed ranges; serving the last known ones");
            }
        }
        if look == Look::AtAll {
            looked_at_all = Instant::now();
        }
        let interval = if changes.is_live() { settings.interval * 4 } else { settings.interval };
        tokio::select! {
            () = changes.next() => {}
            () = tokio::time::sleep(interval.saturating_sub(looked_at_all.elapsed())) => {}
        }
        look = if looked_at_all.elapsed() < interval { Look::AtBlocks } else { Look::AtAll };
    }
}
