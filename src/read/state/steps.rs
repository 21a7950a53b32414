//! A value that changes from block to block, as facts that follow each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cache::state_loads::StateWindow;
use trawl_core::primitives::BlockNumber;
use trawl_evm::{Fact, StateValue};

/// The values after the blocks of a window: the first one holds from `since` on, and each of `changes`, above the first
/// block of the window, from its block on.
pub(super) fn facts(
    window: StateWindow,
    since: BlockNumber,
    first: StateValue,
    changes: BTreeMap<BlockNumber, StateValue>,
) -> Arc<[Fact]> {
    let mut facts = vec![Fact { since, until: window.last, branch: window.branch, value: first }];
    for (block, value) in changes {
        if let Some(before) = facts.last_mut() {
            before.until = block - 1;
        }
        facts.push(Fact { since: block, until: window.last, branch: window.branch, value });
    }
    facts.into()
}

/// The last value of a history up to a block, and the block since when it holds.
pub(super) fn last_up_to<V: Copy>(changes: &BTreeMap<BlockNumber, V>, block: BlockNumber) -> Option<(BlockNumber, V)> {
    changes.range(..=block).next_back().map(|(since, value)| (*since, *value))
}

/// The blocks of a history above a block.
pub(super) fn above<V>(changes: &BTreeMap<BlockNumber, V>, block: BlockNumber) -> impl Iterator<Item = BlockNumber> {
    changes.keys().copied().skip_while(move |change| *change <= block)
}
