//! Whether a node is set aside after a failure, and for how long.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::settings::RetryPolicy;

/// The longest a node is set aside before it is tried again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The failures of one node since it last answered.
#[derive(Debug, Default)]
pub struct Health(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// When it was set aside last, and until when.
    aside: Option<(Instant, Instant)>,
}

impl Health {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When the node may be called again; `None` or the past if it is not set aside.
    pub fn ready_at(&self) -> Option<Instant> {
        self.state().aside.map(|(_, until)| until)
    }

    /// Whether the node is not set aside.
    pub fn is_ready(&self) -> bool {
        self.ready_at().is_none_or(|until| until <= Instant::now())
    }

    /// An attempt that began at `started` failed. Attempts that ran together count once.
    pub fn set_aside(&self, started: Instant, retry_after: Option<Duration>, policy: RetryPolicy) {
        let mut state = self.state();
        let now = Instant::now();
        let pause = match policy {
            RetryPolicy::OncePerNode { set_aside } => set_aside,
            RetryPolicy::Persistent { .. } if state.aside.is_some_and(|(since, _)| since > started) => return,
            RetryPolicy::Persistent { .. } => {
                let pause = Duration::from_millis(200) * 2_u32.saturating_pow(state.failures.min(16));
                pause.max(retry_after.unwrap_or_default()).min(MAX_PAUSE)
            }
        };
        state.failures += 1;
        state.aside = Some((now, now + pause));
    }

    /// An attempt succeeded.
    pub fn recovered(&self) {
        *self.state() = State::default();
    }
}
