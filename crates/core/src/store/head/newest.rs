//! Reads the packed rows of the newest blocks, each once.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::newest::{NewestBlock, NewestBlocks};
use crate::primitives::{BlockNumber, BlockRange, HotRange};
use crate::schema::PackedBlock;
use crate::schema::packed::{HotRowsRow, unpack};
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

/// A packed block is large, so few of them make a batch.
const SETTINGS: &[(&str, &str)] = &[("max_threads", "1"), ("max_block_size", "16")];

/// The blocks of `ranges` (one branch) in memory: those of `known` that are still of it, those that the head `carried`,
/// and the others from the database.
///
/// At most `bytes` of them are cached: beyond that the lowest are left out, if they are `stored` in the hot tables,
/// which have all blocks up to that height.
pub(crate) async fn read_newest(
    reader: &Reader,
    known: Option<&Arc<NewestBlocks>>,
    carried: Vec<PackedBlock>,
    ranges: &[HotRange],
    stored: Option<BlockNumber>,
    bytes: u64,
) -> Result<Arc<NewestBlocks>, StoreError> {
    let none = Arc::default();
    let known = known.unwrap_or(&none);
    let mut blocks = BTreeMap::new();
    let carried = carried.into_iter().map(|block| ((block.block_number, block.generation), block));
    let mut carried: HashMap<_, PackedBlock> = carried.collect();
    let mut unknown: Vec<HotRange> = Vec::new();
    // Blocks that did not fit are not read again while the chain grows.
    let left_out = |number: BlockNumber| number < known.floor() && stored.is_some_and(|stored| number <= stored);
    for range in ranges {
        for number in range.blocks.first()..=range.blocks.last() {
            match known.share(number, range.generation) {
                Some(block) => drop(blocks.insert(number, block)),
                None if left_out(number) => {}
                None => match carried.remove(&(number, range.generation)) {
                    Some(packed) => drop(blocks.insert(number, block(number, range.generation, &packed.rows)?)),
                    None => join(&mut unknown, number, range.generation),
                },
            }
        }
    }
    let mut cached = CachedBlocks {
        size: blocks.values().map(|block| block.size_bytes() as u64).sum(),
        blocks,
        floor: known.floor(),
    };
    if !unknown.is_empty() {
        let (lowest, highest) = generations(&unknown);
        let mut statement = Statement::<HotRowsRow>::page(include_str!("../../../../../sql/queries/packed_blocks.sql"))
            .with("first", unknown.iter().map(|range| range.blocks.first()).min().unwrap_or(0))
            .with("lowest", lowest)
            .with("highest", highest)
            .with("generations", unknown.as_slice());
        statement.settings = SETTINGS;
        let mut rows = reader.stream(&statement).await?;
        while let Some(batch) = rows.next().await? {
            for row in batch.rows() {
                cached.add(block(row.block_number, row.generation, &row.rows)?);
            }
            cached.shrink(stored, bytes);
        }
    }
    cached.shrink(stored, bytes);
    if cached.floor > known.floor() && known.floor() == 0 {
        tracing::warn!(
            below = cached.floor,
            bytes,
            "the newest blocks do not fit in --hot-memory: the oldest of them are read from the hot tables, which is slow"
        );
    }
    Ok(Arc::new(NewestBlocks::new(cached.blocks, cached.floor, known)))
}

/// A block from its packed rows.
fn block(number: BlockNumber, generation: u64, rows: &[u8]) -> Result<Arc<NewestBlock>, StoreError> {
    NewestBlock::new(number, generation, unpack(rows)?).map(Arc::new).map_err(StoreError::Newest)
}

/// Cached blocks, with their bytes.
struct CachedBlocks {
    blocks: BTreeMap<BlockNumber, Arc<NewestBlock>>,
    size: u64,
    floor: BlockNumber,
}

impl CachedBlocks {
    fn add(&mut self, block: Arc<NewestBlock>) {
        self.size += block.size_bytes() as u64;
        if let Some(other) = self.blocks.insert(block.number, block) {
            self.size -= other.size_bytes() as u64;
        }
    }

    /// Evicts the lowest blocks until the others fit, as far as they are stored elsewhere.
    fn shrink(&mut self, stored: Option<BlockNumber>, bytes: u64) {
        while self.size > bytes
            && let Some(lowest) = self.blocks.first_entry()
            && stored.is_some_and(|stored| *lowest.key() <= stored)
        {
            self.floor = *lowest.key() + 1;
            self.size -= lowest.remove().size_bytes() as u64;
        }
    }
}

/// Adds a block to ranges.
fn join(ranges: &mut Vec<HotRange>, number: BlockNumber, generation: u64) {
    let follows = |last: &&mut HotRange| last.generation == generation && last.blocks.last() + 1 == number;
    let first = ranges.pop_if(|last| follows(&last)).map_or(number, |last| last.blocks.first());
    ranges.extend(BlockRange::new(first, number).map(|blocks| HotRange { blocks, generation }));
}

fn generations(ranges: &[HotRange]) -> (u64, u64) {
    let all = || ranges.iter().map(|range| range.generation);
    (all().min().unwrap_or(0), all().max().unwrap_or(0))
}
