//! What was found when following was looked at, and whether it goes on.

use std::time::{Duration, Instant};

use trawl_core::primitives::BlockNumber;

use super::problem::Problem;

/// So many intervals without a look show that this process itself stands still.
const MISSED_INTERVALS: u32 = 5;
/// The least time without a look that does: ClickHouse may take a while for a report.
pub(super) const MIN_MISSED: Duration = Duration::from_secs(20);

/// What was found when everything was looked at.
#[derive(Debug, Clone)]
pub(super) struct Inspection {
    /// When that was.
    pub at: Instant,
    /// Between two such looks.
    pub interval: Duration,
    /// The newest block of the nodes.
    pub node_block: Option<BlockNumber>,
    /// Time since a node answered, then.
    pub node_silence: Duration,
    /// The newest block that readers see.
    pub head_block: Option<BlockNumber>,
    /// Since when they see it.
    pub head_since: Instant,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// Whether readers see nothing new for it.
    pub is_held_up: bool,
}

/// The newest block that was settled.
#[derive(Debug, Clone, Copy)]
pub(super) struct SettledBlock {
    pub number: BlockNumber,
    pub at: Instant,
}

impl Inspection {
    /// Whether it goes on, and what is wrong all the same; what holds it up.
    pub fn readiness(&self) -> Result<String, String> {
        let age = self.at.elapsed();
        if age > (self.interval * MISSED_INTERVALS).max(MIN_MISSED) {
            return Err(format!("standing_still: this process has looked at nothing for {:.0} s", age.as_secs_f64()));
        }
        let problem = |problem: &Problem| format!("{}: {}", problem.kind.name(), problem.detail);
        let problems = self.problems.iter().map(problem).collect::<Vec<_>>().join("; ");
        match (self.is_held_up, problems.is_empty()) {
            (true, true) => Err("starting: readers see no block of this run yet".into()),
            (true, false) => Err(problems),
            (false, true) => Ok("ready".into()),
            (false, false) => Ok(format!("ready, but {problems}")),
        }
    }
}
