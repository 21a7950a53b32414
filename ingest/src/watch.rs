//! Watches following from beside it: how far nodes are, what readers see, and what is wrong. Nothing that following
//! waits for holds it up. What it finds is a row of `follow_reports`, metrics, and lines of the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};
use trawl_core::primitives::BlockNumber;
use trawl_core::store::{NewReport, StoreError};
use trawl_node::NodeClient;

use crate::source::rpc::RpcSource;
use crate::write::leased_database::LeasedDatabase;

mod chain;
mod gauges;
mod inspection;
mod journal;
mod problem;
mod problems;
mod progress;

use chain::known_chain;
use inspection::Inspection;
use journal::Journal;
use problem::{Problem, ProblemStarts};
use problems::{Evidence, found, is_held_up};
pub use progress::FollowProgress;

/// A look that took so many intervals is not waited for: the node hangs, or the connection is gone.
const POLL_INTERVALS: u32 = 4;
/// The chain of the nodes is compared after so many intervals: 20 seconds of 2.
const CHAIN_INTERVALS: u32 = 10;
/// The longest that ClickHouse may take for a report.
const REPORT_TIMEOUT: Duration = Duration::from_secs(5);

/// What is watched.
#[derive(Clone)]
pub struct Subjects {
    /// Nodes whose newest block and health are watched.
    pub node: NodeClient,
    /// The same nodes as the source of blocks.
    pub source: RpcSource,
    /// What readers see, and where to report.
    pub database: LeasedDatabase,
    /// Between two looks.
    pub interval: Duration,
    /// Where to note what was found.
    pub progress: FollowProgress,
}

/// The tasks that look and report.
pub struct WatchTask {
    looks: [JoinHandle<()>; 2],
    reports: JoinHandle<()>,
    stop: Arc<Notify>,
}

impl WatchTask {
    /// Starts to look and to report.
    #[must_use]
    pub fn start(subjects: Subjects) -> Self {
        let stop = Arc::new(Notify::new());
        let looks = [tokio::spawn(poll_nodes(subjects.clone())), tokio::spawn(compare(subjects.clone()))];
        let reports = tokio::spawn(Watch::new(subjects).run(Arc::clone(&stop)));
        Self { looks, reports, stop }
    }

    /// Reports that following has ended on request.
    pub async fn end(self) {
        self.looks.iter().for_each(JoinHandle::abort);
        self.stop.notify_one();
        // Whatever came of it: that nothing is reported any more is noticed as well.
        let _ = tokio::time::timeout(REPORT_TIMEOUT, self.reports).await;
    }

    /// Ends the reports without a last one.
    pub fn abort(&self) {
        self.looks.iter().for_each(JoinHandle::abort);
        self.reports.abort();
    }
}

/// Looks at the nodes in each interval, whether or not looks before are answered: those of a node that hung may never
/// be.
async fn poll_nodes(subjects: Subjects) {
    let timeout = subjects.interval * POLL_INTERVALS;
    let mut looks = JoinSet::new();
    loop {
        let node = subjects.node.clone();
        looks.spawn(async move { node.poll(timeout).await });
        tokio::time::sleep(subjects.interval).await;
        while looks.try_join_next().is_some() {}
    }
}

/// Has the nodes compared with what is settled, now and then. A node that is back is compared in any case.
async fn compare(subjects: Subjects) {
    let Subjects { node, database, interval, .. } = subjects;
    loop {
        if let Ok(id) = node.chain_id().await
            && let Some(chain) = known_chain(&database.reader, id).await
        {
            node.expect(chain);
        }
        node.distrust();
        tokio::time::sleep(interval * CHAIN_INTERVALS).await;
    }
}

/// What readers see as the newest block, and since when.
#[derive(Debug, Clone, Copy)]
struct VisibleHead {
    block: Option<BlockNumber>,
    since: Instant,
}

struct Watch {
    subjects: Subjects,
    head: VisibleHead,
    onsets: ProblemStarts,
    journal: Journal,
    store: StoreContact,
}

