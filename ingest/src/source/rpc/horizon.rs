//! The first block from which the nodes have a part: state, or call frames. Most nodes drop those of old blocks.
//!
//! The part is not requested for each block below the horizon: that would cost a refusal by every method and node. It
//! is requested for one of them now and then, so that a new node that has the part is noticed.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use trawl_core::primitives::BlockNumber;
use trawl_node::{Failure, FailureKind};

use super::age::BlockAge;

/// Blocks in a row without a part after which the horizon is searched for.
const MAX_REFUSALS: u32 = 3;
/// How often the part of a block below the horizon is requested all the same.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// A part that the nodes did not have for the last requested block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPart {
    /// `traces` or `state`.
    pub part: &'static str,
    /// Whether it is too old, not offered or too large.
    pub reason: MissingReason,
    /// The error message of the node.
    pub cause: String,
}

/// Why nodes do not have a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingReason {
    /// They have pruned it for such an old block.
    Pruned,
    /// They do not offer it for any block.
    NotOffered,
    /// That of this block is too large, takes too long, or is not of its transactions.
    TooLarge,
}

/// The state of one part.
#[derive(Debug)]
pub(super) struct Horizon {
    part: &'static str,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Blocks in a row of which no node had the part.
    refusals: u32,
    /// The first of them.
    first: BlockNumber,
    missing: Option<MissingPart>,
    /// The part is not requested for blocks below it.
    lowest: Option<BlockNumber>,
    /// When the part of a block below it was last requested.
    last_attempt: Option<Instant>,
    is_searched: bool,
    is_announced: bool,
}

impl Horizon {
    pub fn new(part: &'static str) -> Self {
        Self { part, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the part of a block is worth a call.
    pub fn is_worth(&self, block: BlockNumber, age: BlockAge) -> bool {
        let mut state = self.state();
        if age == BlockAge::New || state.lowest.is_none_or(|lowest| block >= lowest) {
            return true;
        }
        let is_due = state.last_attempt.is_none_or(|attempt| attempt.elapsed() >= RETRY_INTERVAL);
        if is_due {
            state.last_attempt = Some(Instant::now());
        }
        is_due
    }

    /// Whether it is that of a part.
    pub fn is_of(&self, part: &str) -> bool {
        self.part == part
    }

    /// Whether it is known to lie above a block.
    pub fn is_above(&self, block: BlockNumber) -> bool {
        self.state().lowest.is_some_and(|lowest| block < lowest)
    }

    /// The part that is missing now.
    pub fn missing(&self) -> Option<MissingPart> {
        self.state().missing.clone()
    }

    /// Records that a node had the part of a block.
    pub fn had(&self, block: BlockNumber) {
        let mut state = self.state();
        if state.missing.is_some() {
            self.announce(&mut state);
        }
        if state.lowest.is_some_and(|lowest| block < lowest) {
            tracing::info!(block, part = self.part, "nodes have this part again");
            (state.lowest, state.is_announced) = (None, false);
        }
        (state.refusals, state.missing) = (0, None);
    }

    /// No node had the part of a block. Whether it is time to look for the horizon; then [`Horizon::found`] has to
    /// follow.
    pub fn lacked(&self, block: BlockNumber, failure: &Failure) -> bool {
        let reason = match failure.kind() {
            FailureKind::Pruned | FailureKind::UnknownBlock => MissingReason::Pruned,
            FailureKind::Unsupported | FailureKind::Permanent => MissingReason::NotOffered,
            _ => MissingReason::TooLarge,
        };
        let mut state = self.state();
        if state.missing.is_none() {
            state.first = block;
        }
        tracing::debug!(block, part = self.part, cause = failure.cause(), "no node has this part of a block");
        state.missing = Some(MissingPart { part: self.part, reason, cause: failure.cause().into() });
        if reason == MissingReason::TooLarge {
            // Another block may have less of it.
            return false;
        }
        state.refusals += 1;
        let is_known = state.lowest.is_some_and(|lowest| block < lowest);
        let is_due = state.refusals >= MAX_REFUSALS && !is_known && !state.is_searched;
        state.is_searched |= is_due;
        is_due
    }

    /// The lowest block that has the part, `None` if not even the newest has it; or why that is not known.
    pub fn found(&self, lowest: Result<Option<BlockNumber>, String>) {
        let mut state = self.state();
        state.is_searched = false;
        match lowest {
            Ok(lowest) => {
                state.lowest = Some(lowest.unwrap_or(BlockNumber::MAX));
                state.last_attempt = Some(Instant::now());
                self.announce(&mut state);
            }
            Err(cause) => {
                tracing::debug!(part = self.part, cause, "cannot determine from which block on nodes have this part");
            }
        }
    }

    /// Logs at the end of the blocks what is missing, unless that was done.
    pub fn finish(&self) {
        let mut state = self.state();
        if state.missing.is_some() {
            self.announce(&mut state);
        }
    }

    fn announce(&self, state: &mut State) {
        if std::mem::replace(&mut state.is_announced, true) {
            return;
        }
        let cause = state.missing.as_ref().map_or("", |missing| &missing.cause);
        let blocks = match state.lowest {
            Some(BlockNumber::MAX) => format!("from {} on", state.first),
            Some(lowest) => format!("{} to {}", state.first, lowest.saturating_sub(1)),
            None => format!("{}", state.first),
        };
        tracing::warn!(
            part = self.part,
            blocks,
            cause,
            "no node has this part of these blocks: loading them without it, and recording it as missing; \
             `trawl-ingest repair --fill {} --rpc-url URL` with the URL of an archive node fills it in",
            self.part
        );
    }
}

/// Searches for the lowest block that has a part: nodes drop it of the oldest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bisection {
    /// It lacks the part.
    below: BlockNumber,
    /// It has the part, if known.
    above: BlockNumber,
    is_known: bool,
}

impl Bisection {
    /// Between a block without the part and the newest.
    pub fn new(lacking: BlockNumber, newest: BlockNumber) -> Self {
        Self { below: lacking, above: newest.max(lacking), is_known: false }
    }

