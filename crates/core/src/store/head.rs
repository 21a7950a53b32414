//! The readable blocks of one moment.

pub(crate) mod changes;
pub(crate) mod committed;
pub(crate) mod contact;
pub(crate) mod newest;
pub(crate) mod poll;
pub(crate) mod watch;

use std::sync::Arc;

use super::client::addresses::ServedState;
use super::ledger::configurations::ChainConfiguration;
use super::{Damage, Reader, StoreError};
use crate::newest::{NewestBlock, NewestBlocks, NewestSpan};
use crate::primitives::{BlockNumber, BlockRange, Coverage, HotRange};
use crate::readable::Readable;
use crate::schema::{BlockPart, HeadRow, OptionalTables, Segment};
use committed::{CommittedRanges, committed_of, committed_ranges, only_new_blocks};
use newest::read_newest;
use poll::{HeadSummary, PollScope, PreviousHead, Summary, poll};

/// A consistent view of the readable blocks. A request takes one and uses it to its end.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Blocks whose headers and transactions are readable.
    pub blocks: Readable,
    /// Blocks whose receipts and logs are readable; a subset of `blocks`, as all of the following are.
    pub receipts: Readable,
    /// Blocks whose withdrawals are readable.
    pub withdrawals: Readable,
    /// Blocks whose uncle headers are readable.
    pub uncles: Readable,
    /// Blocks whose call frames are readable.
    pub traces: Readable,
    /// Blocks whose rewards, reported by a tracing node, are readable.
    pub rewards: Readable,
    /// Blocks whose whole effect on state is readable.
    pub state: Readable,
    /// Blocks whose effect on state is readable except for writes to system contracts.
    pub state_but_system: Readable,
    /// The blocks of `state` and of `state_but_system`.
    pub known_state: Readable,
    /// Blocks of which only the effect of the transactions on state is readable.
    pub state_transactions: Readable,
    /// The chain, if a source reported it.
    pub chain_id: Option<u64>,
    /// The newest head that `trawl-ingest follow` wrote, if it ever ran.
    pub newest: Option<HeadRow>,
    /// The rules of the chain as its genesis file states them, JSON in geth's form, if one was given.
    pub configuration: Option<String>,
    /// The family of chains that it is of, by its name, if the operator stated one.
    pub family: Option<String>,
    /// Grows with the complete loads of labels, 0 if there is none; a cache generation.
    pub labels: u64,
    /// Grows with the rows in `tokens`, 0 if there is none; a cache generation.
    pub tokens: u64,
    /// Grows with the rows in `token_steps`, 0 if there is none; a cache generation of token statistics.
    pub token_steps: u64,
    /// The optional tables that may be read.
    pub tables: OptionalTables,
    /// Number of the view in this process, from 1: a later view that differs has a higher one.
    pub view: u64,
    /// The view that first showed the newest commit. Under the same number, responses about settled blocks stay valid;
    /// a commit may add parts to blocks that were already readable.
    pub settled_view: u64,
    /// What was lost; those blocks are not among the readable ones.
    pub damage: Damage,
    /// The highest committed block, whether or not its rows are still there.
    pub committed_through: Option<BlockNumber>,
    /// Like `settled_view`, for what is known of contracts: under the same number, what was read of settled blocks
    /// stays complete together with the rows of `recent`.
    pub contracts_view: u64,
    /// Under the same number, rows that were read of a settled block are still all of its rows: since then only blocks
    /// were committed of which nothing was committed before, and nothing was lost, found or taken back.
    pub rows_view: u64,
    /// The newest blocks in memory.
    pub in_memory: Arc<NewestBlocks>,
    /// Settled blocks right below those in memory, which were in memory themselves a short time ago: facts that were
    /// known before them, and that they do not touch, are still good.
    pub recent: Arc<NewestBlocks>,
    /// Number of the use of an address that it was read in: one more each time the address changes.
    pub(super) turn: u64,
    /// The summary that this view was made from.
    seen: Option<Summary>,
    /// The committed ranges by part.
    pub(super) committed: CommittedRanges,
}

