//! Rows of one kind, newest first, each source a range of a key; and all sources together in the order of the list.

use std::collections::{HashSet, VecDeque};

use futures_util::future::try_join_all;

use super::position::{MovementCursor, TRANSFER};
use crate::app::App;
use crate::enrich::selectors::TransactionKey;
use crate::error::Problem;
use crate::read::addresses::plain_transfers::Delivery;
use trawl_core::primitives::{Address, Direction, FramePosition, TransactionPosition, TransferPosition};
use trawl_core::readable::Span;
use trawl_core::schema::{OptionalTable, ScannedInternalTransaction, TokenTransferRow};
use trawl_core::store::Head;
use trawl_json::advanced_filters::{Movement, MovementKey, MovementKind};
use trawl_query::tokens::transfers;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::transactions::{TransactionMove, internal};
use trawl_query::walk::Walk;
use trawl_query::{tokens, transactions};

/// Rows that a source reads at a time where the filter passes over some.
pub(super) const ROWS_PER_READ: u64 = 500;
/// An address and the side it is on.
pub(super) type Side = (Address, Direction);

/// What a source reads: rows of a side of an address, or of all.
#[derive(Debug)]
pub(super) enum Read {
    Transactions(Option<Side>),
    Frames(Option<Side>),
    /// Token transfers of a side, with the token if only one is included, and the standards (all if empty).
    Transfers(Option<Side>, Option<Address>, Vec<&'static str>),
    /// Token transfers of one token.
    OfToken(Address),
}

/// Rows of one kind, of which some are held.
pub(super) struct Source {
    read: Read,
    blocks: Span,
    held: VecDeque<Movement>,
    /// The position below which all rows are, and that below which the next ones are.
    start: Option<MovementCursor>,
    below: Option<MovementCursor>,
    is_done: bool,
}

impl Source {
    /// The rows in `blocks` below a position; nothing is read yet.
    pub fn new(read: Read, blocks: Span, below: Option<MovementCursor>) -> Self {
        Self { read, blocks, held: VecDeque::new(), start: below, below, is_done: false }
    }

    /// Reads until rows are held or there are none, some at a time. Only transfers of the block of a cursor are passed
    /// over.
    async fn fill(&mut self, app: &App, head: &Head, limit: u64) -> Result<(), Problem> {
        while self.held.is_empty() && !self.is_done {
            let limit = if self.passes_over() { limit.max(ROWS_PER_READ) } else { limit };
            let rows = self.next(app, head, limit).await?;
            self.is_done = (rows.len() as u64) < limit;
            self.below = rows.last().map(|row| MovementCursor(row.key())).or(self.below);
            let start = self.start;
            self.held.extend(rows.into_iter().filter(|row| start.is_none_or(|start| row.key() < start.0)));
        }
        Ok(())
    }

    /// Whether the next rows may lie above the position of the cursor.
    fn passes_over(&self) -> bool {
        let is_of_transfer = |position: MovementCursor| position.0.2 == TRANSFER;
        matches!(self.read, Read::Transfers(..) | Read::OfToken(_)) && !self.below.is_none_or(is_of_transfer)
    }

