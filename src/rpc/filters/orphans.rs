//! Blocks that left the chain, with their logs, for filters whose clients were notified of them. They are read once,
//! when a step of the head removes them: their rows are deleted some minutes later.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber, HotRange};
use trawl_core::schema::LogRow;
use trawl_core::store::{Batch, Head};
use trawl_query::logs::LogPage;

/// Most bytes of the logs of all orphaned blocks.
const MAX_BYTES: usize = 16 << 20;
/// More logs than a block can contain.
const UNLIMITED_LOGS: u64 = 100_000_000;
/// The longest that a poll waits until the step of its head is recorded: it holds a slot for reads.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Most attempts to read the blocks of a step.
const MAX_ATTEMPTS: u32 = 3;
/// Time between two attempts.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A block that left the chain.
#[derive(Clone)]
pub(crate) struct Orphan {
    /// The height that it had.
    pub number: BlockNumber,
    /// Keccak-256 of its header.
    pub hash: B256,
    /// The hash of the block before it.
    pub parent_hash: B256,
    /// Its logs, ascending; `None` if they were not readable.
    pub logs: Option<Arc<[Batch<LogRow>]>>,
}

/// The blocks that one step of the head removed.
struct Reorganisation {
    /// The first view without them.
    view: u64,
    at: Instant,
    /// Ascending; blocks of one branch.
    blocks: Vec<Orphan>,
    bytes: usize,
}

#[derive(Default)]
struct History {
    /// Ascending by view.
    reorganisations: VecDeque<Reorganisation>,
    bytes: usize,
    /// Reorganisations up to this view are not here.
    forgotten: u64,
}

/// The reorganisations of the last minutes.
pub(crate) struct Orphans {
    history: Mutex<History>,
    /// The view up to which steps of the head are recorded.
    recorded: watch::Sender<u64>,
    /// How long a reorganisation is retained.
    retention: Duration,
}

impl Orphans {
    /// No reorganisations; later ones are retained for so long.
    pub fn new(retention: Duration) -> Self {
        Self { history: Mutex::default(), recorded: watch::Sender::new(0), retention }
    }

    /// Records the blocks that the step from one head to the next removed.
    pub async fn record(&self, app: &App, before: &Head, head: &Head) {
        let removed = before.blocks.orphaned_in(&head.blocks);
        if removed.is_empty() {
            self.lock().expire(self.retention);
        } else {
            let mut read = read(app, before, &removed).await;
            for _ in 1..MAX_ATTEMPTS {
                if read.is_err() {
                    tokio::time::sleep(RETRY_DELAY).await;
                    read = self::read(app, before, &removed).await;
                }
            }
            let mut history = self.lock();
            history.expire(self.retention);
            match read {
                Ok(Some((blocks, bytes))) => {
                    history.add(Reorganisation { view: head.view, at: Instant::now(), blocks, bytes });
                }
                // Filters whose clients know such a block are gone then.
                Ok(None) => history.forget(head.view),
                Err(problem) => {
                    tracing::warn!(%problem, "logs of orphaned blocks cannot be read: filters that reported them end");
                    history.forget(head.view);
                }
            }
        }
        self.recorded.send_replace(head.view);
    }

    /// Records that no filter needs what the step to a view removed.
    pub fn skip(&self, view: u64) {
        self.lock().forget(view);
        self.recorded.send_replace(view);
    }

    /// Whether the steps up to a view are recorded, or are within [`MAX_WAIT`].
    pub async fn is_recorded(&self, view: u64) -> bool {
        let mut recorded = self.recorded.subscribe();
        matches!(tokio::time::timeout(MAX_WAIT, recorded.wait_for(|recorded| *recorded >= view)).await, Ok(Ok(_)))
    }

