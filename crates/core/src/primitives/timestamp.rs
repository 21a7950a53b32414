//! Points in time with the precision of the tables and of REST responses: UTC, microseconds.

/// Microseconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A block's time does not fit the tables: `DateTime64` ends with the year 2299.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("timestamp {seconds} is after the year 2299, the last one of DateTime64")]
pub struct TimestampOutOfRange {
    /// Seconds since 1970.
    pub seconds: u64,
}

/// 2299-12-31 23:59:59 UTC.
const LAST_SECOND: u64 = 10_413_791_999;

impl Timestamp {
    /// From a block header's seconds.
    ///
    /// # Errors
    ///
    /// If the time is after the year 2299.
    pub fn from_seconds(seconds: u64) -> Result<Self, TimestampOutOfRange> {
        let micros = (seconds <= LAST_SECOND).then(|| i64::try_from(seconds * 1_000_000).ok()).flatten();
        micros.map(Self).ok_or(TimestampOutOfRange { seconds })
    }

    /// From a `DateTime64(6)` value.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    #[must_use]
    pub fn micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since 1970; 0 for times before.
    #[must_use]
    pub fn seconds(self) -> u64 {
        u64::try_from(self.0.div_euclid(1_000_000)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_second_is_the_last() {
        assert_eq!(Timestamp::from_seconds(LAST_SECOND).map(Timestamp::seconds), Ok(LAST_SECOND));
        assert!(Timestamp::from_seconds(LAST_SECOND + 1).is_err());
        assert!(Timestamp::from_seconds(u64::MAX).is_err());
    }
}
