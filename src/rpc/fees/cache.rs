//! Caches of fee estimates, which are valid until the head changes, and of fee histories, which never change.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use super::settled::SettledRows;
use crate::read::blocks::fee_rule::FeeRule;
use trawl_core::primitives::{BlockRange, U256};
use trawl_core::store::Head;
use trawl_query::stats::fees::{BlockFees, GasPrice};

/// Most bytes of cached histories.
const MAX_BYTES: usize = 16 << 20;

/// The estimate for the newest head, and histories.
#[derive(Default)]
pub(crate) struct FeeCache {
    pub newest: AsyncMutex<Option<(Arc<Head>, Arc<Estimate>)>>,
    pub histories: Histories,
    pub headers: SettledRows<BlockFees>,
    pub prices: SettledRows<GasPrice>,
}

/// Gas prices after one block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate {
    /// The header of the newest block.
    pub newest: BlockFees,
    pub rule: FeeRule,
    /// Wei per gas; `None` where receipts are not readable.
    pub tip: Option<U256>,
}

/// The key of a history. Height and generation identify its last block, and with it all blocks below.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub range: BlockRange,
    pub generation: Option<u64>,
    pub percentiles: Vec<f64>,
    pub chain_id: Option<u64>,
    /// Whether a genesis file says what the chain's rules are.
    pub has_rules: bool,
    /// Whether the block above is readable, whose fee is otherwise only likely.
    pub is_followed: bool,
}

type Slot = Arc<OnceCell<Vec<u8>>>;

/// Recent histories, so that equal requests share one read. At most 16 MiB.
#[derive(Default)]
pub(crate) struct Histories(Mutex<VecDeque<(Key, Slot)>>);

impl Histories {
    /// The slot of a history, which is empty until its first request is answered.
    pub fn slot(&self, key: Key) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| *known == key) {
            return Arc::clone(slot);
        }
        let size = |(_, slot): &(Key, Slot)| slot.get().map_or(1024, Vec::len);
        while slots.iter().map(size).sum::<usize>() > MAX_BYTES {
            slots.pop_front();
        }
        let slot = Slot::default();
        slots.push_back((key, Arc::clone(&slot)));
        slot
    }
}
