//! When calls to token contracts are repeated.

use std::time::Duration;

/// Contracts called at the same time.
pub(super) const CONCURRENCY: usize = 4;
/// Pause after the first round that failed; [`RetryPolicy::Forever`] doubles it with each further one.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
/// The longest pause: how late a recovered node is called again.
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// What becomes of contracts that a node does not answer for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryPolicy {
    /// They are left to the next run, and all of them after a few rounds without an answer: a load has an end.
    NextRun,
    /// They are called again, with longer and longer pauses, until there is an answer: following has no end. At this
    /// interval some that answered are called again, too.
    Forever(Duration),
}

impl RetryPolicy {
    /// How long to wait after so many failed rounds in a row.
    pub(super) fn pause(self, failed_rounds: u64) -> Duration {
        match self {
            Self::NextRun => FIRST_PAUSE,
            Self::Forever(_) => {
                let doublings = u32::try_from(failed_rounds.saturating_sub(1).min(10)).unwrap_or(10);
                (FIRST_PAUSE * 2_u32.pow(doublings)).min(MAX_PAUSE)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_only_where_retries_have_no_end() {
        let seconds = |failed_rounds| RetryPolicy::Forever(MAX_PAUSE).pause(failed_rounds).as_secs();
        assert_eq!([1, 2, 3, 5, 6, u64::MAX].map(seconds), [2, 4, 8, 32, 60, 60]);
        assert_eq!(RetryPolicy::NextRun.pause(9), FIRST_PAUSE);
    }
}
