//! Lookups of state that concurrent requests share: 64 clients that each request a balance are few statements.

use std::sync::Arc;

use moka::sync::Cache;

use super::batch_loader::BatchLoader;
use trawl_core::primitives::{Address, B256, BlockNumber, BlockRange};
use trawl_evm::{Fact, WINDOW};
use trawl_query::state::headers::CallHeader;

/// Most accounts of one statement: they are part of the URL of its request.
pub(crate) const MAX_ACCOUNTS: usize = 500;
/// Most slots of one statement, for the same reason.
pub(crate) const MAX_SLOTS: usize = 300;

/// The lookups of accounts, slots and headers in progress.
pub(crate) struct StateLoads {
    /// Those of accounts.
    pub accounts: BatchLoader<Address, Arc<[Fact]>, StateWindow>,
    /// Those of slots.
    pub slots: BatchLoader<(Address, B256), Arc<[Fact]>, StateWindow>,
    /// Those of headers, by groups of settled blocks.
    pub headers: BatchLoader<u64, Arc<[CallHeader]>, ()>,
    /// What lookups found out about histories.
    pub long_histories: LongHistories,
}

impl StateLoads {
    /// None in progress.
    pub fn new() -> Self {
        Self {
            accounts: BatchLoader::of_keys(MAX_ACCOUNTS),
            slots: BatchLoader::of_keys(MAX_SLOTS),
            headers: BatchLoader::new(),
            long_histories: LongHistories(Cache::new(MAX_LONG_HISTORIES)),
        }
    }
}

/// The blocks after which state is read by one statement: those of a window, or one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StateWindow {
    /// The first of them.
    pub first: BlockNumber,
    /// The last of them.
    pub last: BlockNumber,
    /// 0 for settled blocks; else the sequence of the head that named the branch.
    pub branch: u64,
}

impl StateWindow {
    /// The state after one block.
    pub fn of_block(block: BlockNumber, branch: u64) -> Self {
        Self { first: block, last: block, branch }
    }

    /// The window of a settled block, which lies in a range of settled blocks. The newest of these is alone: the blocks
    /// before it are seldom read next.
    pub fn of_settled(block: BlockNumber, settled: BlockRange) -> Self {
        if block == settled.last() {
            return Self::of_block(block, 0);
        }
        let first = block / WINDOW * WINDOW;
        Self { first: first.max(settled.first()), last: (first + WINDOW - 1).min(settled.last()), branch: 0 }
    }

    /// Whether it is of one block.
    pub fn is_one_block(self) -> bool {
        self.first == self.last
    }
}

/// A history of state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum History {
    /// Balances of an account.
    Balance(Address),
    /// Nonces of an account.
    Nonce(Address),
    /// Values of a slot.
    Slot(Address, B256),
}

/// Histories with so many changes that they are read from a recent block on: a pool's reserves change in most blocks.
pub(crate) struct LongHistories(Cache<History, ()>);

/// Most histories that are known to be long: some 20 MB.
const MAX_LONG_HISTORIES: u64 = 100_000;
/// Rows of a long history. So many are read in a few milliseconds.
const LONG: u64 = 4096;
/// How many blocks before a window the histories that are known to be long are read from; those without a change there
/// from further back.
pub(crate) const LOOKBACKS: [BlockNumber; 3] = [WINDOW, 64 * WINDOW, BlockNumber::MAX];

impl LongHistories {
    /// Whether a history is known to be long.
    pub fn contains(&self, history: History) -> bool {
        self.0.contains_key(&history)
    }

    /// Learns how many rows of a history were read.
    pub fn learn(&self, history: History, rows: u64) {
        if rows > LONG {
            self.0.insert(history, ());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_lie_within_settled_blocks() {
        let settled = BlockRange::new(5, 1000).expect("ordered");
        let window = |block| StateWindow::of_settled(block, settled);
        assert_eq!(window(5), StateWindow { first: 5, last: WINDOW - 1, branch: 0 });
        assert_eq!(window(WINDOW - 1), window(5));
        assert_eq!(window(WINDOW), StateWindow { first: WINDOW, last: 2 * WINDOW - 1, branch: 0 });
        assert_eq!(window(999), StateWindow { first: 3 * WINDOW, last: 1000, branch: 0 });
        assert_eq!(window(1000), StateWindow::of_block(1000, 0));
    }
}
