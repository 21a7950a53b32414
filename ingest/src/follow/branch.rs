//! The newest blocks in memory: one branch, block by block, on top of what is settled. No I/O.

use std::collections::VecDeque;

use trawl_core::primitives::{B256, BlockNumber, BlockRange, HotRange, U256};
use trawl_core::schema::packed::HotRowsRow;
use trawl_core::schema::{BlockRow, Segment};
use trawl_core::store::CommitEdges;

use super::branch_segment::BranchSegment;
use super::settling_group::SettlingGroup;
use crate::decode::HeaderPeek;

/// A block that is not settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Height of the block.
    pub number: BlockNumber,
    /// Hash as the node gave it.
    pub hash: B256,
    /// Hash of the block below.
    pub parent_hash: B256,
    /// Which writing of its height.
    pub generation: u64,
    /// What is there of it, as `ingest_commits` names it.
    pub parts: Vec<String>,
    /// Sum of difficulties, if known.
    pub total_difficulty: Option<U256>,
    /// Transactions in it.
    pub transactions: u64,
    /// Logs in it.
    pub logs: u64,
    /// Bytes of its packed rows.
    pub bytes: usize,
}

/// A block as an earlier run left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredBlock {
    /// Height of the block.
    pub number: BlockNumber,
    /// Hash as it was stored.
    pub hash: B256,
    /// Hash of the block below.
    pub parent_hash: B256,
    /// Which writing of its height.
    pub generation: u64,
    /// Its own difficulty, if known.
    pub difficulty: Option<U256>,
    /// Sum of difficulties, if known.
    pub total_difficulty: Option<U256>,
    /// Transactions in it.
    pub transactions: u64,
    /// Logs in it.
    pub logs: u64,
    /// Bytes of its packed rows.
    pub bytes: usize,
}

impl StoredBlock {
    /// A block from its row and what it was unpacked from.
    #[must_use]
    pub fn new(row: &BlockRow, packed: &HotRowsRow) -> Self {
        Self {
            number: row.block_number,
            hash: row.hash,
            parent_hash: row.parent_hash,
            generation: packed.generation,
            difficulty: (!row.lacking.iter().any(|column| column == "difficulty")).then_some(row.difficulty),
            total_difficulty: row.total_difficulty,
            transactions: row.transactions_count.into(),
            logs: row.logs_count.unwrap_or_default().into(),
            bytes: packed.rows.len(),
        }
    }
}

/// The highest settled block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Base {
    /// Height of the block.
    pub number: BlockNumber,
    /// Hash as it was stored.
    pub hash: B256,
    /// Sum of difficulties, if known.
    pub total_difficulty: Option<U256>,
}

/// The blocks above the settled ones, ascending without gaps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Branch {
    base: Option<Base>,
    members: VecDeque<Member>,
}

impl Branch {
    /// A branch on top of `base` from what is stored: the blocks of `segments`, with their rows.
    ///
    /// What does not follow from the base, or has a hole, is left out; it is fetched again.
    #[must_use]
    pub fn stored(base: Option<Base>, segments: &[Segment], blocks: Vec<StoredBlock>) -> Self {
        let mut branch = Self { base, members: VecDeque::new() };
        for block in blocks {
            let StoredBlock { number, generation, .. } = block;
            let is_in = |segment: &&Segment| {
                segment.generation == generation && (segment.first_block..=segment.last_block).contains(&number)
            };
            let Some(segment) = segments.iter().find(is_in) else { continue };
            let continues = branch.tip().is_none_or(|tip| tip.number + 1 == number && tip.hash == block.parent_hash);
            let is_new = base.is_none_or(|base| number > base.number);
            if is_new && continues {
                // A block that adds nothing has the sum below it, which its node may not keep.
                let unchanged = branch.tip().filter(|_| block.difficulty == Some(U256::ZERO));
                let unchanged = unchanged.and_then(|below| below.total_difficulty);
                branch.members.push_back(Member {
                    number,
                    hash: block.hash,
                    parent_hash: block.parent_hash,
                    generation,
                    parts: segment.parts.clone(),
                    total_difficulty: block.total_difficulty.or(unchanged),
                    transactions: block.transactions,
                    logs: block.logs,
                    bytes: block.bytes,
                });
            }
        }
        branch
    }

    /// The highest block, settled or not.
    #[must_use]
    pub fn tip(&self) -> Option<Base> {
        let newest = self.members.back().map(|member| Base {
            number: member.number,
            hash: member.hash,
            total_difficulty: member.total_difficulty,
        });
        newest.or(self.base)
    }

    /// The highest settled block.
    #[must_use]
    pub fn base(&self) -> Option<Base> {
        self.base
    }

    /// The lowest block that is not settled.
    #[must_use]
    pub fn first(&self) -> Option<BlockNumber> {
        self.members.front().map(|member| member.number)
    }

