//! Progress of the attempts at one block: its answers, and how often answers did not belong together.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use trawl_node::Failure;

use super::age::BlockAge;
use crate::decode::{BlockParts, BlockPeek};

/// How often pieces that do not belong together are requested, before they are handed on as they are, to be refused by
/// name.
const MAX_DISAGREEMENTS: u32 = 4;
/// How often a part may exceed the timeout, before the block is taken without it.
const MAX_SLOW_ANSWERS: u32 = 3;

/// State that the attempts at one block share.
#[derive(Debug)]
pub(super) struct Progress {
    age: BlockAge,
    /// The block and its receipts.
    pending: Mutex<Option<(BlockParts, BlockPeek)>>,
    disagreements: AtomicU32,
    slow: AtomicU32,
}

impl Progress {
    pub fn new(age: BlockAge) -> Self {
        Self { age, pending: Mutex::default(), disagreements: AtomicU32::new(0), slow: AtomicU32::new(0) }
    }

    /// Whether the block can still be replaced.
    pub fn age(&self) -> BlockAge {
        self.age
    }

    fn pending(&self) -> MutexGuard<'_, Option<(BlockParts, BlockPeek)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a block for the attempts at its traces.
    pub fn keep(&self, parts: BlockParts, peek: BlockPeek) {
        *self.pending() = Some((parts, peek));
    }

    /// The peek of the pending block.
    pub fn peek(&self) -> Option<BlockPeek> {
        self.pending().as_ref().map(|(_, peek)| peek.clone())
    }

    /// Takes the pending block.
    pub fn take(&self) -> Option<(BlockParts, BlockPeek)> {
        self.pending().take()
    }

    /// Counts pieces that do not belong together; `None` if that was once too often.
    pub fn disagreement(&self) -> Option<u32> {
        let count = self.disagreements.fetch_add(1, Ordering::Relaxed) + 1;
        (count < MAX_DISAGREEMENTS).then_some(count)
    }

    /// Drops the pending block after disagreement `count`.
    pub fn start_again(&self, cause: &str, count: u32) -> Failure {
        self.take();
        Failure::inconsistent(cause, count)
    }

    /// Drops the block that is pending: the chain has another block there by now.
    pub fn replaced(&self) -> Failure {
        let cause = "its chain has another block there by now";
        match self.disagreement() {
            Some(_) => {
                self.take();
                Failure::not_ready(cause)
            }
            None => Failure::unsupported(cause),
        }
    }

    /// The failure; a timeout that comes once too often becomes one that is not retried.
    pub fn heed(&self, failure: Failure) -> Failure {
        let is_last = failure.is_timeout() && self.slow.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_SLOW_ANSWERS;
        if is_last { Failure::too_large(failure.cause()) } else { failure }
    }
}
