//! The time that a run of all tests may take, which everybody shares.

use std::time::Duration;

/// What a run of all tests has, from an empty checkout.
pub const RUN: Duration = Duration::from_mins(30);

/// What a single test of it has, alone. The goal is 40 seconds, which some tests miss on slow machines.
pub const TEST: Duration = Duration::from_secs(90);

/// What a single test has in a run that took this long: more where the machine is slower.
pub fn ceiling(run: Duration) -> Duration {
    TEST.mul_f64((run.as_secs_f64() / RUN.as_secs_f64()).max(1.0))
}

/// What a test that keeps to the ceiling may take beside others: two run on each core.
pub fn beside_others(ceiling: Duration) -> Duration {
    ceiling * 3 / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_machine_has_longer_and_a_quick_one_not_less() {
        assert_eq!(ceiling(Duration::from_mins(12)), TEST);
        assert_eq!(ceiling(Duration::from_mins(60)), Duration::from_mins(3));
        assert_eq!(beside_others(TEST), Duration::from_secs(135));
    }
}
