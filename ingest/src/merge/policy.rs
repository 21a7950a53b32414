//! Whether another merge of a table is worth what it rewrites.

/// Bounds of merges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    /// A table of at most so many bytes is merged to one part, however little is new.
    pub small: u64,
    /// Beyond that a part is rewritten once what came after it has at least one `ratio`th of its bytes, so that each
    /// byte is rewritten a bounded number of times while a table grows.
    pub ratio: u64,
    /// Parts that are larger together are left to ClickHouse.
    pub most: u64,
}

impl Policy {
    /// While blocks are followed: what is new is little, and comes again and again.
    pub const WHEN_IDLE: Self = Self { small: 4 << 20, ratio: 4, most: 2 << 30 };
    /// After a load, which has just written much more than is rewritten.
    pub const AFTER_LOAD: Self = Self { small: 256 << 20, ratio: 16, most: 16 << 30 };

    /// Whether some parts of these sizes should be merged.
    pub fn is_worth(self, sizes: &[u64]) -> bool {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        let total: u64 = sizes.iter().sum();
        if sizes.len() < 2 {
            return false;
        }
        if total <= self.small {
            return true;
        }
        let mut smaller = 0;
        sizes.into_iter().any(|size| {
            let is_near = smaller > 0 && size <= smaller * self.ratio && smaller + size <= self.most;
            smaller += size;
            is_near
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: Policy = Policy { small: 10, ratio: 4, most: 1000 };

    #[test]
    fn small_tables_become_one_part() {
        assert!(POLICY.is_worth(&[9, 1]) && POLICY.is_worth(&[1, 1, 1]));
        assert!(!POLICY.is_worth(&[]) && !POLICY.is_worth(&[10]) && !POLICY.is_worth(&[99]));
    }

    #[test]
    fn large_parts_are_rewritten_for_as_much_again_only() {
        assert!(!POLICY.is_worth(&[100, 24]) && POLICY.is_worth(&[100, 25]));
        assert!(!POLICY.is_worth(&[900, 200, 40]), "each is more than four times what is smaller");
        assert!(POLICY.is_worth(&[900, 200, 40, 20]), "the two smallest");
        assert!(!POLICY.is_worth(&[600, 401]), "too large together");
    }

    /// Each block of a growing table adds a part; merges of the smallest parts keep the count low, and rewrite little.
    #[test]
    fn a_growing_table_has_few_parts_and_is_rewritten_seldom() {
        let (mut parts, mut rewritten, mut most) = (Vec::<u64>::new(), 0_u64, 0);
        for _ in 0..20_000 {
            parts.push(1);
            while POLICY.is_worth(&parts) {
                parts.sort_unstable();
                let merged = parts[0] + parts[1];
                parts.splice(..2, [merged]);
                rewritten += merged;
            }
            most = most.max(parts.iter().filter(|size| **size < 500).count());
        }
        assert!(most <= 6, "{most} parts");
        assert!(rewritten < 20_000 * 40, "each byte {} times", rewritten / 20_000);
    }
}