    /// The blocks that a client knew in a view and that have left the chain until another one, descending from its
    /// newest one. `None` if they are not known.
    pub fn of_branch(&self, views: Range<u64>, number: BlockNumber, hash: B256) -> Option<Vec<Orphan>> {
        let history = self.lock();
        if views.start < history.forgotten {
            return None;
        }
        let mut orphans: Vec<Orphan> = Vec::new();
        for later in history.reorganisations.iter().filter(|later| views.start < later.view && later.view <= views.end)
        {
            // The blocks below those that have left belonged to the client's branch until a later step removed them.
            let top = match orphans.last() {
                Some(lowest) => lowest.number.checked_sub(1),
                None => later.blocks.iter().any(|one| one.number == number && one.hash == hash).then_some(number),
            };
            let Some(top) = top else { continue };
            orphans.extend(later.blocks.iter().rev().filter(|block| block.number <= top).cloned());
        }
        (!orphans.is_empty()).then_some(orphans)
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The removed blocks and the bytes of their logs; `None` if these are too many.
async fn read(app: &App, before: &Head, removed: &[HotRange]) -> Result<Option<(Vec<Orphan>, usize)>, Problem> {
    let (mut blocks, mut bytes) = (Vec::with_capacity(removed.len()), 0);
    for block in removed {
        let number = block.blocks.first();
        let headers = app.reader().rows(&trawl_query::blocks::at(&before.blocks.at(number))).await?;
        let header = headers.first().ok_or(Problem::Reorganised)?;
        let logs = logs_of(app, before, number).await?;
        bytes += logs.iter().flat_map(|logs| logs.iter()).map(Batch::size_bytes).sum::<usize>();
        if bytes > MAX_BYTES {
            return Ok(None);
        }
        blocks.push(Orphan { number, hash: header.hash, parent_hash: header.parent_hash, logs });
    }
    Ok(Some((blocks, bytes)))
}

/// The logs of a block of `before`; `None` if they are not readable.
async fn logs_of(app: &App, before: &Head, number: BlockNumber) -> Result<Option<Arc<[Batch<LogRow>]>>, Problem> {
    if !before.receipts.contains(number) {
        return Ok(None);
    }
    let page = LogPage::new(Default::default(), before.receipts.at(number), UNLIMITED_LOGS);
    Ok(Some(app.reader().all(&page.statement()).await?.into()))
}

impl History {
    fn add(&mut self, reorganisation: Reorganisation) {
        self.bytes += reorganisation.bytes;
        self.reorganisations.push_back(reorganisation);
        while self.bytes > MAX_BYTES {
            self.forget_oldest();
        }
    }

    fn expire(&mut self, retention: Duration) {
        while self.reorganisations.front().is_some_and(|oldest| oldest.at.elapsed() > retention) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.reorganisations.pop_front() {
            self.bytes -= oldest.bytes;
            self.forgotten = oldest.view;
        }
    }

    /// Forgets all, that of `view` included.
    fn forget(&mut self, view: u64) {
        *self = Self { forgotten: view, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(branch: u8) -> B256 {
        B256::repeat_byte(branch)
    }

    /// Orphans of the steps to views, each with its blocks and the branch that they are of.
    fn orphans(steps: &[(u64, &[(u64, u8)])]) -> Orphans {
        let orphans = Orphans::new(Duration::from_secs(60));
        for (view, blocks) in steps {
            let block = |(number, branch): &(u64, u8)| Orphan {
                number: *number,
                hash: hash(*branch),
                parent_hash: B256::ZERO,
                logs: None,
            };
            let blocks = blocks.iter().map(block).collect();
            orphans.lock().add(Reorganisation { view: *view, at: Instant::now(), blocks, bytes: 1 << 20 });
        }
        orphans
    }

    fn found(orphans: &Orphans, known_in: u64, number: u64, branch: u8) -> Option<Vec<(u64, B256)>> {
        let blocks = orphans.of_branch(known_in..u64::MAX, number, hash(branch))?;
        Some(blocks.iter().map(|block| (block.number, block.hash)).collect())
    }

    #[test]
    fn a_client_gets_the_blocks_of_its_branch() {
        // Branch 2 replaces 6 and 7, branch 3 replaces 5 and what branch 2 brought.
        let orphans = orphans(&[(4, &[(6, 1), (7, 1)]), (9, &[(5, 1), (6, 2), (7, 2), (8, 2)])]);
        let first = |number| (number, hash(1));
        let second = |number| (number, hash(2));
        assert_eq!(found(&orphans, 3, 7, 1), Some(vec![first(7), first(6), first(5)]));
        assert_eq!(found(&orphans, 3, 6, 1), Some(vec![first(6), first(5)]), "a client that fell behind");
        assert_eq!(found(&orphans, 3, 5, 1), Some(vec![first(5)]));
        assert_eq!(found(&orphans, 4, 8, 2), Some(vec![second(8), second(7), second(6), first(5)]));
        assert_eq!(found(&orphans, 3, 8, 2), Some(vec![second(8), second(7), second(6), first(5)]));
        assert_eq!(found(&orphans, 9, 7, 2), None, "nothing left since");
        assert_eq!(found(&orphans, 3, 7, 4), None, "a block that no step removed");
        let until = |view| orphans.of_branch(3..view, 7, hash(1)).map(|blocks| blocks.len());
        assert_eq!([until(3), until(4), until(8), until(9)], [None, Some(2), Some(2), Some(3)], "an older head");
    }

    #[tokio::test]
    async fn what_is_forgotten_is_not_known() {
        let orphans = orphans(&[(4, &[(6, 1)]), (9, &[(6, 2)])]);
        assert!(found(&orphans, 3, 6, 1).is_some());
        for view in 10..26 {
            let blocks = vec![Orphan { number: view, hash: hash(3), parent_hash: B256::ZERO, logs: None }];
            orphans.lock().add(Reorganisation { view, at: Instant::now(), blocks, bytes: 1 << 20 });
        }
        assert!(orphans.lock().bytes <= MAX_BYTES);
        assert_eq!(found(&orphans, 3, 6, 1), None, "its own step is forgotten");
        assert_eq!(found(&orphans, 8, 25, 3), None, "a step that it did not see is forgotten");
        assert!(found(&orphans, 9, 25, 3).is_some());
        orphans.skip(30);
        assert_eq!(found(&orphans, 29, 25, 3), None);
        assert!(orphans.is_recorded(30).await && !orphans.is_recorded(31).await);
    }

    #[test]
    fn steps_expire() {
        let orphans = orphans(&[(4, &[(6, 1)])]);
        orphans.lock().expire(Duration::from_secs(60));
        assert!(found(&orphans, 3, 6, 1).is_some());
        orphans.lock().expire(Duration::ZERO);
        assert_eq!((found(&orphans, 3, 6, 1), orphans.lock().bytes), (None, 0));
    }
}
