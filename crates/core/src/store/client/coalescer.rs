//! Pages that wait while others are read become one statement, up to a number of pages of different addresses.
//!
//! A few pages are read at once, each by a statement of its own. A page that is requested while these reads run waits,
//! and the pages that wait when one of the reads ends are read together. So one client alone does not wait, and a crowd
//! pays once for the planning of sixteen pages. A page that has waited for [`MAX_WAIT`] is read beside the others: on a
//! machine that is busy with other requests a wait costs more than it saves. A waiting page holds only its parameters;
//! the number of waiting pages is bounded by the requests that the API admits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::connection::EngineRows;
use super::failover::Failover;
use crate::schema::Columns;
use crate::served_chain::for_same_chain;
use crate::statement::{AddressPage, Parameter, Statement, Workload};
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

/// How long a page waits for the end of another read.
const MAX_WAIT: Duration = Duration::from_millis(25);

/// How long a read counts as one that others wait for. A page takes some milliseconds; one with a filter may read a
/// long range.
const MAX_TURN: Duration = Duration::from_millis(100);

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
        let Some((page, limit_of_page)) = self.page(statement, limit) else {
            return failover.send(statement, limit).await;
        };
        let member =
            || PageMember { page: page.clone(), parameters: statement.parameters.clone(), blocks: page.blocks };
        let turn = match self.enter(failover, member, limit_of_page, statement.workload) {
            Ok(turn) => Some(turn),
            Err(reply) => match self.wait(failover, reply).await {
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
        in_turn(turn, failover.send(statement, limit)).await
    }

    /// The page of a statement that may be read together with others, and its limit.
    fn page<'s, R>(&self, statement: &'s Statement<R>, limit: Option<u64>) -> Option<(&'s AddressPage, u64)> {
        let page = statement.address_page.as_deref().filter(|_| self.max_pages > 1 && statement.on_shards.is_none())?;
        if self.indexes.is_missing(page.table) {
            return None;
        }
        let own = statement.parameters.iter().find_map(|(name, value)| match value {
            Parameter::Number(number) if name == "limit" => Some(*number),
            _ => None,
        });
        let limit = limit.or(own).filter(|limit| *limit <= MAX_PAGE_ROWS)?;
        Some((page, limit))
    }

    /// A turn at once, or the reply to wait for: only who waits needs values of its own.
    fn enter(
        self: &Arc<Self>,
        failover: &Failover,
        member: impl FnOnce() -> PageMember,
        limit: u64,
        workload: Workload,
    ) -> Result<ReadTurn, oneshot::Receiver<PageReply<ReadTurn>>> {
        let mut queue = self.queue();
        if queue.begin(self.max_reads) {
            return Ok(ReadTurn { coalescer: Arc::clone(self), failover: failover.clone() });
        }
        let (reply, receiver) = oneshot::channel();
        queue.push(WaitingPage { member: member(), limit, workload, since: Instant::now(), reply });
        Err(receiver)
    }

    /// Waits for the reply to a page; begins a read beside the others when the page that came first waits too long.
    async fn wait(
        self: &Arc<Self>,
        failover: &Failover,
        mut reply: oneshot::Receiver<PageReply<ReadTurn>>,
    ) -> Result<PageReply<ReadTurn>, oneshot::error::RecvError> {
        loop {
            match tokio::time::timeout(MAX_WAIT, &mut reply).await {
                Ok(reply) => return reply,
                Err(_) if self.queue().begin_beside(MAX_WAIT) => {
                    drop(ReadTurn { coalescer: Arc::clone(self), failover: failover.clone() });
                }
                Err(_) => {}
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, PageQueue<ReadTurn>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ReadTurn {
    fn drop(&mut self) {
        // Without a runtime the process ends, and no reader waits.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let PageCoalescer { max_pages, max_reads, .. } = *self.coalescer;
        let Some(mut pages) = self.coalescer.queue().next_pages(max_pages, max_reads, MAX_WAIT) else { return };
        let turn = Self { coalescer: Arc::clone(&self.coalescer), failover: self.failover.clone() };
        if pages.len() == 1 {
            let page = pages.remove(0);
            // A turn that is not taken goes on to the next one as it is dropped: in a task, however many do so.
            if let Err(unused) = page.reply.send(PageReply::Turn(turn)) {
                runtime.spawn(for_same_chain(async move { drop(unused) }));
            }
        } else {
            runtime.spawn(for_same_chain(async move {
                let (coalescer, failover) = (Arc::clone(&turn.coalescer), turn.failover.clone());
                in_turn(Some(turn), group::read(&failover, &coalescer.indexes, pages)).await;
            }));
        }
    }
}

/// Waits for a read, which has its turn for some time at most.
async fn in_turn<T>(turn: Option<ReadTurn>, read: impl Future<Output = T>) -> T {
    let mut read = Box::pin(read);
    if let Ok(rows) = tokio::time::timeout(MAX_TURN, &mut read).await {
        return rows;
    }
    drop(turn);
    read.await
}

fn count(how: &'static str) {
    metrics::counter!("trawl_address_pages_total", "read" => how).increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{Address, BlockRange};
    use crate::schema::LogRow;
    use crate::store::client::addresses::Endpoint;
    use crate::store::client::connection::Connection;
    use crate::store::{Compression, Reader, StoreAddress};

    fn page(number: u8) -> Statement<LogRow> {
        let page = AddressPage {
            columns: LogRow::select_list(),
            table: "logs",
            conditions: Vec::new(),
            order: "block_number, log_index".into(),
            address: Address::repeat_byte(number),
            blocks: BlockRange::single(1),
        };
        let mut statement = Statement::page("SELECT 1").with("limit", 50);
        statement.address_page = Some(Box::new(page));
        statement
    }

    fn address(url: String) -> StoreAddress {
        let [database, user] = ["trawl", "default"].map(str::to_owned);
        StoreAddress { url, database, user, password: String::new(), compression: Compression::None }
    }

    /// Enters with the page of an address.
    fn enter(
        coalescer: &Arc<PageCoalescer>,
        failover: &Failover,
        number: u8,
    ) -> Result<ReadTurn, oneshot::Receiver<PageReply<ReadTurn>>> {
        let member = || {
            let page = *page(number).address_page.expect("a page of an address");
            PageMember { blocks: page.blocks, page, parameters: Vec::new() }
        };
        coalescer.enter(failover, member, 50, Workload::Short)
    }

    /// However long the others read: none of them ends here.
    #[tokio::test]
    async fn a_page_gets_its_turn_beside_reads_that_go_on() {
        let connection = Connection { client: clickhouse::Client::default(), timeout: Duration::from_secs(60) };
        let failover = Failover::new(vec![Endpoint::new(&address("http://127.0.0.1:1".to_owned()), connection)]);
        let coalescer = Arc::new(PageCoalescer::new(16));
        let reads = u8::try_from(coalescer.max_reads).expect("a few");
        let held: Vec<_> =
            (0..reads).map(|number| enter(&coalescer, &failover, number).ok().expect("it is free")).collect();
        let reply = enter(&coalescer, &failover, reads).err().expect("it waits");
        let started = Instant::now();
        let reply = tokio::time::timeout(Duration::from_secs(20), coalescer.wait(&failover, reply)).await;
        assert!(matches!(reply.expect("it waits no longer"), Ok(PageReply::Turn(_))));
        assert!(started.elapsed() >= MAX_WAIT, "it came before {MAX_WAIT:?}");
        assert!(enter(&coalescer, &failover, reads).is_err(), "the others still read");
        drop(held);
    }

    /// A server that accepts requests and never answers: reads that hang hold up no other.
    #[tokio::test]
    async fn reads_that_hang_do_not_keep_others_waiting() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", server.local_addr().expect("an address"));
        let reader = Reader::new(&address(url), Duration::from_secs(60), 1 << 30).with_coalesced_pages(16);
        let reads = 2 * std::thread::available_parallelism().map_or(1, usize::from) as u8;
        for number in 0..=reads {
            let reader = reader.clone();
            tokio::spawn(async move { reader.stream(&page(number)).await.map(drop) });
        }
        let mut connections = Vec::new();
        for _ in 0..=reads {
            let accepted = tokio::time::timeout(Duration::from_secs(20), server.accept()).await;
            connections.push(accepted.expect("a page still waits").expect("a connection"));
        }
    }
}
