//! The query of an activity chart: the blocks of some days, whose rows are added up by periods.

use std::collections::BTreeMap;

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::periods::time_range;
use crate::http::query::Query;
use crate::http::whole_body::json;
use crate::read::blocks::times;
use crate::read::days::Days;
use trawl_core::calendar::Period;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage, Timestamp};
use trawl_core::readable::{Readable, Span};
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::activity::{CalendarPeriod, DayRange, Sums, write_points, write_points_up_to};
use trawl_query::stats::charts::{MAX_GROUPS, MAX_NEWEST};

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// The query of an activity chart.
pub(super) struct ActivityQuery {
    resolution: Period,
    /// The first and the last day, where given.
    days: (Option<u64>, Option<u64>),
    /// The readable blocks of these days.
    pub span: Span,
    /// Whether these are all their blocks, up to the newest one.
    pub is_complete: bool,
    /// The days of all readable blocks.
    known: Days,
    /// Which blocks are readable.
    readable: Readable,
}

/// The requested settled blocks.
pub(super) struct SettledPeriods {
    /// The first day of each period, and the first block.
    pub starts: Vec<(u64, BlockNumber)>,
    /// Blocks of the periods before the newest one.
    pub over: Vec<BlockRange>,
    /// Blocks of the newest one, up to a height that stays for a while as a chain grows.
    pub newest: Vec<BlockRange>,
}

impl SettledPeriods {
    /// The first block of each period, ascending.
    pub fn blocks(&self) -> Vec<BlockNumber> {
        self.starts.iter().map(|(_, start)| *start).collect()
    }

    /// The periods that are over and of which all blocks are requested, ascending.
    pub fn complete(&self) -> Vec<BlockRange> {
        let over: Coverage = self.over.iter().copied().collect();
        let period = |pair: &[(u64, BlockNumber)]| BlockRange::new(pair[0].1, pair[1].1.checked_sub(1)?);
        let periods = self.starts.windows(2).filter_map(period);
        periods.filter(|range| over.missing(*range).is_empty()).collect()
    }

    /// The same without some blocks of the periods that are over.
    pub fn without(self, blocks: &Coverage) -> Self {
        let over: Coverage = self.over.into_iter().collect();
        Self { over: over.without(blocks).ranges().to_vec(), ..self }
    }

    /// The first day of the period that starts with a block.
    pub fn day(&self, start: BlockNumber) -> Option<u64> {
        let at = self.starts.binary_search_by_key(&start, |(_, start)| *start).ok()?;
        self.starts.get(at).map(|(day, _)| *day)
    }
}

impl ActivityQuery {
    pub async fn read(app: &App, head: &Head, query: &Query, readable: &Readable) -> Result<Self, Problem> {
        let time = time_range(query, "from", "to")?;
        let resolution = query.name("resolution").and_then(Period::named).unwrap_or(Period::Day);
        let newest = head.number().unwrap_or_default();
        let range = times::within(app, head, time).await?;
        let range = range.and_then(|range| BlockRange::new(range.first(), range.last().min(newest)));
        let span = range.map(|range| readable.within(range));
        // In the genesis nothing happens.
        let happened = range.and_then(|range| BlockRange::new(range.first().max(1), range.last()));
        let is_complete = happened.is_none_or(|range| readable.missing(range).is_empty());
        let days = (time.start.map(day), time.end.map(day));
        let known = app.days(head).await?;
        Ok(Self { resolution, days, span: span.unwrap_or_default(), is_complete, known, readable: readable.clone() })
    }

    /// The first day of the period that a day is in.
    pub fn period(&self, day: u64) -> u64 {
        self.resolution.first_of(day)
    }

