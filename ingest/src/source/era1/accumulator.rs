//! The root over an era: the SSZ hash tree root of a list of up to 8192 header records, each a block hash and a total
//! difficulty. <https://github.com/ethereum/consensus-specs/blob/dev/ssz/simple-serialize.md#merkleization>

use sha2::{Digest, Sha256};
use trawl_core::primitives::{B256, U256};

/// Depth of the tree over 8192 records.
const DEPTH: usize = 13;

/// Collects the records of an era.
#[derive(Default)]
pub struct Accumulator {
    records: Vec<[u8; 32]>,
}

impl Accumulator {
    /// Adds the record of the next block; an era has 8192.
    pub fn push(&mut self, hash: B256, total_difficulty: U256) {
        self.records.push(pair(&hash.0, &total_difficulty.to_le_bytes()));
    }

    /// The root over what was added.
    pub fn root(&self) -> B256 {
        let mut level = self.records.clone();
        // What a subtree without records hashes to, at each level.
        let mut empty = [0; 32];
        for _ in 0..DEPTH {
            if level.len() % 2 == 1 {
                level.push(empty);
            }
            level = level.chunks_exact(2).map(|both| pair(&both[0], &both[1])).collect();
            empty = pair(&empty, &empty);
        }
        let root = level.first().copied().unwrap_or(empty);
        let mut length = [0; 32];
        length[..8].copy_from_slice(&(self.records.len() as u64).to_le_bytes());
        B256::from(pair(&root, &length))
    }
}

fn pair(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}
