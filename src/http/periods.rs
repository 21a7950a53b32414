//! Parameters that say from when to when: days, or times.

use super::query::Query;
use crate::error::Problem;
use trawl_core::calendar;
use trawl_core::primitives::Timestamp;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// A time, both ends inclusive; one that is not given is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
}

/// From the parameter `from` to the parameter `to`, both inclusive: a time, or a day with all its hours. Clients write
/// none as nothing or as `null`.
///
/// # Errors
///
/// When one is neither, or the second lies before the first.
pub(crate) fn time_range(query: &Query, from: &str, to: &str) -> Result<TimeRange, Problem> {
    let start = moment(query, from, |day| day)?;
    let end = moment(query, to, |day| day + DAY - 1)?;
    if start.zip(end).is_some_and(|(start, end)| start > end) {
        return Err(Problem::invalid_parameter(to, format!("lies before {from}")));
    }
    Ok(TimeRange { start, end })
}

/// The moment of a parameter: of a day, what `of_day` makes of its beginning.
fn moment(query: &Query, name: &str, of_day: impl Fn(i64) -> i64) -> Result<Option<Timestamp>, Problem> {
    let Some(text) = query.text(name).filter(|text| !matches!(*text, "" | "null")) else { return Ok(None) };
    let of_date = || calendar::day(text).and_then(|day| Some(of_day(i64::try_from(day).ok()?.checked_mul(DAY)?)));
    let micros = calendar::moment(text).or_else(of_date);
    let wrong = || Problem::invalid_parameter(name, "is neither a day (2025-07-07) nor a time (2025-07-07T17:00:00Z)");
    Ok(Some(Timestamp::from_micros(micros.ok_or_else(wrong)?)))
}
