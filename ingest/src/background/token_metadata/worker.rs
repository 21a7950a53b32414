//! Calls token contracts in rounds, and writes their answers.

use std::collections::HashSet;
use std::ops::Bound::{Excluded, Unbounded};

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;
use trawl_core::primitives::Address;
use trawl_core::schema::{Table, TokenRow};
use trawl_core::store::{Reader, StoreError, Writer};

use super::answers::token_row;
use super::error::FetchError;
use super::policy::{CONCURRENCY, RetryPolicy};
use super::refresh::Refresh;
use crate::source::rpc::{self, TokenFailure};
use crate::write::batch::Tokens;
use crate::write::lease::LeaseGuard;
use trawl_node::NodeClient;

/// Contracts that may be pending; more are left to the next run.
const MAX_PENDING: usize = 100_000;
/// Contracts found in the tables that are not looked up again, at most.
const MAX_KNOWN: usize = 100_000;
/// Contracts called before their rows are written.
const ROUND_SIZE: usize = 64;
/// Contracts looked up in the tables by one statement.
const LOOKUP_SIZE: usize = 1000;
/// Rounds that may fail in a row before [`RetryPolicy::NextRun`] gives up, and [`RetryPolicy::Forever`] warns.
const MAX_FAILED_ROUNDS: u64 = 3;

/// How a round went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    Complete,
    /// The node answers for some contracts and not for others.
    Partial,
}

/// The answers of a round.
#[derive(Default)]
struct Answers {
    rows: Vec<TokenRow>,
    failed: Vec<(Address, TokenFailure)>,
}

/// The contracts of one run, and which of them remain.
pub(super) struct Worker {
    node: NodeClient,
    writer: Writer,
    guard: LeaseGuard,
    policy: RetryPolicy,
    /// Contracts that this run fetched, gave up, or found in the tables: the busy ones come with each block.
    done: HashSet<Address>,
    pending: Tokens,
    /// The last contract of the round before. The next round starts after it, so that contracts that fail do not keep
    /// others waiting.
    resume_after: Address,
    rounds: u64,
    written: usize,
    refresh: Refresh,
    refresh_due: Option<tokio::time::Instant>,
}

impl Worker {
    pub(super) fn new(node: NodeClient, writer: Writer, guard: LeaseGuard, policy: RetryPolicy) -> Self {
        let (done, pending) = (HashSet::new(), Tokens::new());
        let refresh = Refresh::new(node.clone(), writer.clone(), Some(guard.clone()));
        let (resume_after, rounds, written) = (Address::ZERO, 0, 0);
        let refresh_due = match policy {
            RetryPolicy::Forever(interval) => Some(tokio::time::Instant::now() + interval),
            RetryPolicy::NextRun => None,
        };
        Self { node, writer, guard, policy, done, pending, resume_after, rounds, written, refresh, refresh_due }
    }

    /// Fetches what is queued until the queue is closed and empty, or nothing can be fetched any more. Returns how many
    /// contracts have rows now.
    pub(super) async fn run(
        mut self,
        reader: &Reader,
        mut queued: mpsc::Receiver<Tokens>,
    ) -> Result<usize, FetchError> {
        self.add(missing_from_earlier_runs(reader).await);
        let mut failed_rounds = 0_u64;
        loop {
            while let Ok(tokens) = queued.try_recv() {
                self.add_missing(reader, tokens).await;
            }
            self.refresh_when_due(reader).await;
            if self.pending.is_empty() {
                let next = match self.refresh_due {
                    Some(due) => tokio::time::timeout_at(due, queued.recv()).await,
                    None => Ok(queued.recv().await),
                };
                let Ok(tokens) = next else { continue };
                let Some(tokens) = tokens else { return Ok(self.written) };
                self.add_missing(reader, tokens).await;
                continue;
            }
            match self.round().await {
                Ok(Round::Complete) => {
                    if failed_rounds > MAX_FAILED_ROUNDS {
                        tracing::info!("fetching token metadata again");
                    }
                    failed_rounds = 0;
                    continue;
                }
                Ok(Round::Partial) => failed_rounds += 1,
                Err(error) => {
                    failed_rounds += 1;
                    self.heed(error, failed_rounds)?;
                }
            }
            self.pause(failed_rounds, reader, &mut queued).await;
        }
    }

    /// Calls some contracts that answered before again, once it is time; a failure keeps nothing else waiting.
    async fn refresh_when_due(&mut self, reader: &Reader) {
        let RetryPolicy::Forever(interval) = self.policy else { return };
        if self.refresh_due.is_some_and(|due| tokio::time::Instant::now() < due) {
            return;
        }
        match self.refresh.round(reader).await {
            Ok(found) => tracing::debug!(found.called, found.changed, "token contracts were called again"),
            Err(error) => {
                tracing::debug!(
                    error = %trawl_core::error_chain(&error),
                    "cannot call token contracts again; trying later"
                );
            }
        }
        self.refresh_due = Some(tokio::time::Instant::now() + interval);
    }

