//! How far following is, for those who ask this process: its probes and its metrics.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use trawl_core::primitives::BlockNumber;

use super::gauges;
use super::inspection::{Inspection, SettledBlock};

/// What following has reached, as far as it is known; shared by those who write it and those who ask.
#[derive(Debug, Clone, Default)]
pub struct FollowProgress(Arc<Mutex<ProgressState>>);

#[derive(Debug, Default)]
struct ProgressState {
    inspection: Option<Inspection>,
    settled: Option<SettledBlock>,
}

impl FollowProgress {
    /// Blocks up to this one are settled now.
    pub fn note_settled(&self, number: BlockNumber) {
        self.state().settled = Some(SettledBlock { number, at: Instant::now() });
    }

    pub(super) fn note_inspection(&self, inspection: Inspection) {
        self.state().inspection = Some(inspection);
    }

    /// Whether readers get new blocks as the nodes have them; what is wrong all the same.
    ///
    /// # Errors
    ///
    /// What holds following up.
    pub fn readiness(&self) -> Result<String, String> {
        match &self.state().inspection {
            None => Err("starting: waits for ClickHouse, for a node, or for the end of another run".into()),
            Some(inspection) => inspection.readiness(),
        }
    }

    /// Sets the gauges of what is known.
    pub fn show(&self) {
        let is_ready = self.readiness().is_ok();
        let state = self.state();
        gauges::show(is_ready, state.inspection.as_ref(), state.settled);
    }

    fn state(&self) -> MutexGuard<'_, ProgressState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::inspection::MIN_MISSED;
    use super::super::problem::{Problem, ProblemKind};
    use super::*;

    fn inspection() -> Inspection {
        Inspection {
            at: Instant::now(),
            interval: Duration::from_millis(1),
            node_block: Some(9),
            node_silence: Duration::ZERO,
            head_block: Some(9),
            head_since: Instant::now(),
            problems: Vec::new(),
            is_held_up: false,
        }
    }

    #[test]
    fn who_stands_still_is_not_ready_and_says_why() {
        let progress = FollowProgress::default();
        assert!(progress.readiness().is_err_and(|reason| reason.starts_with("starting")));
        progress.note_inspection(inspection());
        assert_eq!(progress.readiness().as_deref(), Ok("ready"));
        let problems = vec![Problem::new(ProblemKind::NodeSilent, "a", "node a is silent".into())];
        progress.note_inspection(Inspection { problems: problems.clone(), ..inspection() });
        assert_eq!(progress.readiness().as_deref(), Ok("ready, but node_silent: node a is silent"));
        progress.note_inspection(Inspection { problems, is_held_up: true, ..inspection() });
        assert_eq!(progress.readiness(), Err("node_silent: node a is silent".into()));
        let Some(at) = Instant::now().checked_sub(MIN_MISSED * 2) else { return };
        progress.note_inspection(Inspection { at, ..inspection() });
        assert!(progress.readiness().is_err_and(|reason| reason.starts_with("standing_still")));
    }
}
