//! Counts the holders and the supply of tokens, in order, over settled blocks from the chain's first on.
//!
//! A step takes so many blocks and is worked out inside ClickHouse: first what its transfers do to balances, beside
//! them; then, once that is on record, the balances and the counts. Nothing a step needs is changed before it is on
//! record, and what it makes replaces what was there, so a step that was killed at any point is done again with the
//! same end.
//!
//! It works beside the load and never holds it up. It knows transfers only: where those do not give the balances of a
//! token, the count is marked from there on.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::{Table, TokenStepRow};
use trawl_core::store::{Head, Reader, StoreError, TokenStep, Writer};

use super::transaction_totals::{Backlog, TransactionTotals};
use crate::write::lease::LeaseGuard;
use crate::write::leased_database::LeasedDatabase;
use crate::write::retry::retry_transient;

/// Transfers of a step, which bound its memory in ClickHouse: less than 400 MB where each changes balances of its own.
/// A block with more is a step of its own.
const MAX_STEP_TRANSFERS: u64 = 200_000;
/// Blocks among which a step is looked for, at least and at most.
const MIN_STEP_BLOCKS: u64 = 1000;
const MAX_STEP_BLOCKS: u64 = 100_000;
/// Pause between two polls for settled blocks.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The same where settled blocks are announced.
const LONG_INTERVAL: Duration = Duration::from_secs(60);
/// How long a complete load waits before it logs the reason.
const NOTICE_DELAY: Duration = Duration::from_secs(10);
/// Pause after a failed step.
const RETRY_PAUSE: Duration = Duration::from_secs(60);

/// When a task polls for settled blocks.
#[derive(Debug, Clone)]
pub enum PollSchedule {
    /// Every two seconds: batches are committed all the time.
    Often,
    /// When notified of settled blocks, and every minute.
    When(Arc<Notify>),
}

impl PollSchedule {
    /// Returns when it is time.
    async fn next(&self) {
        match self {
            Self::Often => tokio::time::sleep(POLL_INTERVAL).await,
            // A time-out is a look like any other.
            Self::When(settled) => drop(tokio::time::timeout(LONG_INTERVAL, settled.notified()).await),
        }
    }
}

/// The task that counts; it ends when this is dropped.
#[derive(Debug)]
pub struct StatisticsTask {
    task: JoinHandle<()>,
    last_round: watch::Sender<bool>,
}

impl StatisticsTask {
    /// Starts to count what is settled, and to write while the lease of `database` is held.
    #[must_use]
    pub fn start(database: LeasedDatabase, looks: PollSchedule) -> Self {
        let LeasedDatabase { reader, writer, guard } = database;
        let (last_round, is_last) = watch::channel(false);
        let totals = TransactionTotals::new(reader.clone(), writer.clone(), guard.clone());
        let counter = Counter { reader, writer, guard, attempts: 0, window: MIN_STEP_BLOCKS, looks, totals };
        Self { task: tokio::spawn(counter.run(is_last)), last_round }
    }

    /// Counts the rest of what is settled, unless `stop` becomes true.
    pub async fn finish(mut self, mut stop: watch::Receiver<bool>) {
        self.last_round.send_replace(true);
        let long = async {
            tokio::time::sleep(NOTICE_DELAY).await;
            tracing::info!(
                "blocks are loaded, still counting token holders and transactions; if stopped, the next run resumes"
            );
            std::future::pending::<()>().await;
        };
        let cut_short = tokio::select! {
            _ = &mut self.task => false,
            _ = stop.wait_for(|stop| *stop) => true,
            () = long => false,
        };
        if cut_short {
            tracing::info!("the next run counts the remaining token holders and transactions");
            self.task.abort();
        }
    }
}

