//! Answers about fees that hold until the head changes, and histories that cannot change.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use super::rule::FeeRule;
use trawl_core::primitives::{BlockRange, U256};
use trawl_core::store::Head;
use trawl_query::fees::BlockFees;

/// Most bytes of answers that are kept.
const MAX_KEPT: usize = 16 << 20;

/// What was computed for the newest head, and histories that cannot change.
#[derive(Default)]
pub(crate) struct FeeCache {
    pub newest: AsyncMutex<Option<(Arc<Head>, Arc<Estimate>)>>,
    pub histories: Histories,
}

/// What gas costs behind one block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate {
    /// The header of the newest block.
    pub newest: BlockFees,
    pub rule: FeeRule,
    /// Wei per gas; `None` if no transaction tells.
    pub tip: Option<U256>,
}

/// What one history is about. A block is named by height and generation; with it goes all that is below.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub range: BlockRange,
    pub generation: Option<u64>,
    pub percentiles: Vec<f64>,
    pub chain_id: Option<u64>,
}

type Kept = Arc<OnceCell<Vec<u8>>>;

/// Answers of late, so that all who ask the same cause one read. At most 16 MiB.
#[derive(Default)]
pub(crate) struct Histories(Mutex<VecDeque<(Key, Kept)>>);

impl Histories {
    /// The place of an answer, which is empty unless it was asked for before.
    pub fn place(&self, key: Key) -> Kept {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, place)) = kept.iter().find(|(known, _)| *known == key) {
            return Arc::clone(place);
        }
        let size = |(_, place): &(Key, Kept)| place.get().map_or(1024, Vec::len);
        while kept.iter().map(size).sum::<usize>() > MAX_KEPT {
            kept.pop_front();
        }
        let place = Kept::default();
        kept.push_back((key, Arc::clone(&place)));
        place
    }
}
