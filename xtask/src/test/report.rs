//! Reads the output of test programs line by line: the number of passed tests, and the time of each.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use xtask::workspace;

/// How many tests had which outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
}

/// A test and its time.
#[derive(Debug, Clone, PartialEq)]
struct TimedTest {
    name: String,
    duration: Duration,
}

/// The outcome of test programs.
#[derive(Debug, Default)]
pub struct Report {
    counts: Counts,
    tests: Vec<TimedTest>,
}

/// How many tests are named at the end of a run.
const SLOWEST: usize = 10;

/// Where the times of the last run of all tests are, for the test that holds them to the ceiling.
pub fn times_file() -> PathBuf {
    workspace::target().join("test-times.tsv")
}

impl Report {
    /// Reads a line of a test program; false if it is not to be shown.
    pub fn read(&mut self, line: &str) -> bool {
        self.tests.extend(timed_test(line));
        let Some(counts) = counts_of(line) else { return !line.is_empty() && line != "running 0 tests" };
        self.add(counts);
        counts != Counts::default()
    }

    /// Adds tests that were counted elsewhere.
    pub fn add(&mut self, counts: Counts) {
        self.counts.passed += counts.passed;
        self.counts.failed += counts.failed;
    }

    /// All that was read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The tests that took longest, for people.
    pub fn slowest(&self) -> String {
        let mut tests: Vec<&TimedTest> = self.tests.iter().collect();
        tests.sort_by_key(|test| std::cmp::Reverse(test.duration));
        let mut text = String::from("the slowest tests:\n");
        for test in tests.into_iter().take(SLOWEST) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:8.1} s  {}", test.duration.as_secs_f64(), test.name);
        }
        text
    }

    /// The slowest tests of those that took longer, as many as are named at the end of a run.
    pub fn slower_than(&self, ceiling: Duration) -> Vec<String> {
        let mut tests: Vec<&TimedTest> = self.tests.iter().filter(|test| test.duration > ceiling).collect();
        tests.sort_by_key(|test| std::cmp::Reverse(test.duration));
        tests.into_iter().take(SLOWEST).map(|test| test.name.clone()).collect()
    }

    /// Puts the times of a second run of the slowest tests in place of the first ones. Others above the ceiling, which
    /// were quicker than those, are no longer listed. Tests that fail at the second time have failed.
    pub fn correct(&mut self, second: &Self, ceiling: Duration) {
        self.counts.failed += second.counts.failed;
        let is_again = |test: &TimedTest| second.tests.iter().any(|again| again.name == test.name);
        self.tests.retain(|test| test.duration <= ceiling && !is_again(test));
        self.tests.extend(second.tests.iter().cloned());
    }

    /// One line a test, for programs: name, tab, seconds.
    pub fn times(&self) -> String {
        let line = |test: &TimedTest| format!("{}\t{:.3}\n", test.name, test.duration.as_secs_f64());
        self.tests.iter().map(line).collect()
    }
}

/// `test scan::formats ... ok <1.234s>`; other words may stand between, if the test has printed something.
fn timed_test(line: &str) -> Option<TimedTest> {
    let name = line.strip_prefix("test ")?.split(" ... ").next()?;
    let seconds = line.strip_suffix("s>")?.rsplit_once('<')?.1;
    Some(TimedTest { name: name.to_owned(), duration: Duration::try_from_secs_f64(seconds.parse().ok()?).ok()? })
}

/// `test result: ok. 13 passed; 0 failed; …`
pub fn counts_of(line: &str) -> Option<Counts> {
    let rest = line.trim().strip_prefix("test result: ")?;
    let number =
        |kind: &str| rest.split([';', '.']).find_map(|part| part.trim().strip_suffix(kind)?.trim().parse().ok());
    Some(Counts { passed: number("passed")?, failed: number("failed")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_corrects_the_times() {
        let (mut report, mut second) = (Report::default(), Report::default());
        for line in ["test a::quick ... ok <1.000s>", "test a::slow ... ok <90.000s>", "test a::other ... ok <50.000s>"]
        {
            report.read(line);
        }
        second.read("test a::slow ... ok <20.000s>");
        second.add(Counts { passed: 0, failed: 1 });
        report.correct(&second, Duration::from_secs(40));
        assert_eq!(report.times(), "a::quick\t1.000\na::slow\t20.000\n");
        assert_eq!(report.counts().failed, 1);
    }

    #[test]
    fn a_report_counts_and_ranks() {
        let mut report = Report::default();
        for line in [
            "running 2 tests",
            "test a::quick ... ok <0.010s>",
            "test a::slow ... FAILED <41.500s>",
            "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 41.51s",
        ] {
            assert!(report.read(line));
        }
        assert!(!report.read("running 0 tests"));
        assert!(
            !report
                .read("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 5 filtered out; finished in 0.00s")
        );
        assert_eq!(report.counts(), Counts { passed: 1, failed: 1 });
        assert_eq!(report.times(), "a::quick\t0.010\na::slow\t41.500\n");
        assert_eq!(report.slower_than(Duration::from_secs(40)), ["a::slow"]);
        assert!(report.slowest().lines().nth(1).is_some_and(|line| line.ends_with("41.5 s  a::slow")));
    }
}
