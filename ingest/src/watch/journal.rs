//! Lines of the log about problems: the first soon, then now and then while it lasts, and one when it is over.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::problem::{Problem, ProblemKind};

/// The first line comes after so many intervals: 10 seconds of 2.
const FIRST_INTERVALS: u32 = 5;
/// And another one after each so many: a minute.
const REPEAT_INTERVALS: u32 = 30;

/// What was said of problems that last.
#[derive(Debug)]
pub(super) struct Journal {
    interval: Duration,
    said: HashMap<(ProblemKind, String), Instant>,
}

impl Journal {
    pub fn new(interval: Duration) -> Self {
        Self { interval, said: HashMap::new() }
    }

    /// Says what is to be said of these problems, and of those that are gone.
    pub fn note(&mut self, problems: &[Problem]) {
        let key = |problem: &Problem| (problem.kind, problem.subject.clone());
        let due: Vec<&Problem> = problems.iter().filter(|problem| self.is_due(problem)).collect();
        for problem in due {
            let (kind, seconds) = (problem.kind.name(), problem.age.as_secs());
            tracing::warn!(problem = kind, seconds, "{}", problem.detail);
            self.said.insert(key(problem), Instant::now());
        }
        self.said.retain(|(kind, subject), _| {
            let lasts = problems.iter().any(|problem| problem.kind == *kind && problem.subject == *subject);
            if !lasts {
                tracing::info!(problem = kind.name(), subject, "problem resolved");
            }
            lasts
        });
    }

    fn is_due(&self, problem: &Problem) -> bool {
        match self.said.get(&(problem.kind, problem.subject.clone())) {
            Some(said) => said.elapsed() >= self.interval * REPEAT_INTERVALS,
            None => problem.age >= self.interval * FIRST_INTERVALS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_said_after_ten_seconds_once_a_minute_and_when_it_is_over() {
        let interval = Duration::from_secs(2);
        let mut journal = Journal::new(interval);
        let problem = |seconds| Problem {
            age: Duration::from_secs(seconds),
            ..Problem::new(ProblemKind::NodeSilent, "node", "silent".into())
        };
        journal.note(&[problem(9)]);
        assert!(journal.said.is_empty());
        assert!(journal.is_due(&problem(10)));
        journal.note(&[problem(10)]);
        assert!(!journal.is_due(&problem(12)));
        let before = Instant::now().checked_sub(Duration::from_secs(61)).expect("a minute ago");
        journal.said.values_mut().for_each(|said| *said = before);
        assert!(journal.is_due(&problem(71)));
        journal.note(&[]);
        assert!(journal.said.is_empty());
    }
}