/// How ClickHouse answered last.
#[derive(Debug)]
struct StoreContact {
    /// When it answered.
    answered: Instant,
    /// Why the last statement failed.
    refusal: Option<StoreError>,
}

impl StoreContact {
    fn note(&mut self, error: Option<StoreError>) {
        if error.as_ref().is_none_or(|error| !error.is_unreachable()) {
            self.answered = Instant::now();
        }
        self.refusal = error;
    }
}

impl Watch {
    fn new(subjects: Subjects) -> Self {
        let journal = Journal::new(subjects.interval);
        let head = VisibleHead { block: None, since: Instant::now() };
        let store = StoreContact { answered: Instant::now(), refusal: None };
        Self { subjects, head, onsets: ProblemStarts::default(), journal, store }
    }

    async fn run(mut self, stop: Arc<Notify>) {
        self.take_over().await;
        loop {
            self.report(false).await;
            tokio::select! {
                () = tokio::time::sleep(self.subjects.interval) => {}
                () = stop.notified() => break,
            }
        }
        self.report(true).await;
    }

    /// Takes the age of the head from the report of the run before, if readers still see that block: a `follow` that is
    /// started again and again without getting on does not look as if it were new each time.
    async fn take_over(&mut self) {
        self.check_head().await;
        let report = within(self.subjects.database.reader.newest_follow_report()).await.ok().flatten();
        let seen = report.filter(|report| report.head_block == self.head.block);
        if let Some(since) = seen.and_then(|report| Instant::now().checked_sub(report.head_age())) {
            self.head.since = since;
        }
    }

    /// Looks at everything once, and says what was found.
    async fn report(&mut self, is_last: bool) {
        self.check_head().await;
        let Subjects { node, source, database, interval, progress, .. } = &self.subjects;
        node.miss(*interval * 2);
        let nodes = node.status();
        let node_block =
            nodes.iter().filter(|node| node.foreign.is_none()).filter_map(|node| Some(node.height?.0)).max();
        let trouble = database.guard.trouble();
        let evidence = Evidence {
            nodes: &nodes,
            oldest_call: node.oldest_call(),
            missing: source.missing_parts(),
            refusal: self.store.refusal.as_ref().or(trouble.as_deref()),
            store_silence: self.store.answered.elapsed(),
            head: self.head.block,
            node_block,
            head_age: self.head.since.elapsed(),
            interval: *interval,
        };
        let problems = self.onsets.date(found(&evidence));
        let silence = nodes.iter().map(|node| node.silence).min().unwrap_or_default();
        progress.note_inspection(Inspection {
            at: Instant::now(),
            interval: *interval,
            node_block,
            node_silence: silence,
            head_block: self.head.block,
            head_since: self.head.since,
            problems: problems.clone(),
            is_held_up: is_held_up(&evidence, silence),
        });
        self.journal.note(&problems);
        let reported: Vec<_> = problems.iter().map(Problem::reported).collect();
        let report = NewReport {
            interval: *interval,
            node_block,
            node_silence: silence,
            head_block: self.head.block,
            head_age: evidence.head_age,
            problems: &reported,
            is_last,
        };
        // One that hangs is waited for once in each round.
        if self.store.refusal.as_ref().is_none_or(|error| !error.is_unreachable()) {
            self.store.note(within(database.writer.record_follow_report(&report)).await.err());
        }
    }

    async fn check_head(&mut self) {
        match within(self.subjects.database.reader.readers_head()).await {
            Ok(block) => {
                if block != self.head.block {
                    self.head = VisibleHead { block, since: Instant::now() };
                }
                // That it answers reads says nothing of writes, which the last report found out.
                if self.store.refusal.as_ref().is_some_and(StoreError::is_unreachable) {
                    self.store.note(None);
                }
            }
            Err(error) => self.store.note(Some(error)),
        }
    }
}

async fn within<T>(statement: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(REPORT_TIMEOUT, statement).await.unwrap_or_else(|_| Err(StoreError::silent()))
}
