//! Contracts and selectors that transactions call, cached by block and position.
//!
//! A height and a generation identify one block, whose transactions never change; settled blocks have generation 0.
//! A place without a transaction is not cached. Memory: 16 MiB at most.

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

    /// The calls of the transactions at some readable places; a place without a transaction is absent.
    ///
    /// # Errors
    ///
    /// When the places that are not cached cannot be read.
    pub async fn calls(
        &self,
        reader: &Reader,
        places: BTreeSet<TransactionKey>,
        head: &Head,
    ) -> Result<HashMap<TransactionKey, TransactionSelector>, StoreError> {
        let key = |place: TransactionKey| Some((head.blocks.generation(place.0)?, place));
        let mut calls = HashMap::new();
        let mut unknown = Vec::new();
        for place in places {
            match key(place).and_then(|key| self.cached.get(&key)) {
                Some(call) => drop(calls.insert(place, call)),
                None => unknown.push(place),
            }
        }
        if unknown.is_empty() {
            return Ok(calls);
        }
        let read = async |places: Vec<TransactionKey>| {
            let places: Vec<(u64, u64)> = places.into_iter().map(|place| (place.0, place.1.into())).collect();
            let blocks = head.blocks.span();
            let mut rows = reader.rows(&trawl_query::transactions::selectors(&places, &blocks)).await?;
            let numbers: BTreeSet<u64> = places.iter().map(|place| place.0).collect();
            for number in numbers {
                let calls = reader.rows(&trawl_query::transactions::newest_inputs(number, &blocks)).await?;
                let is_wanted = |call: &TransactionInput| places.contains(&(number, call.transaction_index.into()));
                rows.extend(calls.into_iter().filter(is_wanted).map(selector));
            }
            Ok(rows.into_iter().map(|call| ((call.block_number, call.transaction_index), call)).collect())
        };
        let found = self.loader.load(head.view, &unknown, read).await?;
        for (place, call) in unknown.into_iter().filter_map(|place| Some((place, found.get(&place)?))) {
            if let Some(key) = key(place) {
                self.cached.insert(key, call.clone());
            }
            calls.insert(place, call.clone());
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
