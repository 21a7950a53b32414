//! Time that goes on while the machine is suspended, so that a holder that wakes up knows how long it was silent.
//!
//! <https://man7.org/linux/man-pages/man2/clock_gettime.2.html>

use std::ops::Add;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The clock: that of std stands still in suspend on Linux.
#[cfg(target_os = "linux")]
const CLOCK: ClockId = ClockId::Boottime;
#[cfg(not(target_os = "linux"))]
const CLOCK: ClockId = ClockId::Monotonic;

/// A moment since this machine was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(Duration);

impl Moment {
    pub(super) fn now() -> Self {
        // It is never negative; if it were, this is after every deadline.
        Self(Duration::try_from(clock_gettime(CLOCK)).unwrap_or(Duration::MAX))
    }
}

impl Moment {
    /// How long it is until then; nothing if it is past.
    pub(super) fn remaining(self) -> Duration {
        self.0.saturating_sub(Self::now().0)
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}