    /// The block at a height: a member, or the base.
    #[must_use]
    pub fn at(&self, number: BlockNumber) -> Option<Base> {
        let member = self.members.iter().find(|member| member.number == number);
        let member = member.map(|member| Base { number, hash: member.hash, total_difficulty: member.total_difficulty });
        member.or(self.base.filter(|base| base.number == number))
    }

    /// Whether this very block is on the branch.
    #[must_use]
    pub fn contains(&self, header: &HeaderPeek) -> bool {
        self.at(header.number).is_some_and(|block| block.hash == header.hash)
    }

    /// Adds the block that follows the tip.
    pub fn push(&mut self, member: Member) {
        assert!(self.tip().is_none_or(|tip| tip.number + 1 == member.number), "it follows the tip");
        self.members.push_back(member);
    }

    /// Takes off everything above `last`, or all of it; the lost blocks, ascending.
    pub fn truncate(&mut self, last: Option<BlockNumber>) -> Vec<BranchSegment> {
        let kept = self.members.iter().take_while(|member| last.is_some_and(|last| member.number <= last)).count();
        branch_segments(&self.members.split_off(kept))
    }

    /// Whether this writing of a height is on the branch.
    #[must_use]
    pub fn has(&self, number: BlockNumber, generation: u64) -> bool {
        self.member(number).is_some_and(|member| member.generation == generation)
    }

    fn member(&self, number: BlockNumber) -> Option<&Member> {
        let offset = number.checked_sub(self.first()?)?;
        self.members.get(usize::try_from(offset).ok()?)
    }

    /// The lowest members up to `last` that can be settled together: with the same parts, at most so many bytes, but at
    /// least one.
    #[must_use]
    pub fn next_group(&self, last: BlockNumber, most_bytes: usize) -> Option<SettlingGroup> {
        let mut bytes = 0;
        let settling = self.members.iter().take_while(|member| {
            let is_first = bytes == 0;
            bytes += member.bytes.max(1);
            member.number <= last && (is_first || bytes <= most_bytes)
        });
        SettlingGroup::first_of(branch_segments(settling))
    }

    /// How many members there are up to `last`, and the bytes of their packed rows.
    #[must_use]
    pub fn size_up_to(&self, last: BlockNumber) -> (u64, usize) {
        let settling = self.members.iter().take_while(|member| member.number <= last);
        settling.fold((0, 0), |(blocks, bytes), member| (blocks + 1, bytes + member.bytes))
    }

    /// The hashes of the members in `range`.
    #[must_use]
    pub fn hashes(&self, range: BlockRange) -> Vec<B256> {
        (range.first()..=range.last()).filter_map(|number| self.member(number)).map(|member| member.hash).collect()
    }

    /// Members up to `last` are settled from now on.
    pub fn settled(&mut self, last: BlockNumber) {
        while let Some(member) = self.members.pop_front_if(|member| member.number <= last) {
            self.base =
                Some(Base { number: member.number, hash: member.hash, total_difficulty: member.total_difficulty });
        }
    }

    /// What readers may see of the hot tables.
    #[must_use]
    pub fn segments(&self) -> Vec<Segment> {
        let segment = |segment: BranchSegment| Segment {
            first_block: segment.range.blocks.first(),
            last_block: segment.range.blocks.last(),
            generation: segment.range.generation,
            parts: segment.parts,
        };
        branch_segments(&self.members).into_iter().map(segment).collect()
    }

    /// The tip as an end of a committed range, for the links of the blocks that follow.
    #[must_use]
    pub fn edges(&self) -> Vec<CommitEdges> {
        let edge = |tip: Base| CommitEdges {
            first_block: tip.number,
            first_parent_hash: B256::ZERO,
            last_block: tip.number,
            last_hash: tip.hash,
            last_total_difficulty: tip.total_difficulty,
        };
        self.tip().map(edge).into_iter().collect()
    }
}

fn branch_segments<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<BranchSegment> {
    let mut segments: Vec<BranchSegment> = Vec::new();
    for member in members {
        let next = BranchSegment::from(member);
        match segments.last_mut() {
            Some(last) if last.range.generation == next.range.generation && last.parts == next.parts => {
                last.append(&next);
            }
            _ => segments.push(next),
        }
    }
    segments
}

