//! Checks that blocks fit their neighbours: those committed before, and those of this load.

use std::collections::HashMap;

use trawl_chains::{Difficulties, Family, SumFit, TotalDifficulty};
use trawl_core::primitives::{B256, BlockRange, U256};
use trawl_core::store::CommitEdges;

use super::check::Check;
use super::outcome::{Outcome, VerifyError};
use crate::block::Block;

/// The fields of a block that link it to its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// Height of the block.
    pub number: u64,
    /// Hash as the source gave it.
    pub hash: B256,
    /// Hash of the block below; `None` if the source does not know it.
    pub parent_hash: Option<B256>,
    /// Its own difficulty, if the source gave it.
    pub difficulty: Option<U256>,
    /// Sum of difficulties, if the source gave it, or if it is that of the block below.
    pub total_difficulty: Option<U256>,
    /// What that sum follows from on its chain.
    pub difficulty_rule: TotalDifficulty,
}

impl Link {
    /// The link of a block of a chain of a family.
    #[must_use]
    pub fn of(block: &Block, family: &Family) -> Self {
        let header = &block.header;
        Self {
            number: header.number,
            hash: header.hash,
            parent_hash: (!header.lacking.contains(&"parent_hash")).then_some(header.parent_hash),
            difficulty: (!header.lacking.contains(&"difficulty")).then_some(header.difficulty),
            total_difficulty: block.total_difficulty,
            difficulty_rule: family.total_difficulty,
        }
    }
}

/// The end of a chain of blocks that a further block may go on from.
#[derive(Debug, Clone, Copy)]
struct Tip {
    hash: B256,
    /// Its own; `None` at the end of a committed range, of which the sum alone is kept, or if the source had none.
    difficulty: Option<U256>,
    /// The sum up to it; `None` if the source had none.
    total_difficulty: Option<U256>,
}

/// Knows the ends of what is committed and the last block of this load.
#[derive(Debug)]
pub struct Links {
    /// The block at a height, where a range ends there.
    tips: HashMap<u64, Tip>,
    /// Hash that the block below a height must have, where a range starts there.
    parents: HashMap<u64, B256>,
    last: Option<(u64, Tip)>,
}

impl Links {
    /// Knows the ends of committed ranges.
    #[must_use]
    pub fn new(edges: &[CommitEdges]) -> Self {
        let tip = |edge: &CommitEdges| Tip {
            hash: edge.last_hash,
            difficulty: None,
            total_difficulty: edge.last_total_difficulty,
        };
        Self {
            tips: edges.iter().map(|edge| (edge.last_block, tip(edge))).collect(),
            // A range whose source did not know the parent hash has zero; so has genesis, which has nothing below it.
            parents: edges
                .iter()
                .filter(|edge| !edge.first_parent_hash.is_zero())
                .map(|edge| (edge.first_block, edge.first_parent_hash))
                .collect(),
            last: None,
        }
    }

    /// Checks a block against its neighbours and remembers it.
    pub fn check(&mut self, link: Link, outcome: &mut Outcome) -> Result<(), VerifyError> {
        let below = self.below(link);
        match (below, link.parent_hash) {
            (Some(below), Some(parent_hash)) => {
                same(link, Check::ParentHash, &below.hash, &parent_hash)?;
                outcome.passed(Check::ParentHash);
            }
            (_, None) => outcome.not_checkable(Check::ParentHash, "the source has no parent_hash"),
            (None, _) if link.number > 0 => outcome.not_checkable(Check::ParentHash, "the block below is not loaded"),
            (None, _) => {}
        }
        let above = link.number.checked_add(1).and_then(|above| self.parents.get(&above));
        if let Some(expected) = above {
            same(link, Check::ChildLink, expected, &link.hash)?;
        }
        check_total_difficulty(link, below, outcome)?;
        self.remember(link);
        Ok(())
    }

