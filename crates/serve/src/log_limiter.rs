//! Lines of the log that strangers can cause: one in a while, with how many there were.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines.
const INTERVAL: Duration = Duration::from_secs(10);

/// Counts events between lines of the log.
#[derive(Debug)]
pub struct LogLimiter(Mutex<LimiterState>);

#[derive(Debug)]
struct LimiterState {
    count: u64,
    logged: Option<Instant>,
}

impl Default for LogLimiter {
    fn default() -> Self {
        Self::new()
    }
}

impl LogLimiter {
    /// Nothing was logged.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(LimiterState { count: 0, logged: None }))
    }

    /// Whether this event is to be logged: then how many there were since the last that was, this one included.
    pub fn admit(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.count += 1;
        if state.logged.is_some_and(|logged| logged.elapsed() < INTERVAL) {
            return None;
        }
        state.logged = Some(Instant::now());
        Some(std::mem::take(&mut state.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_one_line() {
        let limiter = LogLimiter::default();
        assert_eq!(limiter.admit(), Some(1));
        assert!((0..100).all(|_| limiter.admit().is_none()));
        if let Some(before) = Instant::now().checked_sub(INTERVAL) {
            limiter.0.lock().expect("no panic").logged = Some(before);
            assert_eq!(limiter.admit(), Some(101));
        }
    }
}