/// Where blocks that are not settled are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewestSource {
    /// In the hot tables, all of them, whether or not their rows are there already.
    InTables,
    /// In memory up to so many bytes; the oldest of them in the hot tables.
    InMemory(u64),
}

impl Head {
    /// The highest readable block.
    #[must_use]
    pub fn number(&self) -> Option<BlockNumber> {
        self.blocks.head()
    }

    /// The blocks whose `part` is readable.
    #[must_use]
    pub fn part(&self, part: BlockPart) -> &Readable {
        match part {
            BlockPart::Blocks | BlockPart::Transactions => &self.blocks,
            BlockPart::Receipts => &self.receipts,
            BlockPart::Withdrawals => &self.withdrawals,
            BlockPart::Uncles => &self.uncles,
            BlockPart::Traces => &self.traces,
            BlockPart::Rewards => &self.rewards,
            BlockPart::State => &self.state,
            BlockPart::StateButSystem => &self.state_but_system,
            BlockPart::StateTransactions => &self.state_transactions,
        }
    }

    /// The blocks of `recent`.
    #[must_use]
    pub fn recent_span(&self) -> NewestSpan {
        NewestSpan::new(&self.recent, self.recent.run().into_iter().collect())
    }

    /// The highest readable block that the node called safe, at least the finalized one.
    #[must_use]
    pub fn safe(&self) -> Option<BlockNumber> {
        self.named(|head| head.safe_block).max(self.finalized())
    }

    /// The highest readable block that cannot change: settled, or called finalized by the node.
    #[must_use]
    pub fn finalized(&self) -> Option<BlockNumber> {
        self.named(|head| head.finalized_block).max(self.blocks.settled().head())
    }

    /// Whether it is known of every address whether it has code: state and call frames of all blocks are readable, from
    /// genesis on.
    #[must_use]
    pub fn knows_all_code(&self) -> bool {
        let blocks = |first| self.number().and_then(|number| BlockRange::new(first, number));
        let has_state = |range| {
            let gaps = self.state.missing(range);
            gaps.into_iter().all(|gap| self.state_but_system.missing(gap).is_empty())
        };
        blocks(0).is_some_and(has_state) && blocks(1).is_none_or(|range| self.traces.missing(range).is_empty())
    }

    /// What answers are made of under this view.
    pub(super) fn shown(&self) -> ServedState {
        let unsettled: u64 = self.blocks.unsettled().iter().map(|range| range.blocks.count()).sum();
        let is_in_memory = unsettled <= self.in_memory.len() as u64;
        let sequence = self.newest.as_ref().filter(|_| !is_in_memory).map(|head| head.sequence);
        ServedState { committed: Arc::clone(&self.committed), sequence }
    }

    fn named(&self, name: impl FnOnce(&HeadRow) -> Option<BlockNumber>) -> Option<BlockNumber> {
        let named = self.newest.as_ref().and_then(name)?;
        let up_to = self.blocks.within(BlockRange::new(0, named)?);
        up_to.highest()
    }

