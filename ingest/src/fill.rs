//! Fills in call frames and state of settled blocks that were loaded without them, as from a node that had dropped
//! them.
//!
//! Commits are taken in groups. Their blocks are fetched again and compared by hash with those that are stored; the
//! rows of the parts are written, and then, in one insert, commits that replace the old ones. Nothing that is
//! readable goes away meanwhile. What a killed run leaves is rows of parts that no commit names: the next run removes
//! them ([`crate::write::recover`]).

use std::collections::HashMap;

use futures_util::StreamExt;
use tokio::sync::watch;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, Coverage};
use trawl_core::store::{CommitEdges, StoreError};

use crate::load::error::LoadError;
use crate::load::pipeline::Ending;
use crate::load::prepare::BlockOutcome;
use crate::source::rpc::BlockAge;
use crate::verify::links::Links;
use crate::write::retry::retry_transient;

mod context;
mod group;
mod group_writer;
mod part;
mod piece;

pub use context::FillContext;
use group::{Group, groups};
use group_writer::{FillRun, GroupWriter};
pub use part::{FillPart, FillParts};

/// What a fill came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FillReport {
    /// Blocks that got some of the parts.
    pub blocks: Coverage,
    /// Blocks of which the source does not have a part either.
    pub lacking: Coverage,
}

/// Why a fill ended before its end. What was committed until then stays.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The source gives no more, or a block does not verify.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// ClickHouse does not answer, or the lease is lost.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The source's block is another one than that which is stored.
    #[error(
        "the source has {theirs} as block {number} and {ours} is stored: it is of another chain, or the block is damaged"
    )]
    OtherBlock {
        /// Height of the block.
        number: BlockNumber,
        /// The stored hash, zero if there is no such block.
        ours: B256,
        /// That of the source.
        theirs: B256,
    },
    /// The source ended before the last block.
    #[error("the source does not have all of blocks {0}")]
    Incomplete(BlockRange),
}

/// Fills in `parts` wherever they are missing, until `stop` becomes true.
///
/// # Errors
///
/// If the source fails or has other blocks, or ClickHouse does not answer.
pub async fn fill(
    context: FillContext,
    parts: FillParts,
    stop: &watch::Receiver<bool>,
) -> Result<(Ending, FillReport), FillError> {
    let edges = retry_transient(|| context.reader.commit_edges()).await?;
    let edges: HashMap<BlockNumber, CommitEdges> = edges.into_iter().map(|edge| (edge.last_block, edge)).collect();
    let mut filled = FillReport::default();
    for group in groups(&context.reader, parts).await? {
        if *stop.borrow() {
            return Ok((Ending::Stopped, filled));
        }
        if context.lacks(&group) {
            filled.lacking = joined(&filled.lacking, [group.range]);
            continue;
        }
        let Some(runs) = context.fill_group(&group, &edges, stop).await? else { return Ok((Ending::Stopped, filled)) };
        let (whole, short): (Vec<_>, Vec<_>) = runs.iter().partition(|run| group.missing.are_in(run.parts));
        // The state of the genesis is in its file: no node tells it, so none lacks it.
        let lacking = short.iter().map(|run| run.range).filter(|range| range.last() > 0);
        filled.lacking = joined(&filled.lacking, lacking);
        let some = whole.iter().chain(&short).filter(|run| group.missing.are_any_in(run.parts));
        filled.blocks = joined(&filled.blocks, some.map(|run| run.range));
        tracing::info!(blocks = %group.range, parts = %group.missing, "filled in");
    }
    Ok((Ending::Complete, filled))
}

fn joined(coverage: &Coverage, more: impl IntoIterator<Item = BlockRange>) -> Coverage {
    coverage.ranges().iter().copied().chain(more).collect()
}

impl FillContext {
    /// Whether the source is known to have none of the parts of these blocks.
    fn lacks(&self, group: &Group) -> bool {
        group.missing.iter().all(|part| self.source.lacks(part.name(), group.range.last()))
    }

    /// The runs of blocks that got the same parts; `None` if `stop` became true before.
    async fn fill_group(
        &self,
        group: &Group,
        edges: &HashMap<BlockNumber, CommitEdges>,
        stop: &watch::Receiver<bool>,
    ) -> Result<Option<Vec<FillRun>>, FillError> {
        let mut writing = GroupWriter::begin(self, group).await?;
        let hashes = retry_transient(|| self.reader.block_hashes(group.range)).await?;
        let hashes: HashMap<BlockNumber, B256> = hashes.into_iter().map(|row| (row.block_number, row.hash)).collect();
        let below = group.range.first().checked_sub(1).and_then(|below| edges.get(&below));
        let mut links = Links::new(below.map_or(&[][..], std::slice::from_ref));
        let source = self.source.of(vec![group.range], BlockAge::Final);
        let mut blocks = self.inspection.prepared(source, self.decoders);
        while let Some(fate) = blocks.next().await {
            if *stop.borrow() {
                return Ok(None);
            }
            let BlockOutcome::Prepared(prepared) = fate? else { break };
            let ours = hashes.get(&prepared.link.number).copied().unwrap_or_default();
            if prepared.link.hash != ours {
                let (number, theirs) = (prepared.link.number, prepared.link.hash);
                return Err(FillError::OtherBlock { number, ours, theirs });
            }
            let BlockOutcome::Prepared(linked) = self.inspection.link(prepared, &mut links)? else { break };
            writing.push(*linked).await?;
        }
        if writing.blocks() != group.range.count() {
            return Err(FillError::Incomplete(group.range));
        }
        Ok(Some(writing.finish().await?))
    }
}
