//! The days of a request, and its list of them.

use std::collections::BTreeMap;

use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::etherscan::answer::{NO_RECORDS, Refusal, empty_list, envelope};
use crate::etherscan::params::Params;
use crate::read::days::{Days, Sums};
use trawl_core::calendar::date;
use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::etherscan::{Figure, write_day};
use trawl_query::contracts::hot_contracts::{MAX_TRANSACTIONS, size};

/// Most days of a list whose figures are added up from transactions or traces: their first blocks are part of the URL
/// of the statement.
const MAX_DAYS: usize = 4_000;

/// The days from `startdate` to `enddate`, both inclusive, of the chain so far.
pub(super) struct Period {
    pub days: Days,
    /// The requested days that the chain has, up to that of the newest block.
    requested: Vec<u64>,
}

impl Period {
    /// Reads the parameters, and the figures of all days.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] for days in the wrong order; when the store fails.
    pub async fn read(app: &App, head: &Head, params: &Params) -> Result<Self, Refusal> {
        let (first, last) = (params.require("startdate", Params::day)?, params.require("enddate", Params::day)?);
        if first > last {
            return Err(Refusal::Sentence("Invalid enddate: before startdate".into()));
        }
        let days = app.days(head).await?;
        // Days before the first block are not of the chain; if blocks below it are not loaded, they may be.
        let begin = match days.all() {
            Some(all) if head.blocks.contains(0) => *all.start(),
            _ => 0,
        };
        let end = days.newest().map_or(0, |newest| newest + 1);
        let mut requested: Vec<u64> = (first.max(begin)..last.saturating_add(1).min(end)).collect();
        if params.word("sort").as_deref() == Some("desc") {
            requested.reverse();
        }
        Ok(Self { days, requested })
    }

    /// The sums of the blocks of a day.
    pub fn sums(&self, day: u64) -> Option<Sums> {
        self.days.of(day)
    }

    /// The blocks of the days that are wholly settled, by day.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] for more days, or days with more transactions, than are added up.
    pub async fn settled(&self, app: &App, head: &Head) -> Result<SettledDays, Refusal> {
        let Some(all) = self.requested.iter().min().zip(self.requested.iter().max()) else {
            return Ok(SettledDays::default());
        };
        let settled = head.blocks.settled();
        let is_settled = |range: &BlockRange| settled.missing(*range).is_empty();
        let blocks: BTreeMap<u64, BlockRange> = self.days.blocks(*all.0..=*all.1).into_iter().collect();
        let blocks: BTreeMap<u64, BlockRange> =
            blocks.into_iter().filter(|(day, range)| self.sums(*day).is_some() && is_settled(range)).collect();
        let too_much = || Refusal::Sentence("These days have too much data to aggregate: use fewer days".into());
        if blocks.len() > MAX_DAYS {
            return Err(too_much());
        }
        if let Some((first, last)) = blocks.values().next().zip(blocks.values().last()) {
            let range = BlockRange::new(first.first(), last.last()).ok_or(Problem::Internal)?;
            let found = app.values_of(head, &size(&[range])).await?;
            if found.first().is_some_and(|size| size.transactions > MAX_TRANSACTIONS) {
                return Err(too_much());
            }
        }
        Ok(SettledDays(blocks))
    }

    /// The list: `figures` returns the figures of a day, `None` where they are unknown. Days without any are omitted.
    pub fn respond(&self, figures: impl Fn(u64) -> Option<Vec<Figure>>) -> Response {
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for day in &self.requested {
            match figures(*day) {
                Some(figures) if figures.is_empty() => {}
                Some(figures) => known.push((*day, figures)),
                None => unknown.push(*day),
            }
        }
        let (status, message) = match unknown_days(&unknown) {
            Some(message) => ("2", message),
            None if known.is_empty() => return empty_list(NO_RECORDS),
            None => ("1", "OK".into()),
        };
        envelope(status, &message, |writer| {
            writer.array(|list| known.iter().for_each(|(day, figures)| write_day(list.item(), *day, figures)));
        })
    }
}

/// A message about the days whose figures are not known.
fn unknown_days(days: &[u64]) -> Option<String> {
    let (first, last) = days.iter().min().zip(days.iter().max())?;
    let [first, last] = [first, last].map(|day| date(*day));
    Some(format!("this is unknown for {} days from {first} to {last}: not all of their blocks are loaded", days.len()))
}

/// The blocks of some days, which are settled.
#[derive(Debug, Default)]
pub(super) struct SettledDays(BTreeMap<u64, BlockRange>);

impl SettledDays {
    /// The rows of a statement that groups these blocks by the first ones of their days, by day.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn rows<R: Columns + 'static>(
        &self,
        app: &App,
        head: &Head,
        statement: impl Fn(&[BlockNumber], &[BlockRange]) -> Statement<R>,
        start: impl Fn(&R) -> BlockNumber,
    ) -> Result<BTreeMap<u64, R>, Problem> {
        if self.0.is_empty() {
            return Ok(BTreeMap::new());
        }
        let starts: Vec<BlockNumber> = self.0.values().map(|range| range.first()).collect();
        let ranges: Coverage = self.0.values().copied().collect();
        let rows = app.values_of(head, &statement(&starts, ranges.ranges())).await?;
        let days: BTreeMap<BlockNumber, u64> = self.0.iter().map(|(day, range)| (range.first(), *day)).collect();
        Ok(rows.into_iter().filter_map(|row| Some((*days.get(&start(&row))?, row))).collect())
    }

    /// The blocks of a day.
    pub fn blocks(&self, day: u64) -> Option<BlockRange> {
        self.0.get(&day).copied()
    }

    /// Those of the days that `keep` keeps.
    pub fn of_days(&self, keep: impl Fn(u64) -> bool) -> Self {
        Self(self.0.iter().filter(|(day, _)| keep(**day)).map(|(day, range)| (*day, *range)).collect())
    }
}