    async fn next(&self, app: &App, head: &Head, limit: u64) -> Result<Vec<Movement>, Problem> {
        let blocks = &self.blocks;
        match &self.read {
            Read::Transactions(side) => {
                let beyond: Option<TransactionPosition> = self.below.map(MovementCursor::transactions);
                let walk = Walk { beyond, ..Walk::newest(limit) };
                let side = side.as_ref().map(|(address, side)| (address, *side));
                let statement = transactions::moves(side, blocks, walk);
                let rows = app.values_of(head, &statement).await?;
                let plain = app.plain_transfers(head, rows.iter().filter_map(delivery).collect()).await?;
                Ok(rows.into_iter().map(|row| of_transaction(row, &plain)).collect())
            }
            Read::Frames(side) => {
                let before: Option<FramePosition> = self.below.map(MovementCursor::frames);
                let statement = match side {
                    Some((address, side)) => internal::of_address(address, Some(*side), blocks, before, limit),
                    None if head.tables.has(OptionalTable::ListedInternalTransactions) => {
                        internal::of_all(blocks, before, limit)
                    }
                    None => internal::of_all_searched(blocks, before, limit),
                };
                Ok(app.values_of(head, &statement).await?.into_iter().map(of_frame).collect())
            }
            Read::Transfers(side, token, standards) => {
                let before: Option<TransferPosition> = self.below.map(MovementCursor::transfers);
                let statement = match side {
                    Some((address, side)) => {
                        let filter = TransferFilter { direction: Some(*side), token: *token, types: standards.clone() };
                        transfers::of_address(address, &filter, blocks, before, limit)
                    }
                    None => transfers::of_all(blocks, before, limit),
                };
                Ok(app.values_of(head, &statement).await?.into_iter().map(of_transfer).collect())
            }
            Read::OfToken(token) => {
                let before = self.below.map(MovementCursor::transfers);
                let statement = transfers(tokens::TokenPart::Token(token), blocks, before, limit);
                Ok(app.values_of(head, &statement).await?.into_iter().map(of_transfer).collect())
            }
        }
    }
}

/// Sources in the order of the list, each row once.
pub(super) struct Sources {
    sources: Vec<Source>,
    /// Rows that a source reads at a time.
    limit: u64,
    last: Option<MovementKey>,
}

impl Sources {
    /// All sources together.
    pub fn new(sources: Vec<Source>, limit: u64) -> Self {
        Self { sources, limit, last: None }
    }

    /// The next row; `None` at the end.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn next(&mut self, app: &App, head: &Head) -> Result<Option<Movement>, Problem> {
        loop {
            let limit = self.limit;
            if self.sources.iter().any(|source| source.held.is_empty() && !source.is_done) {
                try_join_all(self.sources.iter_mut().map(|source| source.fill(app, head, limit))).await?;
            }
            let key = |source: &Source| source.held.front().map(Movement::key);
            let newest = self.sources.iter_mut().max_by_key(|source| key(source));
            let Some(row) = newest.and_then(|source| source.held.pop_front()) else { return Ok(None) };
            // A row with two of the sides is in two sources.
            if self.last.replace(row.key()) != Some(row.key()) {
                return Ok(Some(row));
            }
        }
    }
}

/// The transaction, if nothing in its row shows whether code read its data.
fn delivery(row: &TransactionMove) -> Option<Delivery> {
    let shows_code = row.has_receipt == 1 && (row.logs_count > 0 || row.status == Some(0));
    let recipient = row.to_address.filter(|_| !row.input.is_empty() && !shows_code)?;
    Some(Delivery { position: (row.block_number, row.transaction_index), recipient })
}

/// A transaction as a movement. It calls code unless it is among the `plain` transfers.
fn of_transaction(row: TransactionMove, plain: &HashSet<TransactionKey>) -> Movement {
    let calls = !row.input.is_empty() && !plain.contains(&(row.block_number, row.transaction_index));
    let is_known = row.has_receipt == 1 && row.lacking.iter().all(|column| column != "status");
    Movement {
        block_number: row.block_number,
        transaction_index: row.transaction_index,
        transaction_hash: row.hash,
        timestamp: row.block_timestamp,
        from: row.from_address,
        to: row.to_address,
        created: row.contract_address.filter(|_| row.has_receipt == 1),
        value: row.value,
        what: MovementKind::Transaction { status: row.status.filter(|_| is_known), calls },
    }
}

fn of_frame(row: ScannedInternalTransaction) -> Movement {
    Movement {
        block_number: row.block_number,
        transaction_index: row.transaction_index,
        transaction_hash: row.transaction_hash,
        timestamp: row.block_timestamp,
        from: row.from_address,
        to: row.to_address,
        created: row.created_contract,
        value: row.value,
        what: MovementKind::Frame {
            index: row.frame_index,
            creates: row.frame_type == "create",
            moves_coins: !row.value.is_zero() && row.call_type != "callcode",
            is_undone: row.is_undone == 1,
        },
    }
}

fn of_transfer(row: TokenTransferRow) -> Movement {
    Movement {
        block_number: row.block_number,
        transaction_index: row.transaction_index,
        transaction_hash: row.transaction_hash,
        timestamp: row.block_timestamp,
        from: row.from_address,
        to: Some(row.to_address),
        created: None,
        value: row.value,
        what: MovementKind::Transfer {
            log_index: row.log_index,
            batch_index: row.batch_index,
            token: row.token_address,
            standard: row.token_type,
            token_id: row.token_id,
        },
    }
}