    /// The rows of a statement that groups settled blocks: of nearly all of them by one that stays the same for a while
    /// as a chain grows, so that its rows are cached, and of the rest by another.
    pub async fn sums<R: Columns + 'static>(
        &self,
        app: &App,
        head: &Head,
        grouped: impl Fn(&[BlockRange]) -> Statement<R>,
    ) -> Result<Vec<R>, Problem> {
        let (older, newer) = parted(&self.span.settled);
        let (older, newer) = (grouped(&older), grouped(&newer));
        let (mut rows, more) = tokio::try_join!(app.values_of(head, &older), app.values_of(head, &newer))?;
        if rows.len().max(more.len()) as u64 >= MAX_GROUPS {
            return Err(too_much());
        }
        rows.extend(more);
        Ok(rows)
    }

    /// The rows of blocks that are not settled.
    pub async fn newest<R: Columns>(&self, app: &App, read: impl Fn(&Span) -> Statement<R>) -> Result<Vec<R>, Problem> {
        let rows = app.reader().rows(&read(&self.span.without_settled())).await?;
        if rows.len() as u64 >= MAX_NEWEST { Err(too_much()) } else { Ok(rows) }
    }

    /// The requested settled blocks, by period.
    pub fn settled_periods(&self) -> SettledPeriods {
        let settled = &self.span.settled;
        let last = settled.last().map_or(0, |range| range.last());
        let mut starts: BTreeMap<u64, BlockNumber> = BTreeMap::new();
        for (day, blocks) in self.known.blocks(0..=u64::MAX) {
            if blocks.first() <= last {
                starts.entry(self.period(day)).or_insert(blocks.first());
            }
        }
        let starts: Vec<(u64, BlockNumber)> = starts.into_iter().collect();
        let newest = starts.last().map_or(0, |(_, start)| *start);
        let over = newest.checked_sub(1).map(|last| cut(settled, 0, last)).unwrap_or_default();
        let first = settled.first().map_or(0, |range| range.first());
        let first_start = starts.partition_point(|(_, start)| *start <= first).saturating_sub(1);
        SettledPeriods {
            starts: starts[first_start..].to_vec(),
            over,
            newest: parted(&cut(settled, newest, u64::MAX)).0,
        }
    }

    /// The requested settled blocks, up to a height that stays for a while as a chain grows.
    pub fn steady(&self) -> Vec<BlockRange> {
        parted(&self.span.settled).0
    }

    /// The answer with these points, by the first day of their periods.
    pub fn answer<S: Sums>(&self, points: Vec<(u64, S)>) -> Response {
        let loaded = self.loaded(&points, u64::MAX);
        json(write_points(self.resolution, &self.stretches(points, u64::MAX), &loaded))
    }

    /// The same of points that are sums of no block above `last`.
    pub fn answer_up_to<S: Sums>(&self, last: Option<BlockNumber>, points: Vec<(u64, S)>) -> Response {
        let loaded = self.loaded(&points, last.unwrap_or(0));
        json(write_points_up_to(self.resolution, &self.stretches(points, last.unwrap_or(0)), &loaded, last))
    }

    /// The complete periods from that of the first point on, those that follow one another as one: where they have no
    /// point, there was nothing.
    fn loaded<S>(&self, points: &[(u64, S)], counted: BlockNumber) -> Vec<DayRange> {
        let mut loaded: Vec<DayRange> = Vec::new();
        let Some(newest) = self.known.newest() else { return loaded };
        let mut next = points.iter().map(|(first, _)| *first).min();
        while let Some(first) = next.filter(|first| *first <= newest) {
            let period = self.stretch(first, counted);
            next = Some(period.last + 1);
            if !period.is_complete {
                continue;
            }
            match loaded.last_mut().filter(|range| range.last + 1 == period.first) {
                Some(range) => range.last = period.last,
                None => loaded.push(DayRange { first: period.first, last: period.last }),
            }
        }
        loaded
    }

    fn stretches<S: Sums>(&self, points: Vec<(u64, S)>, last: BlockNumber) -> Vec<(CalendarPeriod, S)> {
        let mut known: BTreeMap<u64, CalendarPeriod> = BTreeMap::new();
        let mut stretch = |first| *known.entry(first).or_insert_with(|| self.stretch(first, last));
        points.into_iter().map(|(first, sums)| (stretch(first), sums)).collect()
    }

    fn stretch(&self, first: u64, counted: BlockNumber) -> CalendarPeriod {
        let last = self.resolution.last_of(first);
        let is_requested = self.days.0.is_none_or(|from| from <= first) && self.days.1.is_none_or(|to| to >= last);
        let is_over = self.known.newest().is_some_and(|newest| newest > last);
        let is_loaded = || (first..=last).all(|day| self.known.of(day).is_some());
        let is_counted = |blocks: BlockRange| blocks.last() <= counted && self.readable.missing(blocks).is_empty();
        let is_readable = || self.known.blocks(first..=last).iter().all(|(_, blocks)| is_counted(*blocks));
        CalendarPeriod { first, last, is_complete: is_requested && is_over && is_loaded() && is_readable() }
    }
}

/// The day of a time, in days since 1970.
pub(super) fn day(time: Timestamp) -> u64 {
    u64::try_from(time.micros().div_euclid(DAY)).unwrap_or(0)
}

/// Ranges up to a height that stays for a while as the chain grows, and those above it: less than a 64th of all.
fn parted(ranges: &[BlockRange]) -> (Vec<BlockRange>, Vec<BlockRange>) {
    let Some((first, last)) = ranges.first().zip(ranges.last()).map(|(first, last)| (first.first(), last.last()))
    else {
        return Default::default();
    };
    let step = 1_u64 << ((last - first + 1) / 128).checked_ilog2().unwrap_or(0);
    let above = (last + 1) / step * step;
    (cut(ranges, 0, above.saturating_sub(1)), cut(ranges, above, u64::MAX))
}

/// The parts of some ranges from one block to another.
fn cut(ranges: &[BlockRange], least: BlockNumber, most: BlockNumber) -> Vec<BlockRange> {
    let part = |range: &BlockRange| BlockRange::new(range.first().max(least), range.last().min(most));
    ranges.iter().filter_map(part).collect()
}

/// The refusal of a query with more rows than are added up.
pub(super) fn too_much() -> Problem {
    let detail = "This time has too much data to aggregate; use a shorter one, with from and to";
    Problem::invalid_parameter("from", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    #[test]
    fn the_older_part_stays_as_a_chain_grows() {
        assert_eq!(parted(&[]), (vec![], vec![]));
        assert_eq!(parted(&[range(0, 9)]), (vec![range(0, 9)], vec![]));
        assert_eq!(parted(&[range(0, 1_000)]), (vec![range(0, 999)], vec![range(1_000, 1_000)]));
        let older = |last: u64| parted(&[range(3, 70_000), range(80_000, last)]).0;
        assert_eq!(older(200_000), older(200_200));
        let (before, after) = parted(&[range(3, 70_000), range(80_000, 200_200)]);
        let count = |ranges: &[BlockRange]| ranges.iter().map(|range| range.count()).sum::<u64>();
        assert!(count(&after) * 64 < count(&before) && count(&before) + count(&after) == 69_998 + 120_201, "{after:?}");
    }
}
