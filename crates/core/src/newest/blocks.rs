//! The newest blocks of one branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::NewestBlock;
use super::index::BlockIndex;
use crate::primitives::{BlockNumber, BlockRange, Coverage, HotRange};

/// Blocks by height.
#[derive(Debug, Default)]
pub struct NewestBlocks {
    blocks: BTreeMap<BlockNumber, Arc<NewestBlock>>,
    index: BlockIndex,
    floor: BlockNumber,
}

impl NewestBlocks {
    /// Blocks of one branch. Blocks below `floor` were left out because they did not fit. The index of those that are
    /// in the view before, `known`, is shared with it.
    #[must_use]
    pub fn new(blocks: BTreeMap<BlockNumber, Arc<NewestBlock>>, floor: BlockNumber, known: &Self) -> Self {
        let index = BlockIndex::of(&blocks, &[&known.index]);
        Self { blocks, index, floor }
    }

    /// The index of the blocks by their values.
    pub(super) fn index(&self) -> &BlockIndex {
        &self.index
    }

    /// Below this height blocks were left out because they did not fit.
    #[must_use]
    pub fn floor(&self) -> BlockNumber {
        self.floor
    }

    /// The blocks of `range` that can be read: those in memory, and those `stored` in the hot tables, which have all
    /// blocks up to that height.
    #[must_use]
    pub fn readable(&self, range: &HotRange, stored: Option<BlockNumber>) -> Vec<HotRange> {
        let generation = range.generation;
        let stored = stored.and_then(|stored| BlockRange::new(0, stored)?.intersection(range.blocks));
        let readable: Coverage = stored.into_iter().chain(self.of(range)).collect();
        readable.ranges().iter().map(|blocks| HotRange { blocks: *blocks, generation }).collect()
    }

    /// The blocks of `range` that are in memory.
    #[must_use]
    pub fn of(&self, range: &HotRange) -> Vec<BlockRange> {
        ranges(self.range(range.blocks).filter(|block| block.generation == range.generation))
    }

    /// A block by its height.
    #[must_use]
    pub fn get(&self, number: BlockNumber) -> Option<&NewestBlock> {
        self.blocks.get(&number).map(Arc::as_ref)
    }

    /// A block to be shared with a later view.
    #[must_use]
    pub fn share(&self, number: BlockNumber, generation: u64) -> Option<Arc<NewestBlock>> {
        self.blocks.get(&number).filter(|block| block.generation == generation).cloned()
    }

    /// Blocks of a range, ascending.
    pub fn range(&self, range: BlockRange) -> impl DoubleEndedIterator<Item = &NewestBlock> {
        self.blocks.range(range.first()..=range.last()).map(|(_, block)| block.as_ref())
    }

    /// From the lowest height to the highest.
    #[must_use]
    pub fn run(&self) -> Option<BlockRange> {
        BlockRange::new(*self.blocks.first_key_value()?.0, *self.blocks.last_key_value()?.0)
    }

    /// The lowest block.
    #[must_use]
    pub fn lowest(&self) -> Option<&NewestBlock> {
        self.blocks.values().next().map(Arc::as_ref)
    }

    /// The blocks right below the lowest, each the parent of the next, as far as the previous view has them `in_memory`
    /// or among its `recent` ones: at most `bytes`.
    #[must_use]
    pub fn below(&self, in_memory: &Self, recent: &Self, bytes: usize) -> Self {
        let (mut below, mut size) = (BTreeMap::new(), 0);
        let mut child = self.lowest();
        while let Some(number) = child.and_then(|child| child.number.checked_sub(1)) {
            let parent = in_memory.blocks.get(&number).or_else(|| recent.blocks.get(&number));
            let Some(parent) = parent.filter(|parent| child.is_some_and(|child| child.parent_hash == parent.hash))
            else {
                break;
            };
            size += parent.size_bytes();
            if size > bytes {
                break;
            }
            below.insert(number, Arc::clone(parent));
            child = Some(parent);
        }
        let index = BlockIndex::of(&below, &[&recent.index, &in_memory.index]);
        Self { blocks: below, index, floor: 0 }
    }

    /// Bytes in memory.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.blocks.values().map(|block| block.size_bytes()).sum()
    }

    /// How many blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// The heights of ascending blocks.
pub(super) fn ranges<'b>(blocks: impl Iterator<Item = &'b NewestBlock>) -> Vec<BlockRange> {
    let mut ranges: Vec<BlockRange> = Vec::new();
    for block in blocks {
        let below = ranges.pop_if(|last| last.last() + 1 == block.number);
        ranges.extend(BlockRange::new(below.map_or(block.number, BlockRange::first), block.number));
    }
    ranges
}
