//! Lookups of state that concurrent requests share: 64 clients that each ask for a balance are few statements.

use super::batch_loader::BatchLoader;
use trawl_core::primitives::{Address, B256};
use trawl_evm::{Fact, Point};

/// Most accounts of one statement: they are part of the URL of its request.
pub(crate) const MAX_ACCOUNTS: usize = 500;
/// Most slots of one statement, for the same reason.
pub(crate) const MAX_SLOTS: usize = 300;

/// The lookups of accounts and slots in progress, each after a point.
pub(crate) struct StateLoads {
    /// Those of accounts.
    pub accounts: BatchLoader<Address, Fact, Point>,
    /// Those of slots.
    pub slots: BatchLoader<(Address, B256), Fact, Point>,
}

impl StateLoads {
    /// None in progress.
    pub fn new() -> Self {
        Self { accounts: BatchLoader::of_keys(MAX_ACCOUNTS), slots: BatchLoader::of_keys(MAX_SLOTS) }
    }
}
