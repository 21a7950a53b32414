//! What the total difficulty of a block follows from.

use alloy_primitives::U256;

/// What the total difficulty of a block follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TotalDifficulty {
    /// That of the block below and its own difficulty.
    Sum,
    /// The same up to the block at which other software took over the chain: that and all later ones have no difficulty
    /// and a total difficulty of 0, whatever the block below had (ethereum-optimism/optimism, `op-chain-ops`).
    SumUntilTakeover,
    /// The number of blocks, none of which has a difficulty (celo-org/celo-blockchain), up to such a block.
    CountUntilTakeover,
}

/// Whether a block of some total difficulty can stand above the one below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumFit {
    /// It can stand there.
    Fits,
    /// It depends on what is not known: the reason.
    Unknown(&'static str),
    /// It has a sum that cannot follow.
    Differs,
}

impl TotalDifficulty {
    /// Whether a block of these difficulties can stand above the one below it.
    #[must_use]
    pub fn judge(self, of: Difficulties) -> SumFit {
        if self == Self::CountUntilTakeover && of.is_counted() {
            return SumFit::Fits;
        }
        let Some(own) = of.own else { return SumFit::Unknown("the source has no difficulty") };
        // What is counted neither goes on nor ends as a sum.
        if self == Self::CountUntilTakeover && !of.total_below.is_zero() {
            return SumFit::Differs;
        }
        let ends = self == Self::SumUntilTakeover && own.is_zero() && of.total.is_zero();
        match of.below {
            _ if of.total_below.wrapping_add(own) == of.total => SumFit::Fits,
            Some(below) if ends && !below.is_zero() => SumFit::Fits,
            None if ends => SumFit::Unknown("it ends here if the block below has a difficulty, which is not known"),
            _ if self.is_left_out(of) => SumFit::Unknown(LEFT_OUT),
            _ if self == Self::Sum && own.is_zero() && of.number > 1 && of.total_below.is_zero() => {
                SumFit::Unknown("the node that gave 0 for the block below may keep no total difficulty")
            }
            _ => SumFit::Differs,
        }
    }

    /// Whether a total difficulty of 0 is none, as its node keeps none since the merge: the sum below is more.
    #[must_use]
    pub fn is_left_out(self, of: Difficulties) -> bool {
        let adds_nothing = of.own.is_none_or(|own| own.is_zero());
        self == Self::Sum && adds_nothing && of.total.is_zero() && !of.total_below.is_zero()
    }
}

/// Why a total difficulty of 0 is not stored.
pub const LEFT_OUT: &str = "some nodes give 0 since the merge, as they keep no total difficulty";

/// Difficulties of a block and of the one below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difficulties {
    /// Height of the block.
    pub number: u64,
    /// That of the block below, if it is known.
    pub below: Option<U256>,
    /// The sum up to the block below.
    pub total_below: U256,
    /// That of the block, if the source gave it.
    pub own: Option<U256>,
    /// The sum that the block has.
    pub total: U256,
}

impl Difficulties {
    /// Whether both blocks are counted, or the one below is and other software made this one.
    fn is_counted(&self) -> bool {
        let has_none = self.own.is_none_or(|own| own.is_zero());
        let is_next = self.total == U256::from(self.number).saturating_add(U256::from(1));
        has_none && self.total_below == U256::from(self.number) && (is_next || self.total.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_until_other_software_took_over() {
        let judge = |total_below: u64, own: Option<u64>, total: u64| {
            TotalDifficulty::CountUntilTakeover.judge(Difficulties {
                number: 100,
                below: Some(U256::ZERO),
                total_below: U256::from(total_below),
                own: own.map(U256::from),
                total: U256::from(total),
            })
        };
        assert_eq!((judge(100, Some(0), 101), judge(100, None, 101)), (SumFit::Fits, SumFit::Fits), "one more");
        assert_eq!(judge(100, Some(0), 0), SumFit::Fits, "it ends");
        assert_eq!(judge(0, Some(0), 0), SumFit::Fits, "no difficulty");
        for (below, total) in [(100, 100), (100, 99), (100, 102), (0, 101), (99, 101), (99, 0)] {
            assert_eq!(judge(below, Some(0), total), SumFit::Differs, "{below} {total}");
        }
        assert!(matches!(judge(99, None, 101), SumFit::Unknown(_)));
    }

    #[test]
    fn a_sum_of_nothing_above_a_sum_is_none() {
        let is_left_out = |rule: TotalDifficulty, total_below: u64, own: Option<u64>, total: u64| {
            rule.is_left_out(Difficulties {
                number: 100,
                below: None,
                total_below: U256::from(total_below),
                own: own.map(U256::from),
                total: U256::from(total),
            })
        };
        let sum = TotalDifficulty::Sum;
        assert!(is_left_out(sum, 8, Some(0), 0) && is_left_out(sum, 8, None, 0));
        for (total_below, own, total) in [(8, Some(1), 0), (8, Some(0), 8), (0, Some(0), 0)] {
            assert!(!is_left_out(sum, total_below, own, total), "{total_below} {total}");
        }
        assert!(!is_left_out(TotalDifficulty::SumUntilTakeover, 8, Some(0), 0), "it ends");
    }
}