impl Drop for StatisticsTask {
    /// Aborts the task; the next run repeats an interrupted step.
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Counter {
    reader: Reader,
    writer: Writer,
    guard: LeaseGuard,
    /// Numbers the writes of this run.
    attempts: u64,
    /// Blocks among which the next step is looked for: those of the last one, twice.
    window: u64,
    looks: PollSchedule,
    totals: TransactionTotals,
}

impl Counter {
    async fn run(mut self, mut is_last: watch::Receiver<bool>) {
        let mut was_last = false;
        loop {
            if !was_last && *is_last.borrow() {
                was_last = true;
                self.totals.forget();
            }
            let failed = match self.extend().await {
                Ok(Backlog::Pending) => continue,
                Ok(Backlog::Empty) => false,
                Err(cause @ (StoreError::LeaseLost | StoreError::NoSignOfLife(_))) => {
                    tracing::debug!(error = %trawl_core::error_chain(&cause), "stopped counting token holders");
                    return;
                }
                Err(cause) => {
                    tracing::warn!(error = %trawl_core::error_chain(&cause), "cannot count token holders; trying \
                                                                              again later");
                    true
                }
            };
            if was_last {
                return;
            }
            let next = async { if failed { tokio::time::sleep(RETRY_PAUSE).await } else { self.looks.next().await } };
            tokio::select! {
                // Its sender is gone only if this is aborted.
                _ = is_last.wait_for(|is_last| *is_last) => {}
                () = next => {}
            }
        }
    }

    /// Runs all due steps, and sums transactions of some periods.
    async fn extend(&mut self) -> Result<Backlog, StoreError> {
        let head = retry_transient(|| Head::load(&self.reader)).await?;
        self.count_holders(&head).await?;
        self.totals.extend(&head).await
    }

    /// Counts the holders of all blocks that are settled.
    async fn count_holders(&mut self, head: &Head) -> Result<(), StoreError> {
        let Some(complete) = complete(head) else { return Ok(()) };
        let mut progress = retry_transient(|| self.reader.token_progress()).await?;
        if let Some(begun) = progress.begun {
            self.make(begun).await?;
            progress.reach = Some(begun.blocks.last());
        }
        let mut first = progress.reach.map_or(complete.first(), |reach| reach + 1);
        while let Some(remaining) = BlockRange::new(first, complete.last().min(first + self.window - 1)) {
            let step = retry_transient(|| self.reader.token_step(remaining, MAX_STEP_TRANSFERS)).await?;
            if step.transfers == 0 {
                self.attempts += 1;
                self.note(step, "done").await?;
            } else {
                self.work_out(step).await?;
                self.make(step).await?;
            }
            tracing::debug!(blocks = %step.blocks, transfers = step.transfers, "token holders are counted");
            first = step.blocks.last() + 1;
            self.window = (2 * step.blocks.count()).clamp(MIN_STEP_BLOCKS, MAX_STEP_BLOCKS);
        }
        Ok(())
    }

    /// The first half of a step: computes its changes.
    async fn work_out(&mut self, step: TokenStep) -> Result<(), StoreError> {
        self.attempts += 1;
        let token = self.token("changes");
        retry_transient(|| self.guard.write(self.writer.clear_token_changes())).await?;
        retry_transient(|| self.guard.write(self.writer.work_out_token_changes(step.blocks, &token))).await?;
        self.note(step, "known").await
    }

    /// The second half: applies them.
    async fn make(&mut self, step: TokenStep) -> Result<(), StoreError> {
        self.attempts += 1;
        let token = self.token("made");
        retry_transient(|| self.guard.write(self.writer.make_token_changes(&token))).await?;
        self.note(step, "done").await
    }

    async fn note(&self, step: TokenStep, stage: &str) -> Result<(), StoreError> {
        let mut builder = <TokenStepRow as Table>::Builder::default();
        let row = TokenStepRow {
            first_block: step.blocks.first(),
            last_block: step.blocks.last(),
            stage: stage.into(),
            transfers: step.transfers,
            run: self.writer.run().into(),
            written_at: crate::write::clock::now(),
        };
        TokenStepRow::push(&mut builder, row);
        let batch = TokenStepRow::finish(builder);
        let token = self.token(stage);
        retry_transient(|| self.guard.write(self.writer.insert("token_steps", &batch, &token))).await
    }

    fn token(&self, what: &str) -> String {
        format!("{}/token statistics/{}/{what}", self.writer.run(), self.attempts)
    }
}

/// The settled blocks with receipts from the chain's first on, without a gap. The genesis has no transfers.
fn complete(head: &Head) -> Option<BlockRange> {
    const FIRST: BlockNumber = 1;
    let lowest = head.receipts.settled().ranges().first().copied()?;
    (lowest.first() <= FIRST).then_some(lowest)
}
