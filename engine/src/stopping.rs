//! How the time between the signal and the end of the process is spent, and that it is bounded: closing a store whose
//! disk or object storage does not answer would take for ever.

use std::time::Duration;

/// The time that the end may take, divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSchedule {
    /// From the signal to the end of the process.
    total: Duration,
}

/// What cancelling statements, writing logs and closing the store take at most where the store answers.
const CLOSING: Duration = Duration::from_secs(4);

impl StopSchedule {
    /// The schedule for an end that takes `total` at most.
    #[must_use]
    pub fn new(total: Duration) -> Self {
        Self { total }
    }

    /// How long statements may run on after the signal before they are cancelled.
    #[must_use]
    pub fn statements(self) -> Duration {
        self.total.saturating_sub(CLOSING).max(self.total / 2)
    }

    /// How long cancelled statements may take to end: half of what is left after [`Self::statements`].
    #[must_use]
    pub fn cancelled(self) -> Duration {
        (self.total - self.statements()) / 2
    }

    /// Ends the process when the time is over, counted from now, if it is still there. The next start finds the store
    /// as after a crash, which loses nothing that was answered.
    pub fn enforce(self) {
        let end = move || {
            std::thread::sleep(self.total);
            tracing::error!(
                "the store did not close within {} s (--stop-timeout): its disk or object storage does not answer, or \
                 a statement cannot be cancelled; exiting, and the next start finds the store as after a crash",
                self.total.as_secs_f64()
            );
            // SAFETY: no destructors run, which could wait for the same storage.
            unsafe { libc::_exit(1) }
        };
        if let Err(error) = std::thread::Builder::new().name("stop".into()).spawn(end) {
            tracing::warn!(%error, "no thread could be started to enforce --stop-timeout");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phase_has_its_share() {
        for seconds in [1, 5, 10, 60] {
            let schedule = StopSchedule::new(Duration::from_secs(seconds));
            assert!(schedule.statements() >= schedule.total / 2);
            assert!(schedule.statements() + schedule.cancelled() < schedule.total);
        }
        assert_eq!(StopSchedule::new(Duration::from_secs(10)).statements(), Duration::from_secs(6));
    }
}
