//! Committed ranges by part, and what may have changed between two reads of them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::primitives::{BlockRange, Coverage};
use crate::schema::columns::columns;
use crate::schema::{BlockPart, Column};
use crate::statement::Statement;
use crate::store::client::connection::Batch;

/// Committed ranges by part.
pub(crate) type CommittedRanges = Arc<HashMap<BlockPart, Coverage>>;

columns! {
    pub struct IslandRow / IslandView {
        part: String,
        first_block: u64,
        last_block: u64,
    }
}

/// Reads the committed ranges of every part at once, so that they are consistent.
pub(crate) fn committed_ranges() -> Statement<IslandRow> {
    Statement::page(include_str!("../../../../../sql/queries/coverage.sql"))
}

/// The committed ranges by part.
pub(crate) fn committed_of(rows: &[Batch<IslandRow>]) -> CommittedRanges {
    let mut parts: HashMap<BlockPart, Vec<BlockRange>> = HashMap::new();
    for batch in rows {
        let view = batch.view();
        for row in 0..batch.len() {
            let Some(part) = BlockPart::from_name(String::get(&view.part, row)) else { continue };
            let ranges = parts.entry(part).or_default();
            ranges.extend(BlockRange::new(view.first_block[row], view.last_block[row]));
        }
    }
    Arc::new(parts.into_iter().map(|(part, ranges)| (part, Coverage::from_iter(ranges))).collect())
}

/// The blocks of which `there` lacks parts that are `expected`.
pub(crate) fn lacking(expected: &CommittedRanges, there: &CommittedRanges) -> Coverage {
    let none = Coverage::default();
    let lacking = expected.iter().map(|(part, ranges)| ranges.without(there.get(part).unwrap_or(&none)));
    lacking.flat_map(|ranges| ranges.ranges().to_vec()).collect()
}

/// Whether all that was committed since is of blocks of which nothing was, and nothing was taken back.
pub(crate) fn only_new_blocks(before: &CommittedRanges, now: &CommittedRanges) -> bool {
    if Arc::ptr_eq(before, now) {
        return true;
    }
    let any: Coverage = before.values().flat_map(Coverage::ranges).copied().collect();
    let is_new = |range: &BlockRange| any.within(*range).is_empty();
    let none = Coverage::default();
    let grew = |(part, ranges): (&BlockPart, &Coverage)| {
        let before = before.get(part).unwrap_or(&none);
        ranges.without(before).ranges().iter().all(is_new)
    };
    let is_there = |(part, ranges): (&BlockPart, &Coverage)| ranges.without(now.get(part).unwrap_or(&none)).is_empty();
    now.iter().all(grew) && before.iter().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use BlockPart::{Blocks, Receipts, Traces};

    fn committed(parts: &[(BlockPart, &[(u64, u64)])]) -> CommittedRanges {
        let ranges = |ranges: &[(u64, u64)]| -> Coverage {
            ranges.iter().filter_map(|(first, last)| BlockRange::new(*first, *last)).collect()
        };
        Arc::new(parts.iter().map(|(part, all)| (*part, ranges(all))).collect())
    }

    #[test]
    fn what_another_address_lacks_is_counted_once() {
        let expected = committed(&[(Blocks, &[(0, 9), (20, 29)]), (Receipts, &[(0, 9)])]);
        let lacks = |there: &[(BlockPart, &[(u64, u64)])]| lacking(&expected, &committed(there));
        assert!(lacks(&[(Blocks, &[(0, 39)]), (Receipts, &[(0, 9)])]).is_empty(), "more is no fault");
        assert_eq!(lacks(&[(Blocks, &[(0, 7)])]).ranges().len(), 2);
        assert_eq!(lacks(&[]).ranges().iter().copied().map(BlockRange::count).sum::<u64>(), 20);
    }

    #[test]
    fn rows_stay_whole_while_only_new_blocks_are_committed() {
        let before = committed(&[(Blocks, &[(0, 9), (20, 29)]), (Receipts, &[(0, 9)])]);
        let whole = |now: &[(BlockPart, &[(u64, u64)])]| only_new_blocks(&before, &committed(now));
        assert!(whole(&[(Blocks, &[(0, 9), (20, 29)]), (Receipts, &[(0, 9)])]));
        assert!(whole(&[(Blocks, &[(0, 39)]), (Receipts, &[(0, 19), (30, 39)])]), "a hole is filled");
        assert!(!whole(&[(Blocks, &[(0, 9), (20, 29)]), (Receipts, &[(0, 9), (20, 29)])]), "a part comes later");
        assert!(!whole(&[(Blocks, &[(0, 8), (20, 29)]), (Receipts, &[(0, 9)])]), "a block is taken back");
        assert!(!whole(&[(Blocks, &[(0, 9), (20, 29)])]), "a part is gone");
        let traced: &[(BlockPart, &[(u64, u64)])] =
            &[(Blocks, &[(0, 9), (20, 29)]), (Receipts, &[(0, 9)]), (Traces, &[(5, 9)])];
        assert!(!whole(traced), "another part of blocks that were there");
    }
}