    /// The next block to probe.
    pub fn next(&self) -> Option<BlockNumber> {
        match self.above - self.below {
            0 => None,
            _ if !self.is_known => Some(self.above),
            1 => None,
            distance => Some(self.below + distance / 2),
        }
    }

    /// Records the result of a probe.
    pub fn note(&mut self, block: BlockNumber, has_part: bool) {
        match has_part {
            true => (self.above, self.is_known) = (block, true),
            false => self.below = block,
        }
    }

    /// The lowest block; `None` if not even the newest has the part.
    pub fn lowest(self) -> Option<BlockNumber> {
        self.is_known.then_some(self.above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pruned() -> Failure {
        Failure::pruned("historical state unavailable")
    }

    #[test]
    fn parts_below_the_horizon_are_requested_now_and_then() {
        let horizon = Horizon::new("state");
        let worth = |block| horizon.is_worth(block, BlockAge::Final);
        assert!(worth(0) && !horizon.lacked(0, &pruned()) && !horizon.lacked(1, &pruned()));
        assert!(horizon.lacked(2, &pruned()) && !horizon.lacked(3, &pruned()), "one looks for it");
        horizon.found(Ok(Some(100)));
        assert!(!worth(4) && !worth(99) && worth(100) && horizon.is_worth(5, BlockAge::New));
        assert_eq!(horizon.missing().map(|missing| missing.reason), Some(MissingReason::Pruned));
        horizon.state().last_attempt = Instant::now().checked_sub(RETRY_INTERVAL);
        assert!(worth(5) && !worth(6), "one of them now and then");
        horizon.had(5);
        assert!(worth(6) && horizon.missing().is_none());
    }

    #[test]
    fn single_blocks_without_a_part_are_no_horizon() {
        let horizon = Horizon::new("traces");
        for block in 0..100 {
            assert!(
                !horizon.lacked(2 * block, &pruned()) && !horizon.lacked(2 * block + 1, &Failure::too_large("much"))
            );
            horizon.had(2 * block + 2);
        }
        assert!(horizon.is_worth(7, BlockAge::Final));
    }

    #[test]
    fn the_horizon_is_found_with_few_looks() {
        let look = |lacking, newest, has: &dyn Fn(u64) -> bool| {
            let (mut bisection, mut looks) = (Bisection::new(lacking, newest), 0);
            while let Some(block) = bisection.next() {
                bisection.note(block, has(block));
                looks += 1;
            }
            assert!(looks <= 15, "{looks} looks");
            bisection.lowest()
        };
        for lowest in [4_u64, 5, 77, 9_999, 10_000] {
            assert_eq!(look(3, 10_000, &|block| block >= lowest), Some(lowest));
        }
        assert_eq!(look(3, 10_000, &|_| false), None);
        assert_eq!((look(3, 3, &|_| true), look(9, 3, &|_| true)), (None, None));
    }
}
