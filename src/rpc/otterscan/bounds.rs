//! The blocks that a search covers: those from its start to the first one with missing data.

use crate::error::Problem;
use crate::options::Gaps;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::store::Head;
use trawl_query::transactions::participation::{End, ParticipationQuery};

/// The blocks of a search.
#[derive(Debug)]
pub(super) struct Bounds {
    /// The blocks that are searched.
    range: BlockRange,
    /// The problem where they end before the chain does. What lies beyond is unknown then.
    pub missing: Option<Problem>,
}

impl Bounds {
    /// The part of `range` that can be searched from the end `from` on without skipping a block. With [`Gaps::Serve`]
    /// all of it.
    ///
    /// # Errors
    ///
    /// [`Problem::BlocksMissing`] or [`Problem::TracesMissing`] if that is no block.
    pub fn of(head: &Head, range: BlockRange, from: End, gaps: Gaps) -> Result<Self, Problem> {
        let all = Self { range, missing: None };
        if gaps == Gaps::Serve {
            return Ok(all);
        }
        let blocks = head.receipts.missing(range);
        let traces = after_genesis(head.traces.missing(range));
        let edge = |missing: &[BlockRange]| match from {
            End::Newest => missing.last().map(|range| range.last()),
            End::Oldest => missing.first().map(|range| range.first()),
        };
        let nearest = [edge(&blocks), edge(&traces)].into_iter().flatten();
        let nearest = match from {
            End::Newest => nearest.max(),
            End::Oldest => nearest.min(),
        };
        let Some(nearest) = nearest else { return Ok(all) };
        let problem = if blocks.is_empty() { Problem::TracesMissing(traces) } else { Problem::BlocksMissing(blocks) };
        match beyond(range, nearest, opposite(from)) {
            Some(range) => Ok(Self { range, missing: Some(problem) }),
            None => Err(problem),
        }
    }

    /// The search of these blocks.
    pub fn searched(&self, head: &Head) -> ParticipationQuery {
        searched(head, self.range)
    }

    /// The search of the blocks beyond `block`.
    pub fn searched_beyond(&self, block: BlockNumber, from: End, head: &Head) -> ParticipationQuery {
        beyond(self.range, block, from).map_or_else(ParticipationQuery::default, |range| searched(head, range))
    }
}

/// The search of a range.
pub(super) fn searched(head: &Head, range: BlockRange) -> ParticipationQuery {
    ParticipationQuery { transactions: head.receipts.within(range), frames: head.traces.within(range) }
}

/// The blocks of a range that follow `block` when it is read from one end.
fn beyond(range: BlockRange, block: BlockNumber, from: End) -> Option<BlockRange> {
    match from {
        End::Newest => BlockRange::new(range.first(), block.checked_sub(1)?.min(range.last())),
        End::Oldest => BlockRange::new(block.checked_add(1)?.max(range.first()), range.last()),
    }
}

fn opposite(end: End) -> End {
    match end {
        End::Newest => End::Oldest,
        End::Oldest => End::Newest,
    }
}

/// No transaction runs in the genesis block, so nodes return no trace of it.
fn after_genesis(missing: Vec<BlockRange>) -> Vec<BlockRange> {
    let later = BlockRange::new(1, BlockNumber::MAX);
    missing.into_iter().filter_map(|range| range.intersection(later?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::Coverage;
    use trawl_core::readable::Readable;

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    fn head(receipts: &[BlockRange], traces: &[BlockRange]) -> Head {
        let readable = |ranges: &[BlockRange]| Readable::new(ranges.iter().copied().collect::<Coverage>(), &[]);
        let mut head = Head::default();
        (head.receipts, head.traces) = (readable(receipts), readable(traces));
        head
    }

    #[test]
    fn a_search_ends_where_something_is_missing() {
        let head = head(&[range(0, 20), range(30, 90)], &[range(1, 20), range(40, 90)]);
        let of = |blocks, from| Bounds::of(&head, blocks, from, Gaps::Refuse);
        let newest = of(range(0, 90), End::Newest).expect("blocks");
        assert_eq!((newest.range, newest.missing), (range(40, 90), Some(Problem::BlocksMissing(vec![range(21, 29)]))));
        let oldest = of(range(0, 90), End::Oldest).expect("blocks");
        assert_eq!(oldest.range, range(0, 20));
        assert_eq!(of(range(0, 20), End::Newest).expect("blocks").missing, None);
        assert_eq!(of(range(35, 39), End::Newest).err(), Some(Problem::TracesMissing(vec![range(35, 39)])));
        let all = Bounds::of(&head, range(0, 90), End::Newest, Gaps::Serve).expect("blocks");
        assert_eq!((all.range, all.missing), (range(0, 90), None));
    }

    #[test]
    fn blocks_beyond_another_are_those_not_read_yet() {
        assert_eq!(beyond(range(5, 9), 7, End::Newest), Some(range(5, 6)));
        assert_eq!(beyond(range(5, 9), 5, End::Newest), None);
        assert_eq!(beyond(range(5, 9), 7, End::Oldest), Some(range(8, 9)));
        assert_eq!(beyond(range(5, 9), 9, End::Oldest), None);
        assert_eq!(beyond(range(0, 9), 0, End::Newest), None);
    }
}
