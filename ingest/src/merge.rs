//! Merges parts of settled tables: a page that reads one part costs less than half of one that reads eight.
//!
//! ClickHouse merges on its own, but leaves several parts of each size. What is decided here is only whether a table is
//! worth another merge; which of its parts are merged is left to ClickHouse, so it is worked out beforehand which it
//! would take: among small parts it takes many, and with them a large one. A merge changes no row, so it may be cut
//! short at any moment, and what is not merged costs time, never answers.

use std::collections::BTreeMap;

use trawl_core::store::{Reader, StoreError, TablePart, Writer};

mod after_load;
mod policy;
mod selection;
mod when_idle;

pub use after_load::{MergeOutcome, merge_after_load};
use policy::Policy;
pub use selection::selection;
pub use when_idle::MergeTask;

/// The tables that are worth a merge, smallest first, with their parts.
async fn mergeable(reader: &Reader, policy: &Policy) -> Result<Vec<(String, usize)>, StoreError> {
    let mut tables: BTreeMap<String, BTreeMap<u32, Vec<u64>>> = BTreeMap::new();
    for TablePart { name, shard, bytes } in reader.settled_parts().await? {
        tables.entry(name).or_default().entry(shard).or_default().push(bytes);
    }
    let mut worth: Vec<(u64, String, usize)> = tables
        .into_iter()
        .filter(|(_, shards)| shards.values().any(|sizes| policy.is_worth(sizes)))
        .map(|(name, shards)| (shards.values().flatten().sum(), name, shards.values().map(Vec::len).sum()))
        .collect();
    worth.sort_unstable();
    Ok(worth.into_iter().map(|(_, name, parts)| (name, parts)).collect())
}

/// Merges some parts of a table once.
async fn merge_once(writer: &Writer, table: &str) -> Result<(), StoreError> {
    writer.merge_some(table).await
}
