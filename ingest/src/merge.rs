//! Merges parts of settled tables: a page that reads one part costs less than half of one that reads eight.
//!
//! ClickHouse merges on its own, but leaves several parts of each size. What is decided here is only whether a table is
//! worth another merge; which of its parts are merged is left to ClickHouse, which takes the cheapest ones first. A
//! merge changes no row, so it may be cut short at any moment, and what is not merged costs time, never answers.

use std::collections::BTreeMap;

use trawl_core::store::{Reader, StoreError, TablePart, Writer};

mod after_load;
mod policy;
mod when_idle;

pub use after_load::{MergeOutcome, merge_after_load};
use policy::Policy;
pub use when_idle::MergeTask;

/// The tables that are worth a merge, smallest first, with their parts.
async fn mergeable(reader: &Reader, policy: &Policy) -> Result<Vec<(String, usize)>, StoreError> {
    let mut tables: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for TablePart { name, bytes } in reader.settled_parts().await? {
        tables.entry(name).or_default().push(bytes);
    }
    let mut worth: Vec<(u64, String, usize)> = tables
        .into_iter()
        .filter(|(_, sizes)| policy.is_worth(sizes))
        .map(|(name, sizes)| (sizes.iter().sum(), name, sizes.len()))
        .collect();
    worth.sort_unstable();
    Ok(worth.into_iter().map(|(_, name, parts)| (name, parts)).collect())
}

/// Merges some parts of a table once.
async fn merge_once(writer: &Writer, table: &str) -> Result<(), StoreError> {
    writer.merge_some(table).await
}
