//! The generated chain: every block that its node ever had, on every branch, and when each was its newest.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Instant;

use alloy_primitives::B256;

pub mod block;
mod draft;
mod follower_progress;
mod maker;
mod state;
mod texts;
pub mod world;

use block::{Account, Asset, Block};
use follower_progress::FollowerProgress;
use maker::Maker;
pub use maker::Size;
use world::{ENDOWMENT, World};

/// Blocks whose texts a node still has, beside those that are not final.
const YOUNG: usize = 256;

/// Where a block is among all blocks.
pub type BlockIndex = usize;

/// All blocks of all branches.
#[derive(Default)]
pub struct Model {
    blocks: Vec<Block>,
    by_hash: HashMap<B256, BlockIndex>,
    by_transaction: HashMap<B256, BlockIndex>,
    /// The newest block of the node's chain.
    tip: BlockIndex,
    /// Times at which blocks left the chain.
    reorganisations: Vec<Instant>,
}

/// The chain with what makes it grow.
pub struct Chain {
    /// Accounts and contracts of the chain.
    pub world: Arc<World>,
    /// How far below the newest block one is final; half as far it is safe.
    pub final_after: u64,
    /// Progress of its follower.
    pub follower: FollowerProgress,
    /// Blocks whose texts the node still has.
    young: usize,
    model: RwLock<Model>,
    maker: Mutex<Maker>,
}

/// Blocks that are made and not shown yet.
pub struct Step {
    /// Blocks that they replace.
    depth: usize,
    blocks: Vec<Block>,
}

impl Chain {
    /// With block 0. The node gives the first `blocks` for a while, to be loaded.
    pub fn new(final_after: u64, blocks: usize) -> anyhow::Result<Self> {
        let world = Arc::new(World::new()?);
        let maker = Maker::new(Arc::clone(&world));
        let young = YOUNG + blocks.max(final_after as usize);
        let chain = Self {
            world,
            final_after,
            follower: FollowerProgress::default(),
            young,
            model: RwLock::default(),
            maker: Mutex::new(maker),
        };
        let genesis = chain.maker().make(None, Size { transactions: 0, logs: 0 })?;
        chain.show(Step { depth: 0, blocks: vec![genesis] });
        Ok(chain)
    }

    fn maker(&self) -> MutexGuard<'_, Maker> {
        self.maker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current model.
    pub fn model(&self) -> RwLockReadGuard<'_, Model> {
        self.model.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a block; or so many more than `depth` that they replace as many as that.
    pub fn prepare(&self, depth: usize, size: Size) -> anyhow::Result<Step> {
        let mut maker = self.maker();
        (0..depth).for_each(|_| maker.take_back());
        let (mut parent, next) = {
            let model = self.model();
            (model.above(model.tip, depth), model.blocks.len())
        };
        let mut blocks: Vec<Block> = Vec::new();
        for number in 0..=depth {
            let block = match blocks.last() {
                Some(last) => maker.make(Some((parent, last)), size)?,
                None => maker.make(Some((parent, &self.model().blocks[parent])), size)?,
            };
            blocks.push(block);
            parent = next + number;
        }
        Ok(Step { depth, blocks })
    }

    /// Makes the last of some blocks the newest of the node.
    pub fn show(&self, step: Step) {
        let mut model = self.model.write().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let tip = model.tip;
        if let Some(block) = model.blocks.get_mut(tip) {
            block.left = Some(now);
        }
        if step.depth > 0 {
            model.reorganisations.push(now);
        }
        let last = step.blocks.len() - 1;
        for (number, mut block) in step.blocks.into_iter().enumerate() {
            block.shown = now;
            block.left = (number < last).then_some(now);
            let block_index = model.blocks.len();
            model.by_hash.insert(block.hash, block_index);
            for transaction in &block.transactions {
                model.by_transaction.insert(*transaction, block_index);
            }
            model.blocks.push(block);
            model.tip = block_index;
            if let Some(old) = block_index.checked_sub(self.young) {
                model.blocks[old].texts = None;
            }
        }
    }

    /// Makes and shows `count` blocks.
    pub fn grow(&self, count: usize, size: Size) -> anyhow::Result<()> {
        for _ in 0..count {
            let step = self.prepare(0, size)?;
            self.show(step);
        }
        Ok(())
    }
}

impl Model {
    /// The block at an index of all blocks.
    pub fn at(&self, block_index: BlockIndex) -> &Block {
        &self.blocks[block_index]
    }

    /// The newest block of the node's chain.
    pub fn tip(&self) -> BlockIndex {
        self.tip
    }

    /// How many there are, on all branches.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The block `depth` below one.
    pub fn above(&self, mut block_index: BlockIndex, depth: usize) -> BlockIndex {
        for _ in 0..depth {
            block_index = self.blocks[block_index].parent.unwrap_or(0);
        }
        block_index
    }

    /// The block with a hash.
    pub fn by_hash(&self, hash: &B256) -> Option<BlockIndex> {
        self.by_hash.get(hash).copied()
    }

    /// The block of a transaction.
    pub fn by_transaction(&self, hash: &B256) -> Option<BlockIndex> {
        self.by_transaction.get(hash).copied()
    }

    /// The block at a height of the branch that ends in `tip`.
    pub fn on_branch(&self, tip: BlockIndex, number: u64) -> Option<BlockIndex> {
        let depth = self.at(tip).number.checked_sub(number)?;
        Some(self.above(tip, depth as usize))
    }

    /// The branch from `tip` down.
    pub fn down(&self, tip: BlockIndex) -> impl Iterator<Item = (BlockIndex, &Block)> {
        let block_indices = std::iter::successors(Some(tip), |block_index| self.blocks[*block_index].parent);
        block_indices.map(|block_index| (block_index, &self.blocks[block_index]))
    }

    /// Balance of an account after the block at `tip`.
    pub fn holding(&self, tip: BlockIndex, asset: Asset, account: Account) -> u128 {
        self.down(tip).find_map(|(_, block)| block.holdings.get(&(asset, account)).copied()).unwrap_or(ENDOWMENT)
    }

    /// Whether two blocks can be of one chain.
    pub fn is_one_branch(&self, block_indices: &[BlockIndex]) -> bool {
        let Some(highest) = block_indices.iter().max_by_key(|block_index| self.at(**block_index).number) else {
            return true;
        };
        block_indices
            .iter()
            .all(|block_index| self.on_branch(*highest, self.at(*block_index).number) == Some(*block_index))
    }

    /// Whether blocks left the chain between two times.
    pub fn had_reorganisation(&self, from: Instant, to: Instant) -> bool {
        self.reorganisations.iter().any(|time| (from..=to).contains(time))
    }

    /// Number of reorganisations.
    pub fn reorganisations(&self) -> usize {
        self.reorganisations.len()
    }
}
