//! What transactions call, remembered by their places.
//!
//! A height and a generation name one block, whose transactions change no more; settled blocks have generation 0.
//! Nothing is remembered of a place without a transaction. Memory: 16 MiB at most.

use std::collections::{BTreeSet, HashMap};

use moka::sync::Cache;

use super::gather::Gather;
use super::{App, Problem};
use trawl_core::primitives::BlockNumber;
use trawl_core::store::Head;
use trawl_query::transactions::TransactionSelector;

/// Transactions that are remembered: 16 MiB with at most 128 bytes each.
const LIMIT: u64 = (16 << 20) / 128;

/// A height and a position in the block.
pub(super) type Place = (BlockNumber, u32);

/// What is remembered, by generation and place, and what is being asked.
pub(super) struct Called {
    remembered: Cache<(u64, Place), TransactionSelector>,
    asked: Gather<Place, TransactionSelector>,
}

impl Called {
    /// With nothing remembered.
    pub fn new() -> Self {
        Self { remembered: Cache::new(LIMIT), asked: Gather::new() }
    }
}

impl App {
    /// What the transactions at some readable places call.
    pub(super) async fn calls(
        &self,
        places: BTreeSet<Place>,
        head: &Head,
    ) -> Result<HashMap<Place, TransactionSelector>, Problem> {
        let Called { remembered, asked } = self.called();
        let key = |place: Place| Some((head.blocks.generation(place.0)?, place));
        let mut calls = HashMap::new();
        let mut unknown = Vec::new();
        for place in places {
            match key(place).and_then(|key| remembered.get(&key)) {
                Some(call) => drop(calls.insert(place, call)),
                None => unknown.push(place),
            }
        }
        if unknown.is_empty() {
            return Ok(calls);
        }
        let read = async |places: Vec<Place>| {
            let places: Vec<(u64, u64)> = places.into_iter().map(|place| (place.0, place.1.into())).collect();
            let rows = self.reader().rows(&trawl_query::transactions::selectors(&places, &head.blocks.span())).await?;
            Ok(rows.into_iter().map(|call| ((call.block_number, call.transaction_index), call)).collect())
        };
        let found = asked.ask(head.view, &unknown, read).await?;
        for (place, call) in unknown.into_iter().filter_map(|place| Some((place, found.get(&place)?))) {
            if let Some(key) = key(place) {
                remembered.insert(key, call.clone());
            }
            calls.insert(place, call.clone());
        }
        Ok(calls)
    }
}
