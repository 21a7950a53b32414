//! `module=block&action=getblocknobytime`: a search among the heights, whose times never fall.

use std::collections::BTreeSet;

use axum::response::Response;

use super::answer::{Refused, result};
use super::params::Params;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp};
use trawl_core::store::Head;

/// Blocks of one step: of 2^24 blocks four steps are left.
const PROBES: u64 = 64;

/// The block closest to a time, on one side of it.
pub(super) async fn closest(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    params.required("timestamp")?;
    let seconds = params.number("timestamp")?.unwrap_or_default();
    let time = Timestamp::from_seconds(seconds).map_err(|_| Refused::Sentence("Invalid timestamp".into()))?;
    let number = match params.required("closest")?.to_ascii_lowercase().as_str() {
        "before" => before(app, head, time).await?,
        "after" => after(app, head, time).await?,
        _ => return Err(Refused::Sentence("Invalid closest: use 'before' or 'after'".into())),
    };
    let number = number.ok_or_else(|| Refused::Sentence("No closest block found".into()))?;
    Ok(result(|writer| match params.text("chainid") {
        Some(_) => writer.decimal(number),
        None => writer.object(|block| block.key("blockNumber").decimal(number)),
    }))
}

/// The highest block at or before a time.
///
/// # Errors
///
/// When blocks are not loaded among which it may be.
pub(super) async fn before(app: &App, head: &Head, time: Timestamp) -> Result<Option<BlockNumber>, Problem> {
    let blocks = Heights::of(head);
    let place = blocks.first_above(app, head, time.micros()).await?;
    blocks.require_whole_at(place)?;
    Ok(place.checked_sub(1).and_then(|place| blocks.height(place)))
}

/// The lowest block at or after a time.
///
/// # Errors
///
/// When blocks are not loaded among which it may be.
pub(super) async fn after(app: &App, head: &Head, time: Timestamp) -> Result<Option<BlockNumber>, Problem> {
    let blocks = Heights::of(head);
    let place = blocks.first_above(app, head, time.micros().saturating_sub(1)).await?;
    blocks.require_whole_at(place)?;
    Ok(blocks.height(place))
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

    fn height(&self, mut place: u64) -> Option<BlockNumber> {
        for range in self.0 {
            if place < range.count() {
                return Some(range.first() + place);
            }
            place -= range.count();
        }
        None
    }

    /// Refuses a place where blocks are not loaded between its block and the one below.
    fn require_whole_at(&self, place: u64) -> Result<(), Problem> {
        let lowest = place.checked_sub(1).and_then(|below| self.height(below)).map_or(0, |below| below + 1);
        let Some(height) = self.height(place) else { return Ok(()) };
        match height.checked_sub(1).and_then(|last| BlockRange::new(lowest, last)) {
            Some(missing) => Err(Problem::BlocksMissing(vec![missing])),
            None => Ok(()),
        }
    }

    /// The place of the first block whose time is above; the count of blocks if none is.
    async fn first_above(&self, app: &App, head: &Head, micros: i64) -> Result<u64, Problem> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let step = (high - low).div_ceil(PROBES);
            let places: Vec<u64> = (low..high).step_by(usize::try_from(step).unwrap_or(usize::MAX)).collect();
            let heights: Vec<BlockNumber> = places.iter().filter_map(|place| self.height(*place)).collect();
            let wanted: BTreeSet<BlockNumber> = heights.iter().copied().collect();
            let rows = app.reader().rows(&trawl_query::blocks::times(&wanted, &head.blocks.span())).await?;
            let is_above = |height: &BlockNumber| {
                rows.iter().any(|row| row.block_number == *height && row.timestamp.micros() > micros)
            };
            let below = heights.iter().take_while(|height| !is_above(height)).count();
            high = places.get(below).copied().unwrap_or(high);
            low = below.checked_sub(1).and_then(|last| places.get(last)).map_or(low, |last| last + 1);
        }
        Ok(high)
    }
}
