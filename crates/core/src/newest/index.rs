//! Which of the newest blocks can have a row with an address or a hash.
//!
//! The heights are cut into runs of 64 blocks, which never change once they are full; what is left below the head is
//! runs of 32, 16, 8, 4, 2 and 1. A new view of the chain makes the few runs that changed and shares the others with
//! the view before.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::NewestBlock;
use crate::primitives::{BlockNumber, BlockRange};

/// Blocks of a full run: as many as a word has bits.
const RUN_BLOCKS: u64 = 64;

/// Runs, ascending; every block is in one of them.
#[derive(Debug, Default)]
pub(super) struct BlockIndex(Vec<Arc<IndexRun>>);

/// What some blocks, one above another, have.
#[derive(Debug)]
pub(super) struct IndexRun {
    heights: BlockRange,
    /// Which writing of each height it is; none where there was no block.
    generations: Box<[Option<u64>]>,
    /// Ascending; a key is there once for each block that has it.
    keys: Box<[u32]>,
    /// For each key which of the blocks that is, counted from the lowest height.
    offsets: Box<[u8]>,
}

impl BlockIndex {
    /// The index of `blocks`. Runs of `known` are shared where they have the same blocks.
    pub fn of(blocks: &BTreeMap<BlockNumber, Arc<NewestBlock>>, known: &[&Self]) -> Self {
        let mut runs = Vec::new();
        let Some((highest, _)) = blocks.last_key_value() else { return Self(runs) };
        let mut next = Some(0);
        while let Some((number, _)) = next.and_then(|next| blocks.range(next..).next()) {
            let first = next.unwrap_or(0).max(number - number % RUN_BLOCKS);
            let Some(heights) = run_at(first, *highest) else { break };
            if heights.last() < *number {
                next = Some(heights.last() + 1);
                continue;
            }
            let shared = known.iter().find_map(|known| known.shared(heights, blocks));
            let run = shared.unwrap_or_else(|| Arc::new(IndexRun::of(heights, blocks)));
            next = run.heights.last().checked_add(1);
            runs.push(run);
        }
        Self(runs)
    }

    /// A run that has the blocks at these heights, and maybe more of what was above or below.
    fn shared(&self, heights: BlockRange, blocks: &BTreeMap<BlockNumber, Arc<NewestBlock>>) -> Option<Arc<IndexRun>> {
        let offset = self.0.binary_search_by_key(&heights.first(), |run| run.heights.first()).ok()?;
        let run = &self.0[offset];
        (run.heights.last() >= heights.last() && run.has(blocks)).then(|| Arc::clone(run))
    }

    /// How many runs are not shared with another index.
    #[cfg(test)]
    pub fn not_of(&self, other: &Self) -> usize {
        let is_shared = |run: &&Arc<IndexRun>| other.0.iter().any(|other| Arc::ptr_eq(run, other));
        self.0.len() - self.0.iter().filter(is_shared).count()
    }

    /// The runs with some of these heights, ascending.
    pub fn within(&self, heights: BlockRange) -> &[Arc<IndexRun>] {
        let first = self.0.partition_point(|run| run.heights.last() < heights.first());
        let end = self.0.partition_point(|run| run.heights.first() <= heights.last());
        &self.0[first..end.max(first)]
    }
}

/// The heights of the run that begins at `first`: the longest whose blocks are all there, up to the highest.
fn run_at(first: BlockNumber, highest: BlockNumber) -> Option<BlockRange> {
    let to_multiple = RUN_BLOCKS - first % RUN_BLOCKS;
    let count = (highest - first).saturating_add(1).min(to_multiple);
    // Of the blocks that are left, the highest power of two.
    let count = 1 << count.ilog2();
    BlockRange::new(first, first + (count - 1))
}

impl IndexRun {
    fn of(heights: BlockRange, blocks: &BTreeMap<BlockNumber, Arc<NewestBlock>>) -> Self {
        let mut generations = vec![None; usize::try_from(heights.count()).unwrap_or_default()];
        let mut entries: Vec<u64> = Vec::new();
        for (number, block) in blocks.range(heights.first()..=heights.last()) {
            let offset = number - heights.first();
            generations[offset as usize] = Some(block.generation);
            entries.extend(block.keys().into_iter().map(|key| u64::from(key) << 6 | offset));
        }
        entries.sort_unstable();
        let keys = entries.iter().map(|entry| u32::try_from(entry >> 6).unwrap_or_default()).collect();
        let offsets = entries.iter().map(|entry| (entry % RUN_BLOCKS) as u8).collect();
        Self { heights, generations: generations.into(), keys, offsets }
    }

    /// Whether all of `blocks` at its heights are those it was made of.
    fn has(&self, blocks: &BTreeMap<BlockNumber, Arc<NewestBlock>>) -> bool {
        blocks.range(self.heights.first()..=self.heights.last()).all(|(number, block)| {
            let offset = number - self.heights.first();
            self.generations[offset as usize] == Some(block.generation)
        })
    }

    /// The lowest height.
    pub fn first(&self) -> BlockNumber {
        self.heights.first()
    }

    /// The blocks that may have a key: bit 0 is the lowest height.
    pub fn having(&self, key: u32) -> u64 {
        let first = self.keys.partition_point(|own| *own < key);
        let entries = self.keys[first..].iter().zip(&self.offsets[first..]);
        entries.take_while(|(own, _)| **own == key).fold(0, |offsets, (_, offset)| offsets | 1 << offset)
    }

    /// The blocks within ascending ranges, in the same way.
    pub fn within(&self, ranges: &[BlockRange]) -> u64 {
        let from = ranges.partition_point(|range| range.last() < self.heights.first());
        let parts = ranges[from..].iter().map_while(|range| range.intersection(self.heights));
        parts.fold(0, |offsets, part| offsets | bits(part.first() - self.heights.first(), part.count()))
    }
}

/// So many bits from one on; at least one, at most all.
fn bits(from: u64, count: u64) -> u64 {
    u64::MAX >> (RUN_BLOCKS - count) << from
}