    /// Keeps what a later block may go on from or lead up to, of a block that needs no check. What both sides of have
    /// come is forgotten, so that a load from the top down needs no more memory than one from the bottom up.
    pub fn remember(&mut self, link: Link) {
        let (is_left_out, unchanged) = (self.is_left_out(link), self.unchanged_sum(link));
        let goes_on = self.last.is_some_and(|(last, _)| last.checked_add(1) == Some(link.number));
        if !goes_on {
            if let Some((number, tip)) = self.last.take() {
                self.tips.insert(number, tip);
            }
            let below = link.number.checked_sub(1).and_then(|below| self.tips.remove(&below));
            if let Some(parent_hash) = link.parent_hash.filter(|hash| below.is_none() && !hash.is_zero()) {
                self.parents.insert(link.number, parent_hash);
            }
        }
        let is_below_another = link.number.checked_add(1).is_some_and(|above| self.parents.remove(&above).is_some());
        let total_difficulty = link.total_difficulty.filter(|_| !is_left_out).or(unchanged);
        let tip = Tip { hash: link.hash, difficulty: link.difficulty, total_difficulty };
        self.last = (!is_below_another).then_some((link.number, tip));
    }

    /// Whether the total difficulty of a block is none, whatever its node gave.
    #[must_use]
    pub fn is_left_out(&self, link: Link) -> bool {
        let of = |total| difficulties(link, self.below(link), total);
        link.total_difficulty.and_then(of).is_some_and(|of| link.difficulty_rule.is_left_out(of))
    }

    /// The sum up to the block below, where a block adds nothing to it.
    #[must_use]
    pub fn unchanged_sum(&self, link: Link) -> Option<U256> {
        let is_same = link.difficulty_rule == TotalDifficulty::Sum && link.difficulty == Some(U256::ZERO);
        self.below(link).filter(|_| is_same)?.total_difficulty
    }

    fn below(&self, link: Link) -> Option<Tip> {
        link.number.checked_sub(1).and_then(|below| self.tip(below))
    }

    fn tip(&self, number: u64) -> Option<Tip> {
        match self.last {
            Some((last, tip)) if last == number => Some(tip),
            _ => self.tips.get(&number).copied(),
        }
    }
}

/// Checks that what is committed fits together where `range` begins and ends: runs that load beside each other cannot
/// know the blocks of the others before.
///
/// # Errors
///
/// If a block has another parent than the block below it.
pub fn check_seams(edges: &[CommitEdges], range: BlockRange) -> Result<(), VerifyError> {
    let seams = [range.first().checked_sub(1), Some(range.last())].into_iter().flatten();
    for below in seams {
        let tip = edges.iter().find(|edge| edge.last_block == below);
        let above = edges.iter().find(|edge| edge.first_block.checked_sub(1) == Some(below));
        let (Some(tip), Some(above)) = (tip, above.filter(|edge| !edge.first_parent_hash.is_zero())) else { continue };
        if tip.last_hash != above.first_parent_hash {
            return Err(VerifyError {
                number: above.first_block,
                check: Check::ParentHash,
                expected: tip.last_hash.to_string(),
                found: above.first_parent_hash.to_string(),
            });
        }
    }
    Ok(())
}

/// The difficulties of a block with a total one; `None` if that of the block below is not known.
fn difficulties(link: Link, below: Option<Tip>, total: U256) -> Option<Difficulties> {
    let total_below = if link.number == 0 { U256::ZERO } else { below?.total_difficulty? };
    let below = below.and_then(|below| below.difficulty);
    Some(Difficulties { number: link.number, below, total_below, own: link.difficulty, total })
}

fn check_total_difficulty(link: Link, below: Option<Tip>, outcome: &mut Outcome) -> Result<(), VerifyError> {
    let Some(found) = link.total_difficulty else { return Ok(()) };
    let Some(of) = difficulties(link, below, found) else {
        outcome.not_checkable(Check::TotalDifficulty, "that of the block below is not known");
        return Ok(());
    };
    match link.difficulty_rule.judge(of) {
        SumFit::Fits => outcome.passed(Check::TotalDifficulty),
        SumFit::Unknown(reason) => outcome.not_checkable(Check::TotalDifficulty, reason),
        SumFit::Differs => {
            let expected = of.total_below.wrapping_add(link.difficulty.unwrap_or_default());
            let (number, check) = (link.number, Check::TotalDifficulty);
            return Err(VerifyError { number, check, expected: expected.to_string(), found: found.to_string() });
        }
    }
    Ok(())
}

