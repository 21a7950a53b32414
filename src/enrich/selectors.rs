//! Contracts and selectors that transactions call, cached by block and position.
//!
//! A height and a generation identify one block, whose transactions never change; settled blocks have generation 0.
//! A position without a transaction is not cached. Memory: 16 MiB at most.

use std::collections::{BTreeSet, HashMap};

use moka::sync::Cache;

use crate::cache::batch_loader::BatchLoader;
use trawl_core::primitives::BlockNumber;
use trawl_core::store::{Head, Reader, StoreError};
use trawl_query::transactions::{TransactionInput, TransactionSelector};

/// Most cached transactions: 16 MiB with at most 128 bytes each.
const MAX_ENTRIES: u64 = (16 << 20) / 128;

/// A height and a position in the block.
pub(crate) type TransactionKey = (BlockNumber, u32);

/// Calls of transactions by generation, block and position.
pub(crate) struct SelectorCache {
    cached: Cache<(u64, TransactionKey), TransactionSelector>,
    loader: BatchLoader<TransactionKey, TransactionSelector>,
}

impl SelectorCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self { cached: Cache::new(MAX_ENTRIES), loader: BatchLoader::new() }
    }

    /// The calls of the transactions at some readable positions; a position without a transaction is absent.
    ///
    /// # Errors
    ///
    /// When the positions that are not cached cannot be read.
    pub async fn calls(
        &self,
        reader: &Reader,
        positions: BTreeSet<TransactionKey>,
        head: &Head,
    ) -> Result<HashMap<TransactionKey, TransactionSelector>, StoreError> {
        let key = |position: TransactionKey| Some((head.blocks.generation(position.0)?, position));
        let mut calls = HashMap::new();
        let mut unknown = Vec::new();
        for position in positions {
            match key(position).and_then(|key| self.cached.get(&key)) {
                Some(call) => drop(calls.insert(position, call)),
                None => unknown.push(position),
            }
        }
        if unknown.is_empty() {
            return Ok(calls);
        }
        let read = async |positions: Vec<TransactionKey>| {
            let positions: Vec<(u64, u64)> =
                positions.into_iter().map(|position| (position.0, position.1.into())).collect();
            let blocks = head.blocks.span();
            let mut rows = reader.rows(&trawl_query::transactions::selectors(&positions, &blocks)).await?;
            let numbers: BTreeSet<u64> = positions.iter().map(|position| position.0).collect();
            for number in numbers {
                let calls = reader.rows(&trawl_query::transactions::newest_inputs(number, &blocks)).await?;
                let is_at_position =
                    |call: &TransactionInput| positions.contains(&(number, call.transaction_index.into()));
                rows.extend(calls.into_iter().filter(is_at_position).map(selector));
            }
            Ok(rows.into_iter().map(|call| ((call.block_number, call.transaction_index), call)).collect())
        };
        let found = self.loader.load(head.view, &unknown, read).await?;
        for (position, call) in unknown.into_iter().filter_map(|position| Some((position, found.get(&position)?))) {
            if let Some(key) = key(position) {
                self.cached.insert(key, call.clone());
            }
            calls.insert(position, call.clone());
        }
        Ok(calls)
    }
}

fn selector(call: TransactionInput) -> TransactionSelector {
    TransactionSelector {
        block_number: call.block_number,
        transaction_index: call.transaction_index,
        selector: call.input.slice(..call.input.len().min(4)),
        to_address: call.to_address,
    }
}