    /// Returns the error of a round if it ends the run, and logs it otherwise.
    fn heed(&self, error: FetchError, failed_rounds: u64) -> Result<(), FetchError> {
        let ends = match self.policy {
            RetryPolicy::NextRun => failed_rounds > MAX_FAILED_ROUNDS || matches!(error, FetchError::Store(_)),
            RetryPolicy::Forever(_) => false,
        };
        if ends || error.is_final() {
            return Err(error);
        }
        let cause = trawl_core::error_chain(&error);
        match self.policy {
            RetryPolicy::NextRun => tracing::debug!(error = %cause, "retrying token contracts"),
            RetryPolicy::Forever(_) if failed_rounds == MAX_FAILED_ROUNDS + 1 => {
                tracing::warn!(error = %cause, "waiting for an answer from token contracts");
            }
            RetryPolicy::Forever(_) => {}
        }
        Ok(())
    }

    /// Pauses after so many failed rounds; contracts that are queued meanwhile are added.
    async fn pause(&mut self, failed_rounds: u64, reader: &Reader, queued: &mut mpsc::Receiver<Tokens>) {
        let end = tokio::time::Instant::now() + self.policy.pause(failed_rounds);
        while let Ok(Some(tokens)) = tokio::time::timeout_at(end, queued.recv()).await {
            self.add_missing(reader, tokens).await;
        }
        // A closed queue returns at once; the rest of the pause remains.
        tokio::time::sleep_until(end).await;
    }

    fn add(&mut self, tokens: Tokens) {
        for (address, token_type) in tokens {
            if self.pending.len() < MAX_PENDING && !self.done.contains(&address) {
                self.pending.entry(address).or_insert(token_type);
            }
        }
    }

    /// Adds the contracts that no run has fetched. Where the lookup fails they are fetched again, which adds an equal
    /// row.
    async fn add_missing(&mut self, reader: &Reader, mut tokens: Tokens) {
        tokens.retain(|address, _| !self.done.contains(address) && !self.pending.contains_key(address));
        let addresses: Vec<Address> = tokens.keys().copied().collect();
        for addresses in addresses.chunks(LOOKUP_SIZE) {
            match reader.fetched_tokens(addresses).await {
                Ok(fetched) => {
                    fetched.iter().for_each(|address| drop(tokens.remove(address)));
                    let room = MAX_KNOWN.saturating_sub(self.done.len());
                    self.done.extend(fetched.into_iter().take(room));
                }
                Err(error) => tracing::debug!(%error, "cannot look up which token contracts were fetched"),
            }
        }
        self.add(tokens);
    }

    /// Calls some of the pending contracts and writes their answers.
    async fn round(&mut self) -> Result<Round, FetchError> {
        let Answers { rows, mut failed } = self.next_answers().await?;
        let node_answers = !rows.is_empty();
        self.write(rows).await?;
        match failed.pop() {
            Some((_, cause)) if !node_answers || cause.is_final() => Err(cause.into()),
            Some(_) if self.policy != RetryPolicy::NextRun => Ok(Round::Partial),
            Some((address, cause)) => {
                tracing::debug!(%address, error = %cause, "token contracts are left for the next run");
                failed.push((address, cause));
                for (address, _) in failed {
                    self.finish(address);
                }
                Ok(Round::Complete)
            }
            None => Ok(Round::Complete),
        }
    }

    async fn next_answers(&mut self) -> Result<Answers, FetchError> {
        let block_number = rpc::newest_block(&self.node).await?;
        let remaining = self.pending.range((Excluded(self.resume_after), Unbounded));
        let next = remaining.chain(self.pending.range(..=self.resume_after)).take(ROUND_SIZE);
        let next: Vec<(Address, String)> = next.map(|(address, token_type)| (*address, token_type.clone())).collect();
        self.resume_after = next.last().map_or(Address::ZERO, |(address, _)| *address);
        let node = &self.node;
        let mut calls = stream::iter(next)
            .map(|(address, token_type)| async move {
                let answers = rpc::token(node, address, block_number).await;
                (address, answers.map(|answers| token_row(address, block_number, token_type, answers)))
            })
            .buffer_unordered(CONCURRENCY);
        let mut all = Answers::default();
        while let Some((address, answer)) = calls.next().await {
            match answer {
                Ok(row) => all.rows.push(row),
                Err(cause) => all.failed.push((address, cause)),
            }
        }
        Ok(all)
    }

    async fn write(&mut self, rows: Vec<TokenRow>) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let addresses: Vec<Address> = rows.iter().map(|row| row.address).collect();
        let mut builder = <TokenRow as Table>::Builder::default();
        for row in rows {
            TokenRow::push(&mut builder, row);
        }
        let batch = TokenRow::finish(builder);
        self.rounds += 1;
        for table in TokenRow::NAMES {
            let token = format!("{}/tokens/{}/{table}", self.writer.run(), self.rounds);
            self.guard.write(self.writer.insert(table, &batch, &token)).await?;
        }
        self.written += addresses.len();
        addresses.into_iter().for_each(|address| self.finish(address));
        Ok(())
    }

    fn finish(&mut self, address: Address) {
        self.pending.remove(&address);
        self.done.insert(address);
    }
}

/// The contracts that earlier runs did not fetch. A failed lookup does not stop this run.
async fn missing_from_earlier_runs(reader: &Reader) -> Tokens {
    match reader.unfetched_tokens().await {
        Ok(tokens) => tokens.into_iter().map(|token| (token.address, token.token_type)).collect(),
        Err(error) => {
            tracing::warn!(
                error = %trawl_core::error_chain(&error),
                "cannot look up the token contracts of earlier runs; only those of this run are fetched"
            );
            Tokens::new()
        }
    }
}
