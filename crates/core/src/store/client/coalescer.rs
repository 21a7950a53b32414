//! Pages that wait while others are read become one statement, up to a number of pages of different addresses.
//!
//! A few reads of pages go on at once, each alone, as without this. Who comes while all of these are taken waits, and
//! what waits when one ends is read together. So one client alone does not wait, and a crowd pays once for the planning
//! of sixteen pages. Whoever waits holds no more than its values; how many may wait is bounded by the requests that the
//! API lets in, and how long by the time limit of the statement before.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::connection::EngineRows;
use super::failover::Failover;
use crate::schema::Columns;
use crate::statement::{Parameter, Statement, Workload};
use crate::store::StoreError;
use pages::PageMember;
use primary_index::PrimaryIndexes;
use waiting::{PageQueue, PageReply, WaitingPage};

mod group;
mod pages;
mod primary_index;
mod waiting;

/// Most rows of a page that is read together with others.
const MAX_PAGE_ROWS: u64 = 1_000;

/// Reads pages, together where several wait.
pub(crate) struct PageCoalescer {
    /// Most pages of one statement.
    max_pages: usize,
    /// How many reads go on before others wait.
    max_reads: usize,
    queue: Mutex<PageQueue<ReadTurn>>,
    indexes: PrimaryIndexes,
}

/// One of the reads that go on; the next one begins when it is dropped.
struct ReadTurn {
    coalescer: Arc<PageCoalescer>,
    failover: Failover,
}

impl PageCoalescer {
    /// At most `max_pages` are read together: 1 turns it off.
    pub fn new(max_pages: usize) -> Self {
        // Two for each processor: while one is planned, the rows of another travel.
        let max_reads = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        Self { max_pages, max_reads, queue: Mutex::default(), indexes: PrimaryIndexes::default() }
    }

    /// Sends a statement, with another limit on its rows if one is given, and waits for the first of them.
    pub async fn send<R: Columns>(
        self: &Arc<Self>,
        failover: &Failover,
        statement: &Statement<R>,
        limit: Option<u64>,
    ) -> Result<EngineRows<R>, StoreError> {
        let Some((member, limit_of_page)) = self.member(statement, limit) else {
            return failover.send(statement, limit).await;
        };
        let _turn = match self.enter(failover, member, limit_of_page, statement.workload) {
            Ok(turn) => Some(turn),
            Err(reply) => match reply.await {
                Ok(PageReply::Rows(batches)) => {
                    count("together");
                    return EngineRows::of(batches);
                }
                Ok(PageReply::Turn(turn)) => Some(turn),
                // It failed for all, or had too few rows for this one.
                Err(_) => None,
            },
        };
        count("alone");
        failover.send(statement, limit).await
    }

    /// The page of a statement that may be read together with others.
    fn member<R: Columns>(&self, statement: &Statement<R>, limit: Option<u64>) -> Option<(PageMember, u64)> {
        let page = statement.address_page.as_deref().filter(|_| self.max_pages > 1 && statement.on_shards.is_none())?;
        if self.indexes.is_missing(page.table) {
            return None;
        }
        let own = statement.parameters.iter().find_map(|(name, value)| match value {
            Parameter::Number(number) if name == "limit" => Some(*number),
            _ => None,
        });
        let limit = limit.or(own).filter(|limit| *limit <= MAX_PAGE_ROWS)?;
        let member = PageMember { page: page.clone(), parameters: statement.parameters.clone(), blocks: page.blocks };
        Some((member, limit))
    }

    /// A turn at once, or the reply to wait for.
    fn enter(
        self: &Arc<Self>,
        failover: &Failover,
        member: PageMember,
        limit: u64,
        workload: Workload,
    ) -> Result<ReadTurn, oneshot::Receiver<PageReply<ReadTurn>>> {
        let mut queue = self.queue();
        if queue.begin(self.max_reads) {
            return Ok(ReadTurn { coalescer: Arc::clone(self), failover: failover.clone() });
        }
        let (reply, receiver) = oneshot::channel();
        queue.push(WaitingPage { member, limit, workload, reply });
        Err(receiver)
    }

    fn queue(&self) -> MutexGuard<'_, PageQueue<ReadTurn>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadTurn {
    fn drop(&mut self) {
        // Without a runtime the process ends, and nobody waits any more.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let Some(mut pages) = self.coalescer.queue().next_pages(self.coalescer.max_pages) else { return };
        let turn = Self { coalescer: Arc::clone(&self.coalescer), failover: self.failover.clone() };
        if pages.len() == 1 {
            let page = pages.remove(0);
            // A turn that is not taken goes on to the next one as it is dropped: in a task, however many do so.
            if let Err(unused) = page.reply.send(PageReply::Turn(turn)) {
                runtime.spawn(async move { drop(unused) });
            }
        } else {
            runtime.spawn(async move { group::read(&turn.failover, &turn.coalescer.indexes, pages).await });
        }
    }
}

fn count(how: &'static str) {
    metrics::counter!("trawl_address_pages_total", "read" => how).increment(1);
}
