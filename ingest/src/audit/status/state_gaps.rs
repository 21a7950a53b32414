//! Why state ends where it ends, as far as the ledger of commits tells.

use serde::Serialize;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;

/// A block whose changes of state are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StateGap {
    /// The lowest such block for this reason.
    pub block: BlockNumber,
    /// What was missing when it was loaded.
    pub reason: GapReason,
}

/// What was not there when a block was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The block itself.
    Block,
    /// The accounts of block 0, which no node tells.
    Genesis,
    /// Call frames and changes of state: the node had neither for this block, or both were turned off.
    Traces,
    /// Changes of state, where call frames are there.
    StateChanges,
    /// What the block changes outside of its transactions.
    BlockChanges,
}

impl StateGap {
    /// Why state is not answered up to the head: the reason of block 0, and that of the lowest block above it. What is
    /// not loaded is one reason for all.
    pub(super) fn all(head: &Head) -> Vec<Self> {
        let Some(number) = head.number() else { return Vec::new() };
        let lowest = |first| {
            let missing = head.known_state.missing(BlockRange::new(first, number)?);
            Some(missing.first()?.first())
        };
        let blocks = [lowest(0).filter(|block| *block == 0), lowest(1)];
        let gap = |block| Self { block, reason: GapReason::of(head, block) };
        let mut gaps: Vec<Self> = blocks.into_iter().flatten().map(gap).collect();
        if gaps.first().is_some_and(|gap| gap.reason == GapReason::Block) {
            gaps.truncate(1);
        }
        gaps
    }

    /// For a person, with what to do.
    pub(super) fn text(self) -> String {
        let Self { block, reason } = self;
        match reason {
            GapReason::Block => format!("block {block} is not loaded"),
            GapReason::Genesis => format!("block {block} was loaded without its accounts (--genesis FILE)"),
            GapReason::Traces => format!(
                "block {block} has neither call frames nor changes of state (a node with traces, and `trawl-ingest \
                 repair --fill traces,state`)"
            ),
            GapReason::StateChanges => format!(
                "block {block} has no changes of state (a node with prestateTracer or trace_replayBlockTransactions, \
                 and `trawl-ingest repair --fill state`)"
            ),
            GapReason::BlockChanges => format!(
                "of block {block} only what its transactions changed is known (rewards, withdrawals or the rules of \
                 the chain are not)"
            ),
        }
    }
}

impl GapReason {
    fn of(head: &Head, block: BlockNumber) -> Self {
        let range = BlockRange::single(block);
        let is_loaded = head.blocks.missing(range).is_empty();
        let has_transactions = head.state_transactions.missing(range).is_empty();
        let has_traces = head.traces.missing(range).is_empty();
        match block {
            _ if !is_loaded => Self::Block,
            0 => Self::Genesis,
            _ if has_transactions => Self::BlockChanges,
            _ if has_traces => Self::StateChanges,
            _ => Self::Traces,
        }
    }
}