    /// Whether the newest of the settled blocks lost rows, so that the newest block is unknown.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.committed_through != self.blocks.settled().head()
            || self.damage.withdrawn.head() > self.blocks.settled().head()
    }

    /// Whether rows of settled blocks are as they were in this view.
    fn keeps_rows(&self, damage: &Damage, committed: &CommittedRanges) -> bool {
        self.damage == *damage && only_new_blocks(&self.committed, committed)
    }

    /// Reads the committed ranges, whatever was lost of them. The rows of blocks that are not settled are not read:
    /// each of these blocks counts as one of the hot tables, which may not have its rows yet.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn load(reader: &Reader) -> Result<Self, StoreError> {
        Self::read(reader, None, PollScope::All, NewestSource::InTables, &Damage::default())
            .await
            .map(Arc::unwrap_or_clone)
    }

    /// Reads the committed ranges. Returns `known` itself if nothing was committed since.
    pub(super) async fn read(
        reader: &Reader,
        known: Option<&Arc<Self>>,
        look: PollScope,
        source: NewestSource,
        damage: &Damage,
    ) -> Result<Arc<Self>, StoreError> {
        let (turn, last_view) = (reader.turn(), known.map_or(0, |known| known.view));
        // What was read at another address says nothing of what is here.
        let known = known.filter(|known| known.turn == turn);
        let before = known.map(|known| PreviousHead {
            summary: known.seen.as_ref(),
            sequence: known.newest.as_ref().map_or(0, |head| head.sequence),
            is_good: known.damage == *damage,
        });
        let seen = match (poll(reader, before, look).await?, known) {
            (Some(seen), _) => seen,
            (None, Some(known)) => return Ok(Arc::clone(known)),
            (None, None) => HeadSummary::default(),
        };
        let HeadSummary { summary, count, mut newest } = seen;
        let commits = |seen: &Option<Summary>| seen.as_ref().map_or(0, |seen| seen.commits);
        let is_same = |known: &&Arc<Self>| commits(&known.seen) == commits(&summary);
        let committed = match known.filter(is_same) {
            Some(known) if count == commits(&summary) => Arc::clone(&known.committed),
            _ => committed_of(&reader.all(&committed_ranges()).await?),
        };
        let committed_through = committed.get(&BlockPart::Blocks).and_then(Coverage::head);
        let settled =
            |part: BlockPart| committed.get(&part).map(|all| all.without(&damage.of_part(part))).unwrap_or_default();
        let blocks = settled(BlockPart::Blocks);
        let in_memory = in_memory(reader, known, &mut newest, &blocks, source).await?;
        let segments = newest.as_ref().map_or(&[][..], |head| &head.segments);
        let recent = known.map_or_else(Arc::default, |known| recently_settled(known, &in_memory));
        let stored = match source {
            NewestSource::InTables => Some(BlockNumber::MAX),
            NewestSource::InMemory(_) => newest.as_ref().and_then(|head| head.tables_through),
        };
        let part = |part: BlockPart| {
            let mut hot = hot(segments, part, &blocks);
            hot = hot.iter().flat_map(|range| in_memory.readable(range, stored)).collect();
            Readable::with_newest(settled(part), &hot, &in_memory)
        };
        let committed_chain = summary.as_ref().and_then(|summary| summary.chain_id);
        let chain_id = committed_chain.or(newest.as_ref().and_then(|head| head.chain_id));
        let configurations = |seen: &Option<Summary>| seen.as_ref().map_or(0, |seen| seen.configurations);
        let is_configured =
            |known: &&Arc<Self>| configurations(&known.seen) == configurations(&summary) && known.chain_id == chain_id;
        let stated = match (chain_id, known.filter(is_configured)) {
            (Some(_), Some(known)) => {
                ChainConfiguration { forks: known.configuration.clone(), family: known.family.clone() }
            }
            (Some(chain_id), None) if summary.as_ref().is_some_and(|summary| summary.configurations > 0) => {
                reader.configuration(chain_id).await?.unwrap_or_default()
            }
            _ => ChainConfiguration::default(),
        };
        let (state, state_but_system) = (part(BlockPart::State), part(BlockPart::StateButSystem));
        let view = last_view + 1;
        let is_same = |known: &&Arc<Self>| is_same(known) && *known.blocks.settled() == blocks;
        let same = known.filter(is_same);
        Ok(Arc::new(Self {
            settled_view: same.map_or(view, |known| known.settled_view),
            contracts_view: known
                .filter(|known| same.is_some() || grew_by(known, &committed, &recent))
                .map_or(view, |known| known.contracts_view),
            rows_view: known.filter(|known| known.keeps_rows(damage, &committed)).map_or(view, |known| known.rows_view),
            receipts: part(BlockPart::Receipts),
            withdrawals: part(BlockPart::Withdrawals),
            uncles: part(BlockPart::Uncles),
            traces: part(BlockPart::Traces),
            rewards: part(BlockPart::Rewards),
            known_state: state.or(&state_but_system, &in_memory),
            state,
            state_but_system,
            state_transactions: part(BlockPart::StateTransactions),
            blocks: part(BlockPart::Blocks),
            chain_id,
            newest,
            configuration: stated.forks,
            family: stated.family,
            labels: generation(turn, summary.as_ref().map_or(0, |summary| summary.label_loads)),
            tokens: generation(turn, summary.as_ref().map_or(0, |summary| summary.tokens)),
            token_steps: generation(turn, summary.as_ref().map_or(0, |summary| summary.token_steps)),
            damage: damage.clone(),
            committed_through,
            tables: summary.as_ref().map(|summary| summary.tables).unwrap_or_default(),
            seen: summary,
            view,
            turn,
            committed,
            in_memory,
            recent,
        }))
    }
}