fn same<T: PartialEq + ToString>(link: Link, check: Check, expected: &T, found: &T) -> Result<(), VerifyError> {
    if expected == found {
        return Ok(());
    }
    Err(VerifyError { number: link.number, check, expected: expected.to_string(), found: found.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of one chain: each hash is its height, and that of the parent one less.
    fn link(number: u64) -> Link {
        let hash = |number: u64| B256::from(U256::from(number + 1));
        Link {
            number,
            hash: hash(number),
            parent_hash: Some(number.checked_sub(1).map_or(B256::ZERO, hash)),
            difficulty: Some(U256::from(1)),
            total_difficulty: Some(U256::from(number + 1)),
            difficulty_rule: TotalDifficulty::Sum,
        }
    }

    fn check(order: &[u64], other: Option<u64>) -> Result<Links, Check> {
        let mut links = Links::new(&[]);
        for number in order {
            let mut link = link(*number);
            if other == Some(*number) {
                link.hash = B256::repeat_byte(0x12);
            }
            links.check(link, &mut Outcome::default()).map_err(|error| error.check)?;
        }
        Ok(links)
    }

    #[test]
    fn seams_within_a_load_are_checked_in_any_order() {
        for order in [&[4, 5, 6, 1, 2, 3][..], &[1, 2, 3, 4, 5, 6], &[6, 5, 4, 3, 2, 1], &[1, 3, 5, 2, 4, 6]] {
            assert!(check(order, None).is_ok(), "{order:?}");
            assert!(check(order, Some(3)).is_err(), "{order:?}: block 4 names another parent");
        }
        assert_eq!(check(&[4, 5, 1, 2, 3], Some(3)).err(), Some(Check::ChildLink));
        assert_eq!(check(&[1, 2, 3, 7, 4], Some(3)).err(), Some(Check::ParentHash));
    }

    /// OP Mainnet up to block 105,235,062 and since.
    #[test]
    fn total_difficulty_ends_where_other_software_took_over() {
        let above = |below: u64, family: &Family, difficulty: u64, total: u64| -> Result<(), Check> {
            let mut links = Links::new(&[]);
            let below =
                Link { difficulty: Some(U256::from(below)), difficulty_rule: family.total_difficulty, ..link(7) };
            links.check(below, &mut Outcome::default()).expect("the first block");
            let (difficulty, total) = (Some(U256::from(difficulty)), Some(U256::from(total)));
            let next = Link { difficulty, total_difficulty: total, number: 8, ..below };
            let next = Link { hash: link(8).hash, parent_hash: link(8).parent_hash, ..next };
            let mut outcome = Outcome::default();
            links.check(next, &mut outcome).map_err(|error| error.check)?;
            let is_named = !outcome.checked().contains(&Check::TotalDifficulty.name().to_owned());
            let keeps_none = difficulty == Some(U256::ZERO) && total == difficulty && family.name == "ethereum";
            assert_eq!(is_named, keeps_none, "{outcome:?}");
            Ok(())
        };
        let fits = |family: &Family, difficulty: u64, total: u64| above(1, family, difficulty, total);
        let wrong = Err(Check::TotalDifficulty);
        for family in [&trawl_chains::ETHEREUM, trawl_chains::by_chain_id(10), trawl_chains::by_chain_id(5000)] {
            assert_eq!(fits(family, 2, 10), Ok(()), "{}: the sum", family.name);
            assert_eq!(fits(family, 0, 8), Ok(()), "{}: the sum of nothing", family.name);
            assert_eq!(fits(family, 0, 0), Ok(()), "{}: it ends, or is not kept", family.name);
            let has_ended = if family.name == "ethereum" { Ok(()) } else { wrong };
            assert_eq!(above(0, family, 0, 0), has_ended, "{}: it has ended before", family.name);
            assert_eq!(fits(family, 2, 0), wrong, "{}: a difficulty", family.name);
            assert_eq!(fits(family, 0, 3), wrong, "{}: a smaller sum", family.name);
        }
    }

    /// Above a committed range, whose last block's own difficulty is not at hand.
    #[test]
    fn a_total_difficulty_that_falls_to_nothing_is_not_passed_unseen() {
        let committed = CommitEdges {
            first_block: 0,
            first_parent_hash: B256::ZERO,
            last_block: 7,
            last_hash: link(7).hash,
            last_total_difficulty: Some(U256::from(8)),
        };
        let above = |family: &Family, difficulty: Option<u64>, total: u64| -> Result<bool, Check> {
            let mut links = Links::new(std::slice::from_ref(&committed));
            let (difficulty, total_difficulty) = (difficulty.map(U256::from), Some(U256::from(total)));
            let next = Link { difficulty, total_difficulty, difficulty_rule: family.total_difficulty, ..link(8) };
            let mut outcome = Outcome::default();
            links.check(next, &mut outcome).map_err(|error| error.check)?;
            Ok(outcome.checked().contains(&Check::TotalDifficulty.name().to_owned()))
        };
        let (ethereum, optimism) = (&trawl_chains::ETHEREUM, trawl_chains::by_chain_id(10));
        let wrong = Err(Check::TotalDifficulty);
        assert_eq!((above(ethereum, Some(0), 8), above(optimism, Some(0), 8)), (Ok(true), Ok(true)));
        assert_eq!((above(ethereum, Some(0), 0), above(optimism, Some(0), 0)), (Ok(false), Ok(false)), "named");
        assert_eq!((above(optimism, Some(0), 3), above(optimism, Some(2), 0)), (wrong, wrong));
        // Columnar files may have the sum without the difficulty.
        assert_eq!((above(ethereum, None, 11), above(optimism, None, 0)), (Ok(false), Ok(false)), "named");
    }

    /// Nodes that keep no total difficulty beside those that do, whose sum no longer changes.
    #[test]
    fn a_node_that_keeps_no_total_difficulty_may_be_changed() {
        let mut links = Links::new(&[]);
        links.check(link(7), &mut Outcome::default()).expect("the first block");
        let above = |number: u64, total: Option<u64>| Link {
            difficulty: Some(U256::ZERO),
            total_difficulty: total.map(U256::from),
            ..link(number)
        };
        for (number, total, is_left_out) in
            [(8, Some(0), true), (9, Some(0), true), (10, None, false), (11, Some(8), false), (12, Some(0), true)]
        {
            let next = above(number, total);
            assert_eq!(links.is_left_out(next), is_left_out, "{number}");
            assert_eq!(links.unchanged_sum(next), Some(U256::from(8)), "{number}");
            links.check(next, &mut Outcome::default()).expect("it fits");
        }
        let refused = links.check(above(13, Some(7)), &mut Outcome::default()).expect_err("a smaller sum");
        assert_eq!(refused.check, Check::TotalDifficulty);
        // Where the first block has 0, another node may know better.
        let mut links = Links::new(&[]);
        links.check(above(7, Some(0)), &mut Outcome::default()).expect("the first block");
        links.check(above(8, Some(8)), &mut Outcome::default()).expect("named");
    }

    #[test]
    fn seams_of_committed_ranges_are_checked() {
        let edge = |first: u64, last: u64, parent: u8, hash: u8| CommitEdges {
            first_block: first,
            first_parent_hash: B256::repeat_byte(parent),
            last_block: last,
            last_hash: B256::repeat_byte(hash),
            last_total_difficulty: None,
        };
        let range = |first, last| BlockRange::new(first, last).expect("a range");
        let fits = |edges: &[CommitEdges], range| check_seams(edges, range).map_err(|error| error.number);
        let (low, middle, high) = (edge(0, 9, 0, 1), edge(10, 19, 1, 2), edge(20, 29, 3, 4));
        assert_eq!(fits(&[low.clone(), middle.clone(), high.clone()], range(0, 9)), Ok(()));
        assert_eq!(fits(&[high.clone(), middle.clone(), low.clone()], range(10, 19)), Err(20), "above");
        assert_eq!(fits(&[high.clone(), middle.clone(), low.clone()], range(20, 29)), Err(20), "below");
        assert_eq!(fits(&[middle, high], range(0, 9)), Ok(()), "nothing is there yet");
        assert_eq!(fits(&[low, edge(10, 19, 0, 2)], range(10, 19)), Ok(()), "the source had no parent hash");
    }

    #[test]
    fn what_both_sides_of_have_come_is_forgotten() {
        let descending: Vec<u64> = (1..1000).rev().collect();
        let links = check(&descending, None).expect("they fit");
        assert!(links.tips.len() + links.parents.len() <= 2, "{links:?}");
    }
}
