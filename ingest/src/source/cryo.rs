//! Folders that cryo wrote: blocks, transactions and logs in files of their own, joined block by block.
//!
//! File names state which blocks a file covers, and rows stand in block order, so the three are read side by side: in
//! memory are a few hundred rows of each and the block in hand.

mod cursor;
mod listing;

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};

use super::columns::{self, AssembledBlock, BlockFacts, Cell, PlacedLog};
use super::reading::reading;
use super::{BlockSource, RawBlock, RawBlocks, RawBody, SourceError};
use crate::block::Block;
use crate::source::Total;
use cursor::Cursor;
use listing::Listing;

/// Blocks handed on ahead of the later stages.
const BLOCKS_AHEAD: usize = 8;

/// A folder of cryo files.
pub struct CryoSource {
    folder: PathBuf,
    blocks: Listing,
    transactions: Listing,
    logs: Listing,
    /// The blocks to read, ascending: requested, not committed, with blocks and transactions in the folder.
    ranges: Coverage,
    chain_id: Option<u64>,
}

impl CryoSource {
    /// Finds the blocks of `requested` in `folder` that are not in `committed`.
    pub fn new(
        folder: &Path,
        requested: BlockRange,
        committed: &Coverage,
        chain_id: Option<u64>,
    ) -> Result<Self, SourceError> {
        let [blocks, transactions, logs] =
            ["blocks", "transactions", "logs"].map(|dataset| Listing::of(folder, dataset));
        let (blocks, transactions, logs) = (blocks?, transactions?, logs?);
        if blocks.is_empty() {
            return Err(columns::malformed(folder, "no files of cryo's dataset `blocks` in this folder"));
        }
        let missing: Vec<BlockRange> = committed.missing(requested);
        let there: Coverage = missing.iter().flat_map(|range| blocks.coverage().within(*range)).collect();
        let bare: Coverage = there.ranges().iter().flat_map(|range| transactions.coverage().missing(*range)).collect();
        for range in bare.ranges() {
            let (first, last) = (range.first(), range.last());
            tracing::warn!(first, last, "no transactions files for these blocks; skipping them");
        }
        let ranges: Coverage = there.ranges().iter().flat_map(|range| transactions.coverage().within(*range)).collect();
        let chain_id = chain_id.or(blocks.chain_id()?);
        Ok(Self { folder: folder.into(), blocks, transactions, logs, ranges, chain_id })
    }
}

impl BlockSource for CryoSource {
    fn kind(&self) -> &'static str {
        "cryo"
    }

    fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    fn total(&self) -> Total {
        Total::Blocks(self.ranges.ranges().iter().map(|range| range.count()).sum())
    }

    fn into_blocks(self) -> RawBlocks {
        reading(BLOCKS_AHEAD, move |sender| {
            let mut joining = DatasetJoin::new(&self);
            for number in self.ranges.ranges().iter().flat_map(|range| range.first()..=range.last()) {
                let raw = RawBlock { body: RawBody::Block(Box::new(joining.block(number)?)), position: 0 };
                // A receiver that has gone needs no more.
                if sender.blocking_send(Ok(raw)).is_err() {
                    break;
                }
            }
            Ok(())
        })
        .boxed()
    }
}

/// The three datasets side by side.
struct DatasetJoin<'a> {
    source: &'a CryoSource,
    blocks: Cursor,
    transactions: Cursor,
    logs: Cursor,
    /// Whether a warning of unusable logs was logged.
    warned: bool,
}

impl<'a> DatasetJoin<'a> {
    fn new(source: &'a CryoSource) -> Self {
        let cursor = |listing: &Listing| Cursor::new(listing.files_for(&source.ranges));
        Self {
            source,
            blocks: cursor(&source.blocks),
            transactions: cursor(&source.transactions),
            logs: cursor(&source.logs),
            warned: false,
        }
    }

    /// Reads everything of one block; heights come in ascending order.
    fn block(&mut self, number: BlockNumber) -> Result<Block, SourceError> {
        let chain_id = self.source.chain_id;
        let mut block = None;
        self.blocks.rows_of(number, |row| {
            if block.replace((BlockFacts::read(row)?, same_chain(row.cell(&["chain_id"]), chain_id))).is_some() {
                return Err("a second row of the same block".into());
            }
            Ok(())
        })?;
        let Some((block, of_our_chain)) = block else {
            return Err(self.at(number, "no row for it in a file whose name covers it"));
        };
        if !of_our_chain {
            return Err(self.at(number, "of another chain than the first block"));
        }
        let (mut transactions, mut outcomes) = (Vec::new(), Some(Vec::new()));
        self.transactions.rows_of(number, |row| {
            let (transaction, block_hash) = columns::transaction(row, chain_id)?;
            match (columns::outcome(row, &transaction)?, &mut outcomes) {
                (Some(outcome), Some(all)) => all.push(outcome),
                _ => outcomes = None,
            }
            transactions.push((transaction, block_hash));
            Ok(())
        })?;
        let logs = self.logs(number)?;
        let joined = AssembledBlock { block, transactions, outcomes, logs };
        joined.into_block().map_err(|error| self.at(number, error))
    }

    /// The logs of a block; `None` if the folder does not have them.
    fn logs(&mut self, number: BlockNumber) -> Result<Option<Vec<PlacedLog>>, SourceError> {
        let mut logs = self.source.logs.coverage().contains(number).then(Vec::new);
        self.logs.rows_of(number, |row| {
            match (columns::log(row)?, &mut logs) {
                (Some(log), Some(all)) => all.push(log),
                _ => logs = None,
            }
            Ok(())
        })?;
        if logs.is_none() && !std::mem::replace(&mut self.warned, true) {
            tracing::warn!(block = number, "no logs with all columns from this block on; loading without receipts");
        }
        Ok(logs)
    }

    fn at(&self, number: BlockNumber, cause: impl ToString) -> SourceError {
        columns::malformed(&self.source.folder, format!("block {number}: {}", cause.to_string()))
    }
}

/// Whether a row's chain is the one expected; a row or a source without one is of any.
fn same_chain(cell: Cell<'_>, expected: Option<u64>) -> bool {
    match (cell, expected) {
        (Cell::Number(found), Some(expected)) => found == expected,
        (Cell::Text(found), Some(expected)) => found == expected.to_string(),
        _ => true,
    }
}