/// A cache generation: a number of rows at an address. Another address has others, also where it has as many.
fn generation(turn: u64, rows: u64) -> u64 {
    if rows == 0 { 0 } else { rows | turn << 40 }
}

/// The blocks of `newest` that are cached in memory, above the settled `blocks`. Takes the rows that the head carries:
/// they move into the cached blocks.
async fn in_memory(
    reader: &Reader,
    known: Option<&Arc<Head>>,
    newest: &mut Option<HeadRow>,
    blocks: &Coverage,
    source: NewestSource,
) -> Result<Arc<NewestBlocks>, StoreError> {
    let carried = newest.as_mut().map(|head| std::mem::take(&mut head.blocks)).unwrap_or_default();
    let NewestSource::InMemory(bytes) = source else { return Ok(Arc::default()) };
    let segments = newest.as_ref().map_or(&[][..], |head| &head.segments);
    let stored = newest.as_ref().and_then(|head| head.tables_through);
    let known = known.map(|known| &known.in_memory);
    read_newest(reader, known, carried, &hot(segments, BlockPart::Blocks, blocks), stored, bytes).await
}

/// Whether all that was committed since `known` is blocks that are in `recent` now, and no block with contracts left
/// those.
fn grew_by(known: &Head, committed: &CommittedRanges, recent: &NewestBlocks) -> bool {
    let Some(run) = recent.run() else { return false };
    let is_new = |range: &BlockRange| range.intersection(run) == Some(*range);
    let grew = |(part, ranges): (&BlockPart, &Coverage)| {
        let before = known.committed.get(part).cloned().unwrap_or_default();
        ranges.ranges().iter().all(|range| before.missing(*range).iter().all(is_new))
    };
    let lost = |(part, ranges): (&BlockPart, &Coverage)| {
        let now = committed.get(part).cloned().unwrap_or_default();
        ranges.ranges().iter().any(|range| !now.missing(*range).is_empty())
    };
    let left = |block: &NewestBlock| block.has_contracts() && recent.get(block.number).is_none();
    committed.iter().all(grew)
        && !known.committed.iter().any(lost)
        && !known.recent.run().is_some_and(|run| known.recent.range(run).any(left))
}

/// Most bytes of blocks that stay in memory for a time after they were settled.
const RECENT_BYTES: usize = 64 << 20;

/// Blocks of the previous view right below those in memory now.
fn recently_settled(known: &Head, in_memory: &Arc<NewestBlocks>) -> Arc<NewestBlocks> {
    if Arc::ptr_eq(in_memory, &known.in_memory) {
        return Arc::clone(&known.recent);
    }
    Arc::new(in_memory.below(&known.in_memory, &known.recent, RECENT_BYTES))
}

/// The blocks of segments with `part` that are not settled.
fn hot(segments: &[Segment], part: BlockPart, settled: &Coverage) -> Vec<HotRange> {
    let having = segments.iter().filter(|segment| segment.parts.iter().any(|name| name == part.name()));
    having
        .flat_map(|segment| {
            let range = BlockRange::new(segment.first_block, segment.last_block);
            let unsettled = range.map_or_else(Vec::new, |range| settled.missing(range));
            unsettled.into_iter().map(|blocks| HotRange { blocks, generation: segment.generation })
        })
        .collect()
}
