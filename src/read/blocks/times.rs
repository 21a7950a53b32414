//! Blocks by time: a search among the heights, whose times never fall.

use std::collections::BTreeSet;

use crate::app::App;
use crate::error::Problem;
use crate::http::periods::TimeRange;
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp};
use trawl_core::store::Head;

/// Blocks of one step: of 2^24 blocks four steps are left.
const PROBES: u64 = 64;

/// The highest block at or before a time.
///
/// # Errors
///
/// When blocks are not loaded among which it may be.
pub(crate) async fn before(app: &App, head: &Head, time: Timestamp) -> Result<Option<BlockNumber>, Problem> {
    let blocks = Heights::of(head);
    let position = blocks.first_above(app, head, time.micros()).await?;
    blocks.require_whole_at(position)?;
    Ok(position.checked_sub(1).and_then(|position| blocks.height(position)))
}

/// The lowest block at or after a time.
///
/// # Errors
///
/// When blocks are not loaded among which it may be.
pub(crate) async fn after(app: &App, head: &Head, time: Timestamp) -> Result<Option<BlockNumber>, Problem> {
    let blocks = Heights::of(head);
    let position = blocks.first_above(app, head, time.micros().saturating_sub(1)).await?;
    blocks.require_whole_at(position)?;
    Ok(blocks.height(position))
}

/// The blocks of a time; `None` if there are none. Where the time is open, they go from 0 or to the highest number.
///
/// # Errors
///
/// When blocks are not loaded among which they may be.
pub(crate) async fn within(app: &App, head: &Head, time: TimeRange) -> Result<Option<BlockRange>, Problem> {
    let first = match time.start {
        Some(start) => after(app, head, start).await?,
        None => Some(0),
    };
    let last = match time.end {
        Some(end) => before(app, head, end).await?,
        None => Some(BlockNumber::MAX),
    };
    Ok(first.zip(last).and_then(|(first, last)| BlockRange::new(first, last)))
}

/// The heights of the readable blocks, numbered from the lowest.
struct Heights<'h>(&'h [BlockRange]);

impl<'h> Heights<'h> {
    fn of(head: &'h Head) -> Self {
        Self(head.blocks.ranges())
    }

    fn count(&self) -> u64 {
        self.0.iter().map(|range| range.count()).sum()
    }

    fn height(&self, mut position: u64) -> Option<BlockNumber> {
        for range in self.0 {
            if position < range.count() {
                return Some(range.first() + position);
            }
            position -= range.count();
        }
        None
    }

    /// Refuses a position where blocks are not loaded between its block and the one below.
    fn require_whole_at(&self, position: u64) -> Result<(), Problem> {
        let lowest = position.checked_sub(1).and_then(|below| self.height(below)).map_or(0, |below| below + 1);
        let Some(height) = self.height(position) else { return Ok(()) };
        match height.checked_sub(1).and_then(|last| BlockRange::new(lowest, last)) {
            Some(missing) => Err(Problem::BlocksMissing(vec![missing])),
            None => Ok(()),
        }
    }

    /// The position of the first block whose time is above; the count of blocks if none is.
    async fn first_above(&self, app: &App, head: &Head, micros: i64) -> Result<u64, Problem> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let step = (high - low).div_ceil(PROBES);
            let positions: Vec<u64> = (low..high).step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect();
            let heights: Vec<BlockNumber> = positions.iter().filter_map(|position| self.height(*position)).collect();
            let numbers: BTreeSet<BlockNumber> = heights.iter().copied().collect();
            let rows = app.reader().rows(&trawl_query::blocks::times(&numbers, &head.blocks.span())).await?;
            let is_above = |height: &BlockNumber| {
                rows.iter().any(|row| row.block_number == *height && row.timestamp.micros() > micros)
            };
            let below = heights.iter().take_while(|height| !is_above(height)).count();
            high = positions.get(below).copied().unwrap_or(high);
            low = below.checked_sub(1).and_then(|last| positions.get(last)).map_or(low, |last| last + 1);
        }
        Ok(high)
    }
}
