//! Blocks whose rows the typed hot tables do not have yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use trawl_core::primitives::BlockNumber;
use trawl_core::schema::packed::HotRowsRow;

use super::branch::Branch;

/// A group is written when it has so many blocks, whatever the time.
const MAX_BLOCKS: usize = 512;
/// The same in bytes of packed rows, which are what is held in memory.
const MAX_BYTES: usize = 128 << 20;

/// The blocks of the next group, ascending.
#[derive(Debug, Default)]
pub(super) struct PendingBlocks {
    blocks: VecDeque<HotRowsRow>,
    /// Since when each of them waits.
    since: VecDeque<Instant>,
    bytes: usize,
}

impl PendingBlocks {
    /// Adds blocks above those that are in.
    pub(super) fn push(&mut self, blocks: Vec<HotRowsRow>) {
        self.bytes += blocks.iter().map(|block| block.rows.len()).sum::<usize>();
        self.blocks.extend(blocks);
        self.since.resize(self.blocks.len(), Instant::now());
    }

    /// Drops blocks that are not on the branch: lost, or settled, which no reader looks for in the hot tables.
    pub(super) fn keep(&mut self, branch: &Branch) {
        let is_kept = |block: &HotRowsRow| branch.has(block.block_number, block.generation);
        let mut kept = self.blocks.iter().map(is_kept).collect::<Vec<_>>().into_iter();
        self.since.retain(|_| kept.next().unwrap_or(false));
        self.blocks.retain(is_kept);
        self.bytes = self.blocks.iter().map(|block| block.rows.len()).sum();
    }

    /// Whether a group should be written, so that none of it waits longer than `interval`. Blocks that are settled
    /// before are in no group.
    pub(super) fn is_due(&self, interval: Duration) -> bool {
        let is_full = self.blocks.len() >= MAX_BLOCKS || self.bytes >= MAX_BYTES;
        is_full || self.since.front().is_some_and(|since| since.elapsed() >= interval)
    }

    /// The lowest of the blocks.
    pub(super) fn first(&self) -> Option<BlockNumber> {
        self.blocks.front().map(|block| block.block_number)
    }

    /// The blocks, which stay until [`PendingBlocks::written`].
    pub(super) fn blocks(&mut self) -> &[HotRowsRow] {
        self.blocks.make_contiguous()
    }

    /// All of them are in the tables.
    pub(super) fn written(&mut self) {
        *self = Self::default();
    }
}
