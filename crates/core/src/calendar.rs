//! Days of the calendar, in UTC.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// `2025-07-07`; empty for a day beyond the year 9999.
#[must_use]
pub fn date(day: u64) -> String {
    civil(day).map(|date| date.to_string()).unwrap_or_default()
}

/// The days since 1970 of a text like `2025-07-07`; `None` for any other, and for days before.
#[must_use]
pub fn day(text: &str) -> Option<u64> {
    let date: Date = text.parse().ok().filter(|date: &Date| date.to_string() == text)?;
    let days = date.since((jiff::Unit::Day, epoch())).ok()?.get_days();
    u64::try_from(days).ok()
}

/// The microseconds since 1970 of a text like `2025-07-07T08:49:36.5Z`, or with another offset (RFC 3339); without an
/// offset it is in UTC. `None` for any other text, and for moments before 1970.
#[must_use]
pub fn moment(text: &str) -> Option<i64> {
    let in_utc = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let has_time = text.contains(['T', 't', ' ']);
    let moment = has_time.then(|| text.parse::<Timestamp>().ok().or_else(in_utc)).flatten()?;
    Some(moment.as_microsecond()).filter(|micros| *micros >= 0)
}

fn epoch() -> Date {
    jiff::civil::date(1970, 1, 1)
}

fn civil(day: u64) -> Option<Date> {
    epoch().checked_add(Span::new().try_days(i64::try_from(day).ok()?).ok()?).ok()
}

/// A stretch of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// From midnight UTC on.
    Day,
    /// From a Monday on.
    Week,
    /// From the first day of a month on.
    Month,
    /// From the first of January on.
    Year,
}

impl Period {
    /// What clients call the periods.
    pub const NAMES: &'static [&'static str] = &["DAY", "WEEK", "MONTH", "YEAR"];

    /// What clients call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
            Self::Year => "YEAR",
        }
    }

    /// The period of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let position = Self::NAMES.iter().position(|known| *known == name)?;
        [Self::Day, Self::Week, Self::Month, Self::Year].get(position).copied()
    }

    /// The first day of the period that a day is in.
    #[must_use]
    pub fn first_of(self, day: u64) -> u64 {
        let Some(date) = civil(day) else { return day };
        let before = match self {
            Self::Day => 0,
            // The first day of 1970 was a Thursday.
            Self::Week => (day + 3) % 7,
            Self::Month => u64::from(date.day().unsigned_abs()) - 1,
            Self::Year => u64::from(date.day_of_year().unsigned_abs()) - 1,
        };
        day.saturating_sub(before)
    }

    /// The last day of the period that a day is in.
    #[must_use]
    pub fn last_of(self, day: u64) -> u64 {
        let Some(date) = civil(day) else { return day };
        match self {
            Self::Day => day,
            // The week of the first days of 1970 began before them.
            Self::Week => day + 6 - (day + 3) % 7,
            Self::Month => self.first_of(day) + u64::from(date.days_in_month().unsigned_abs()) - 1,
            Self::Year => self.first_of(day) + u64::from(date.days_in_year().unsigned_abs()) - 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!((date(0).as_str(), date(20_276).as_str()), ("1970-01-01", "2025-07-07"));
        assert_eq!((day("1970-01-01"), day("2025-07-07"), day("1969-12-31")), (Some(0), Some(20_276), None));
        for bad in ["", "2025-7-7", "2025-02-30", "20250707", "yesterday", "2025-07-07T00"] {
            assert_eq!(day(bad), None, "{bad}");
        }
        assert_eq!(date(u64::MAX), "");
    }

    #[test]
    fn moments_have_offsets_or_are_in_utc() {
        let micros = 1_708_159_776_000_000;
        for text in ["2024-02-17T08:49:36Z", "2024-02-17T08:49:36", "2024-02-17 08:49:36", "2024-02-17T09:49:36+01:00"]
        {
            assert_eq!(moment(text), Some(micros), "{text}");
        }
        assert_eq!(moment("2024-02-17T08:49:36.000001Z"), Some(micros + 1));
        for bad in ["", "2024-02-17", "2024-02-17T25:00:00Z", "1708159776", "T", "1969-12-31T23:59:59Z"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }

    #[test]
    fn periods_begin_and_end_where_the_calendar_says() {
        let of = |period: Period, text: &str| {
            let day = day(text).expect("a day");
            (date(period.first_of(day)), date(period.last_of(day)))
        };
        let pair = |first: &str, last: &str| (first.to_owned(), last.to_owned());
        assert_eq!(of(Period::Day, "2024-02-29"), pair("2024-02-29", "2024-02-29"));
        assert_eq!(of(Period::Week, "2025-07-13"), pair("2025-07-07", "2025-07-13"));
        assert_eq!(of(Period::Week, "1970-01-02"), pair("1970-01-01", "1970-01-04"));
        assert_eq!(of(Period::Week, "1970-01-05"), pair("1970-01-05", "1970-01-11"));
        assert_eq!(of(Period::Month, "2024-02-10"), pair("2024-02-01", "2024-02-29"));
        assert_eq!(of(Period::Year, "2024-12-31"), pair("2024-01-01", "2024-12-31"));
    }
}
