//! Blocks whose rows the typed hot tables do not have yet.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use trawl_core::primitives::BlockNumber;
use trawl_core::schema::packed::HotRowsRow;

use super::branch::Branch;

/// A group is written when it has so many blocks, whatever the time.
const MAX_BLOCKS: usize = 512;
/// The same in bytes of packed rows, which are what is held in memory.
const MAX_BYTES: usize = 32 << 20;

/// The blocks of the next group, ascending.
#[derive(Debug, Default)]
pub(super) struct Pending {
    blocks: VecDeque<HotRowsRow>,
    bytes: usize,
    since: Option<Instant>,
}

impl Pending {
    /// Adds blocks above those that are in.
    pub(super) fn push(&mut self, blocks: Vec<HotRowsRow>) {
        self.bytes += blocks.iter().map(|block| block.rows.len()).sum::<usize>();
        self.blocks.extend(blocks);
        self.since = self.since.or_else(|| (!self.blocks.is_empty()).then(Instant::now));
    }

    /// Drops blocks that are not on the branch: lost, or settled, which no reader looks for in the hot tables.
    pub(super) fn keep(&mut self, branch: &Branch) {
        self.blocks.retain(|block| branch.has(block.block_number, block.generation));
        self.bytes = self.blocks.iter().map(|block| block.rows.len()).sum();
        if self.blocks.is_empty() {
            self.since = None;
        }
    }

    /// Whether a group should be written that waits no longer than `interval`.
    pub(super) fn is_due(&self, interval: Duration) -> bool {
        let is_full = self.blocks.len() >= MAX_BLOCKS || self.bytes >= MAX_BYTES;
        is_full || self.since.is_some_and(|since| since.elapsed() >= interval)
    }

    /// The lowest of the blocks.
    pub(super) fn first(&self) -> Option<BlockNumber> {
        self.blocks.front().map(|block| block.block_number)
    }

    /// The blocks, which stay until [`Pending::written`].
    pub(super) fn blocks(&mut self) -> &[HotRowsRow] {
        self.blocks.make_contiguous()
    }

    /// All of them are in the tables.
    pub(super) fn written(&mut self) {
        *self = Self::default();
    }
}
