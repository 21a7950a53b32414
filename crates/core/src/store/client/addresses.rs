//! The addresses of one database, and which of them is in use.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::connection::Connection;
use crate::primitives::BlockRange;
use crate::store::StoreAddress;
use crate::store::head::committed::{CommittedRanges, lacking};

/// An address, and when it may be tried again.
pub(crate) struct Endpoint {
    pub address: StoreAddress,
    pub connection: Arc<Connection>,
    not_before: Mutex<Option<Instant>>,
}

impl Endpoint {
    pub fn new(address: &StoreAddress, connection: Connection) -> Self {
        Self { address: address.clone(), connection: Arc::new(connection), not_before: Mutex::new(None) }
    }

    /// Whether its pause after a failure is over.
    pub fn may_be_tried(&self) -> bool {
        self.not_before.lock().unwrap_or_else(PoisonError::into_inner).is_none_or(|time| time <= Instant::now())
    }

    pub fn leave_alone_for(&self, pause: Duration) {
        *self.not_before.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + pause);
    }
}

/// Which address is in use, and how many times another one came into use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InUse {
    pub index: usize,
    pub turn: u64,
}

/// The served state: an address that lacks some of it would give incomplete answers.
#[derive(Clone, Default)]
pub(crate) struct ServedState {
    pub committed: CommittedRanges,
    /// The number of the newest head, if some of its blocks are read from the hot tables.
    pub sequence: Option<u64>,
}

/// What an address lacks of the served state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lag {
    /// Blocks of which something is not committed there.
    pub blocks: u64,
    /// Heads that are not there, of blocks that are not settled.
    pub heads: u64,
}

impl ServedState {
    pub fn lag(&self, committed: &CommittedRanges, sequence: u64) -> Lag {
        let blocks = lacking(&self.committed, committed).ranges().iter().copied().map(BlockRange::count).sum();
        Lag { blocks, heads: self.sequence.map_or(0, |shown| shown.saturating_sub(sequence)) }
    }
}

/// Addresses that hold one database.
pub(crate) struct Addresses {
    pub endpoints: Vec<Endpoint>,
    in_use: watch::Sender<InUse>,
    shown: Mutex<Arc<ServedState>>,
    /// Held during the search for another address.
    pub looking: tokio::sync::Mutex<()>,
}

impl Addresses {
    pub fn new(endpoints: Vec<Endpoint>) -> Self {
        let (in_use, _) = watch::channel(InUse::default());
        Self { endpoints, in_use, shown: Mutex::default(), looking: tokio::sync::Mutex::default() }
    }

    pub fn in_use(&self) -> InUse {
        *self.in_use.borrow()
    }

    /// Waits until another address is in use.
    pub async fn changed(&self, from: InUse) {
        // The sender is here, so this cannot fail.
        let _ = self.in_use.subscribe().wait_for(|now| *now != from).await;
    }

    pub fn shown(&self) -> Arc<ServedState> {
        Arc::clone(&self.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the served state, if `turn` is still the current one.
    pub fn show(&self, turn: u64, shown: ServedState) -> bool {
        let mut before = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = self.in_use().turn == turn;
        if is_current {
            *before = Arc::new(shown);
        }
        is_current
    }

    /// Switches to the address of `index`, which has `checked`; not if more was served meanwhile.
    pub fn turn_to(&self, index: usize, checked: &Arc<ServedState>) -> bool {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let has_all = Arc::ptr_eq(&shown, checked);
        if has_all {
            self.in_use.send_modify(|in_use| *in_use = InUse { index, turn: in_use.turn + 1 });
        }
        has_all
    }
}