impl From<&Member> for BranchSegment {
    fn from(member: &Member) -> Self {
        Self {
            range: HotRange { blocks: BlockRange::single(member.number), generation: member.generation },
            parts: member.parts.clone(),
            first_parent_hash: member.parent_hash,
            last_hash: member.hash,
            last_total_difficulty: member.total_difficulty,
            transactions: member.transactions,
            logs: member.logs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64, generation: u64) -> B256 {
        B256::left_padding_from(&[u8::try_from(generation).expect("small"), u8::try_from(number).expect("small")])
    }

    fn member(number: u64, generation: u64, below: u64) -> Member {
        Member {
            number,
            hash: hash(number, generation),
            parent_hash: hash(number - 1, below),
            generation,
            parts: vec!["blocks".into()],
            total_difficulty: None,
            transactions: 2,
            logs: 3,
            bytes: 100,
        }
    }

    fn branch() -> Branch {
        let base = Base { number: 9, hash: hash(9, 0), total_difficulty: None };
        let mut branch = Branch { base: Some(base), members: VecDeque::new() };
        branch.push(member(10, 1, 0));
        branch.push(member(11, 1, 1));
        branch.push(member(12, 2, 1));
        branch
    }

    #[test]
    fn a_branch_is_cut_and_grows_again() {
        let mut branch = branch();
        let lost = branch.truncate(Some(10));
        assert_eq!(lost.iter().map(|segment| segment.range.generation).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(branch.tip().map(|tip| tip.number), Some(10));
        branch.push(member(11, 3, 1));
        let segments = branch.segments();
        assert_eq!(segments.len(), 2);
        assert_eq!((segments[1].first_block, segments[1].last_block, segments[1].generation), (11, 11, 3));
        assert!(branch.truncate(None).len() == 2 && branch.tip() == branch.base());
    }

    #[test]
    fn what_is_settled_becomes_the_base() {
        let mut branch = branch();
        let group = branch.next_group(12, usize::MAX).expect("three members");
        let generations = group.ranges.iter().map(|range| range.generation);
        assert_eq!(generations.collect::<Vec<_>>(), [1, 2], "of both generations");
        assert_eq!((group.heights().first(), group.heights().last()), (10, 12));
        assert_eq!((group.blocks.transactions, group.blocks.logs, group.blocks.last_hash), (6, 9, hash(12, 2)));
        let few = |bytes| branch.next_group(11, bytes).map(|group| group.heights().count());
        assert_eq!((few(1), few(199), few(200), few(usize::MAX)), (Some(1), Some(1), Some(2), Some(2)));
        assert_eq!(branch.size_up_to(11), (2, 200));
        assert!(branch.has(12, 2) && !branch.has(12, 1) && !branch.has(13, 2) && !branch.has(9, 0));
        branch.settled(11);
        assert_eq!(branch.base().map(|base| (base.number, base.hash)), Some((11, hash(11, 1))));
        assert_eq!(branch.first(), Some(12));
        branch.settled(99);
        assert!(branch.segments().is_empty() && branch.tip().map(|tip| tip.number) == Some(12));
    }

    #[test]
    fn blocks_of_other_parts_settle_apart() {
        let mut branch = branch();
        branch.push(Member { parts: vec!["blocks".into(), "traces".into()], ..member(13, 2, 2) });
        let last = |branch: &Branch| branch.next_group(13, usize::MAX).map(|group| group.heights().last());
        assert_eq!(last(&branch), Some(12));
        branch.settled(12);
        assert_eq!(last(&branch), Some(13));
        branch.settled(13);
        assert_eq!(last(&branch), None);
    }

    #[test]
    fn a_group_has_a_bounded_number_of_generations() {
        let base = Base { number: 9, hash: hash(9, 0), total_difficulty: None };
        let mut branch = Branch { base: Some(base), members: VecDeque::new() };
        (10..50).for_each(|number| branch.push(member(number, number, number - 1)));
        assert_eq!(branch.next_group(99, usize::MAX).map(|group| group.ranges.len()), Some(32));
        branch.settled(41);
        assert_eq!(branch.next_group(99, usize::MAX).map(|group| group.heights().count()), Some(8));
    }

    #[test]
    fn what_is_stored_must_follow() {
        let row = |member: Member| StoredBlock {
            number: member.number,
            hash: member.hash,
            parent_hash: member.parent_hash,
            generation: member.generation,
            difficulty: Some(U256::ZERO),
            total_difficulty: None,
            transactions: 2,
            logs: 3,
            bytes: 100,
        };
        let whole = branch();
        let rows: Vec<StoredBlock> = whole.members.iter().cloned().map(row).collect();
        assert_eq!(Branch::stored(whole.base, &whole.segments(), rows.clone()), whole);
        let total_difficulty = Some(U256::from(8));
        let above_sum = whole.base.map(|base| Base { total_difficulty, ..base });
        let tip = Branch::stored(above_sum, &whole.segments(), rows.clone()).tip();
        assert_eq!(tip.and_then(|tip| tip.total_difficulty), total_difficulty, "its blocks add nothing");
        let other = Some(Base { number: 9, hash: hash(9, 7), total_difficulty: None });
        assert!(Branch::stored(other, &whole.segments(), rows.clone()).segments().is_empty());
        let holed = vec![rows[0].clone(), rows[2].clone()];
        assert_eq!(Branch::stored(whole.base, &whole.segments(), holed).tip().map(|tip| tip.number), Some(10));
    }
}
