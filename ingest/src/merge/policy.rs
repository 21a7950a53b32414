//! Whether another merge of a table is worth what it rewrites.

use super::selection::selection;

/// Bounds of merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    /// A table of at most so many bytes is merged to one part, however little is new.
    pub small: u64,
    /// Beyond that a part is rewritten once what is merged with it has at least one `ratio`th of its bytes, so that
    /// each byte is rewritten a bounded number of times while a table grows.
    pub ratio: u64,
    /// Parts that are larger together are left to ClickHouse.
    pub most: u64,
}

impl Policy {
    /// While blocks are followed: what is new is little, and comes again and again.
    pub const WHEN_IDLE: Self = Self { small: 256 << 10, ratio: 4, most: 2 << 30 };
    /// After a load, which has just written much more than is rewritten.
    pub const AFTER_LOAD: Self = Self { small: 256 << 20, ratio: 16, most: 16 << 30 };

    /// Whether a merge of a table is worth it, whose parts have these sizes, each behind its neighbour of lower rows.
    pub fn is_worth(self, sizes: &[u64]) -> bool {
        let Some(merged) = selection(sizes).map(|range| &sizes[range]) else { return false };
        let (bytes, largest) = (merged.iter().sum::<u64>(), merged.iter().copied().max().unwrap_or_default());
        sizes.iter().sum::<u64>() <= self.small || (bytes <= self.most && largest <= (bytes - largest) * self.ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const POLICY: Policy = Policy { small: MIB, ratio: 4, most: 1000 * MIB };

    fn is_worth(mebibytes: &[u64]) -> bool {
        POLICY.is_worth(&mebibytes.iter().map(|size| size * MIB).collect::<Vec<_>>())
    }

    #[test]
    fn small_tables_become_one_part() {
        assert!(POLICY.is_worth(&[9, 1]) && POLICY.is_worth(&[1, 1, 1]));
        assert!(!POLICY.is_worth(&[]) && !POLICY.is_worth(&[10]) && !POLICY.is_worth(&[99 * MIB]));
    }

    #[test]
    fn large_parts_are_rewritten_for_as_much_again_only() {
        assert!(!is_worth(&[100, 24]) && is_worth(&[100, 25]));
        assert!(!is_worth(&[900, 200, 40]), "each is more than four times what would be merged with it");
        assert!(is_worth(&[900, 200, 20, 20, 20]), "the three smallest");
        assert!(!is_worth(&[600, 401]), "too large together");
    }

    /// ClickHouse would merge all three, for the sake of the two.
    #[test]
    fn a_large_part_is_not_rewritten_for_two_small_ones() {
        assert!(!is_worth(&[20, 1, 1]));
        assert!(!POLICY.is_worth(&[20 * MIB, MIB / 10, MIB / 10]));
        assert!(POLICY.is_worth(&[20 * MIB, MIB / 10, MIB / 10, MIB / 10]), "it would merge the small ones alone");
    }

    /// What settles adds a part each time, and one merge is made each time if it is worth it.
    fn grow(added: u64, times: u64) -> (f64, usize) {
        let (mut parts, mut rewritten, mut most) = (Vec::<u64>::new(), 0_u64, 0);
        for _ in 0..times {
            parts.push(added);
            if Policy::WHEN_IDLE.is_worth(&parts)
                && let Some(range) = selection(&parts)
            {
                let merged = parts[range.clone()].iter().sum::<u64>();
                parts.splice(range, [merged]);
                rewritten += merged;
            }
            most = most.max(parts.len());
        }
        (rewritten as f64 / (added * times) as f64, most)
    }

    #[test]
    fn a_growing_table_has_few_parts_and_is_rewritten_seldom() {
        for added in [MIB / 20, MIB / 2, 3 * MIB, 9 * MIB] {
            let (rewritten, most) = grow(added, 400);
            assert!(rewritten <= 10., "each byte {rewritten} times, by {added}");
            assert!(most <= 9, "{most} parts, by {added}");
        }
    }
}
