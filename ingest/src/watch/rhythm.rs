//! Which looks become reports: all while something is wrong, else one in three. Each row is a dozen files.

/// Where nothing is wrong, one look of so many is reported. Readers miss a report after four.
const QUIET_INTERVALS: u32 = 3;

/// How many looks ago the last report was, and what it said.
#[derive(Debug, Default)]
pub(super) struct ReportRhythm {
    /// Looks until the next report; the first is one.
    quiet: u32,
    had_problems: bool,
}

impl ReportRhythm {
    /// Whether this look is reported: also the first without a problem that the report before had.
    pub(super) fn is_due(&mut self, has_problems: bool) -> bool {
        let is_due = has_problems || self.had_problems || self.quiet == 0;
        self.had_problems = has_problems;
        self.quiet = if is_due { QUIET_INTERVALS - 1 } else { self.quiet - 1 };
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(looks: &[bool]) -> Vec<bool> {
        let mut rhythm = ReportRhythm::default();
        looks.iter().map(|has_problems| rhythm.is_due(*has_problems)).collect()
    }

    #[test]
    fn one_look_in_three_is_reported() {
        assert_eq!(reported(&[false; 7]), [true, false, false, true, false, false, true]);
    }

    #[test]
    fn a_problem_is_reported_at_once_and_so_is_its_end() {
        let looks = [false, true, true, false, false, false, false, true, false];
        assert_eq!(reported(&looks), [true, true, true, true, false, false, true, true, true]);
    }
}
