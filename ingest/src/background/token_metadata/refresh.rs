//! Calls contracts again that answered before: what they say of themselves may change.
//!
//! The walk goes round in the order of the contracts, a few at a time, and writes those rows that differ. Contracts
//! that lack a name, a symbol or decimals that their standard has are in a walk of their own, so that they do not wait
//! for all others: many are set up after their first transfer.

use futures_util::{StreamExt, stream};
use trawl_core::primitives::Address;
use trawl_core::schema::{Table, TokenRow};
use trawl_core::store::{Reader, StoreError, TokenSelection, Writer};

use super::answers::token_row;
use super::error::FetchError;
use super::policy::CONCURRENCY;
use crate::source::rpc;
use crate::write::lease::LeaseGuard;
use trawl_node::NodeClient;

/// Contracts of each of both walks that are called at a time.
const AT_ONCE: u64 = 32;

/// What a round found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RefreshReport {
    /// Contracts that answered.
    pub called: usize,
    /// Those that say something else than before.
    pub changed: usize,
}

/// Calls known contracts again.
pub(super) struct Refresh {
    node: NodeClient,
    writer: Writer,
    /// Of the run that writes blocks; none of another, which adds whole rows to one table and needs no right to it.
    guard: Option<LeaseGuard>,
    /// The last contracts of the round before, of all and of those that lack something.
    last: [Address; 2],
    rounds: u64,
}

impl Refresh {
    /// Begins both walks.
    pub(super) fn new(node: NodeClient, writer: Writer, guard: Option<LeaseGuard>) -> Self {
        Self { node, writer, guard, last: [Address::ZERO; 2], rounds: 0 }
    }

    /// The next contracts of both walks.
    ///
    /// # Errors
    ///
    /// If the node does not answer, the store fails, or the lease is lost.
    pub(super) async fn round(&mut self, reader: &Reader) -> Result<RefreshReport, FetchError> {
        let incomplete = self.next(reader, TokenSelection::Incomplete).await;
        let (all, incomplete) = (self.next(reader, TokenSelection::All).await?, incomplete?);
        Ok(RefreshReport { called: incomplete.called + all.called, changed: incomplete.changed + all.changed })
    }

    /// All contracts once.
    ///
    /// # Errors
    ///
    /// If the node does not answer, the store fails, or the lease is lost.
    pub(super) async fn whole(mut self, reader: &Reader) -> Result<RefreshReport, FetchError> {
        let mut sum = RefreshReport::default();
        loop {
            let found = self.next(reader, TokenSelection::All).await?;
            sum = RefreshReport { called: sum.called + found.called, changed: sum.changed + found.changed };
            if self.last[TokenSelection::All as usize].is_zero() {
                return Ok(sum);
            }
        }
    }

    /// The next contracts of a walk; at its end it begins anew.
    async fn next(&mut self, reader: &Reader, selection: TokenSelection) -> Result<RefreshReport, FetchError> {
        let walk = selection as usize;
        let known = reader.tokens_after(self.last[walk], selection, AT_ONCE).await?;
        let is_end = (known.len() as u64) < AT_ONCE;
        let last = known.last().map_or(Address::ZERO, |row| row.address);
        self.last[walk] = if is_end { Address::ZERO } else { last };
        self.call(known).await
    }

    async fn call(&mut self, known: Vec<TokenRow>) -> Result<RefreshReport, FetchError> {
        let newest = rpc::newest_block(&self.node).await?;
        let node = &self.node;
        // Nothing has changed since a contract was called after the same block.
        let due = known.into_iter().filter(|row| row.block_number < newest);
        let mut calls = stream::iter(due)
            .map(|row| async move { (rpc::token(node, row.address, newest).await, row) })
            .buffer_unordered(CONCURRENCY);
        let (mut found, mut changed, mut failure) = (RefreshReport::default(), Vec::new(), None);
        while let Some((answers, row)) = calls.next().await {
            // One that the node has trouble with keeps no other waiting.
            match answers {
                Ok(answers) => {
                    found.called += 1;
                    let now = token_row(row.address, newest, row.token_type.clone(), answers);
                    changed.extend(Some(now).filter(|now| differs(&row, now)));
                }
                Err(error) => {
                    tracing::debug!(address = %row.address, %error, "a token contract will be called again later");
                    failure = Some(error);
                }
            }
        }
        drop(calls);
        if let Some(failure) = failure.filter(|failure| found.called == 0 || failure.is_final()) {
            return Err(failure.into());
        }
        found.changed = changed.len();
        self.write(changed).await?;
        Ok(found)
    }

    async fn write(&mut self, rows: Vec<TokenRow>) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut builder = <TokenRow as Table>::Builder::default();
        rows.into_iter().for_each(|row| TokenRow::push(&mut builder, row));
        let batch = TokenRow::finish(builder);
        self.rounds += 1;
        for table in TokenRow::NAMES {
            let token = format!("{}/tokens again/{}/{table}", self.writer.run(), self.rounds);
            let insert = self.writer.insert(table, &batch, &token);
            match &self.guard {
                Some(guard) => guard.write(insert).await?,
                None => insert.await?,
            }
        }
        Ok(())
    }
}

fn differs(one: &TokenRow, other: &TokenRow) -> bool {
    let said = |row: &TokenRow| (row.name.clone(), row.symbol.clone(), row.decimals, row.total_supply);
    said(one) != said(other)
}
