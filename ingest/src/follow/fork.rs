//! Where the chain of a node leaves the branch.

use trawl_core::primitives::{BlockNumber, BlockRange};

use super::branch::{Base, Branch};
use super::error::FollowError;
use crate::decode::HeaderPeek;
use crate::source::rpc::{self, HeadTags};
use trawl_node::NodeClient;

/// Headers compared at once on the way down to a fork.
const LOOK_BACK_BLOCKS: u64 = 15;
/// How often in a row a node must contradict what is settled before it is believed: one URL may be a balancer with
/// several nodes.
const MAX_CONTRADICTIONS: u32 = 3;

/// Where the node's chain leaves the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fork {
    /// Above this block, which both have; `None` if they have none in common, or the branch none at all.
    Above(Option<BlockNumber>),
    /// Not known yet: the node lags, or switches branches at this moment.
    Unclear,
}

/// Finds forks, and counts how often the node contradicted what is settled.
#[derive(Debug, Default)]
pub(super) struct ForkFinder {
    contradictions: u32,
}

impl ForkFinder {
    /// Compares the node's headers with the branch, from the top down.
    pub(super) async fn find(
        &mut self,
        node: &NodeClient,
        branch: &Branch,
        tags: &HeadTags,
    ) -> Result<Fork, FollowError> {
        let (Some(tip), newest) = (branch.tip(), tags.newest) else { return Ok(Fork::Above(None)) };
        if branch.contains(&newest) {
            self.contradictions = 0;
            // A node that lags is no reorganisation.
            return Ok(Fork::Above(Some(tip.number)));
        }
        let base = branch.base();
        let lowest = base.map(|base| base.number).or(branch.first()).unwrap_or(tip.number);
        let mut top = newest.number.min(tip.number);
        while let Some(range) = BlockRange::new(lowest.max(top.saturating_sub(LOOK_BACK_BLOCKS)), top) {
            let theirs = rpc::headers(node, range).await?;
            if theirs.iter().map(|header| header.number).ne(range.first()..=range.last()) {
                return Ok(Fork::Unclear);
            }
            if let Some(shared) = theirs.iter().rev().find(|header| branch.contains(header)) {
                self.contradictions = 0;
                return Ok(Fork::Above(Some(shared.number)));
            }
            match (range.first() == lowest, base) {
                (true, Some(base)) => return self.below_finality(base, theirs[0]),
                (true, None) => return Ok(Fork::Above(lowest.checked_sub(1))),
                (false, _) => top = range.first() - 1,
            }
        }
        // The node does not even have what is settled.
        Ok(Fork::Unclear)
    }

    /// Ends following once the node contradicted what is settled often enough.
    fn below_finality(&mut self, base: Base, theirs: HeaderPeek) -> Result<Fork, FollowError> {
        self.contradictions += 1;
        if self.contradictions < MAX_CONTRADICTIONS {
            return Ok(Fork::Unclear);
        }
        Err(FollowError::BelowFinality { number: base.number, ours: base.hash, theirs: theirs.hash })
    }
}
