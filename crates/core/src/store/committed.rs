//! Committed ranges by part, and what may have changed between two looks at them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::primitives::{BlockRange, Coverage};

/// Committed ranges by part.
pub(super) type Committed = Arc<HashMap<String, Coverage>>;

/// Whether all that was committed since is of blocks of which nothing was, and nothing was taken back.
pub(super) fn only_new_blocks(before: &Committed, now: &Committed) -> bool {
    if Arc::ptr_eq(before, now) {
        return true;
    }
    let any: Coverage = before.values().flat_map(Coverage::ranges).copied().collect();
    let is_new = |range: &BlockRange| any.within(*range).is_empty();
    let none = Coverage::default();
    let grew = |(part, ranges): (&String, &Coverage)| {
        let before = before.get(part).unwrap_or(&none);
        ranges.without(before).ranges().iter().all(is_new)
    };
    let is_there = |(part, ranges): (&String, &Coverage)| ranges.without(now.get(part).unwrap_or(&none)).is_empty();
    now.iter().all(grew) && before.iter().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn committed(parts: &[(&str, &[(u64, u64)])]) -> Committed {
        let ranges = |ranges: &[(u64, u64)]| -> Coverage {
            ranges.iter().filter_map(|(first, last)| BlockRange::new(*first, *last)).collect()
        };
        Arc::new(parts.iter().map(|(part, all)| ((*part).to_owned(), ranges(all))).collect())
    }

    #[test]
    fn rows_stay_whole_while_only_new_blocks_are_committed() {
        let before = committed(&[("blocks", &[(0, 9), (20, 29)]), ("receipts", &[(0, 9)])]);
        let whole = |now: &[(&str, &[(u64, u64)])]| only_new_blocks(&before, &committed(now));
        assert!(whole(&[("blocks", &[(0, 9), (20, 29)]), ("receipts", &[(0, 9)])]));
        assert!(whole(&[("blocks", &[(0, 39)]), ("receipts", &[(0, 19), (30, 39)])]), "a hole is filled");
        assert!(!whole(&[("blocks", &[(0, 9), (20, 29)]), ("receipts", &[(0, 9), (20, 29)])]), "a part comes later");
        assert!(!whole(&[("blocks", &[(0, 8), (20, 29)]), ("receipts", &[(0, 9)])]), "a block is taken back");
        assert!(!whole(&[("blocks", &[(0, 9), (20, 29)])]), "a part is gone");
        let traced: &[(&str, &[(u64, u64)])] =
            &[("blocks", &[(0, 9), (20, 29)]), ("receipts", &[(0, 9)]), ("traces", &[(5, 9)])];
        assert!(!whole(traced), "another part of blocks that were there");
    }
}
