//! The blocks of a scan, and which of them are readable.

use crate::app::App;
use crate::error::Problem;
use crate::http::values::BlockName;
use crate::http::values::invalid;
use crate::options::Gaps;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::readable::{Readable, Span};
use trawl_core::store::Head;
use trawl_query::scan::Part;

/// The blocks that a request names: each end the head if it is not given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RangeEnds {
    pub from: Option<BlockName>,
    pub to: Option<BlockName>,
}

impl RangeEnds {
    /// The ends of a range.
    pub fn of(range: BlockRange) -> Self {
        Self { from: Some(BlockName::Number(range.first())), to: Some(BlockName::Number(range.last())) }
    }
}

/// The blocks of a scan.
#[derive(Debug, Default)]
pub(crate) struct Extent {
    /// The whole range; `None` if a block name at one end means no block yet.
    pub range: Option<BlockRange>,
    /// Ranges that are not indexed; empty unless the options allow gaps.
    pub missing: Vec<BlockRange>,
    /// The readable blocks of the range.
    pub blocks: Span,
}

impl Extent {
    /// The blocks from one end to the other, as far as `part` of them is readable.
    ///
    /// # Errors
    ///
    /// When the range is wrong, or, unless the options allow gaps, when blocks of it are missing: a short answer would
    /// look like a complete one.
    pub fn between(app: &App, RangeEnds { from, to }: RangeEnds, head: &Head, part: Part) -> Result<Self, Problem> {
        let Some(newest) = head.number() else { return Ok(Self::default()) };
        let (first, last) = (from.unwrap_or(BlockName::Head).number(head), to.unwrap_or(BlockName::Head).number(head));
        // A name that means no block: nothing is final yet.
        let (Some(first), Some(last)) = (first, last) else { return Ok(Self::default()) };
        let range = BlockRange::new(first, last).ok_or_else(|| invalid("invalid block range params"))?;
        if last > newest {
            return Err(invalid("block range extends beyond current head block"));
        }
        let readable = readable(head, part);
        let mut missing = readable.missing(range);
        if part == Part::Traces && head.blocks.contains(0) {
            // No transaction runs in the genesis block, so nodes return no trace of it.
            let after_genesis = BlockRange::new(1, BlockNumber::MAX);
            missing = missing.into_iter().filter_map(|range| range.intersection(after_genesis?)).collect();
        }
        if !missing.is_empty() && app.options().gaps == Gaps::Refuse {
            return Err(match part {
                Part::Traces => Problem::TracesMissing(missing),
                Part::Blocks | Part::Receipts => Problem::BlocksMissing(missing),
            });
        }
        Ok(Self { range: Some(range), missing, blocks: readable.within(range) })
    }
}

/// The blocks of which a part is readable.
pub(crate) fn readable(head: &Head, part: Part) -> &Readable {
    match part {
        Part::Blocks => &head.blocks,
        Part::Receipts => &head.receipts,
        Part::Traces => &head.traces,
    }
}
