//! How a limit is divided among chains (docs/operate/several-chains.md#limits).

/// What a chain has of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Portion {
    /// What no other chain can take.
    pub own: u64,
    /// What the chain takes beside that if no other has it.
    pub shared: u64,
}

impl Portion {
    /// Of `most`, for each of so many chains: one has all of it; of several each has its part of one half, one at
    /// least, and all share the rest.
    pub fn of(most: u64, chains: usize) -> Self {
        let chains = u64::try_from(chains).unwrap_or(u64::MAX);
        if chains <= 1 {
            return Self { own: most, shared: 0 };
        }
        let own = (most / chains / 2).max(1);
        Self { own, shared: most.saturating_sub(own.saturating_mul(chains)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_divided_and_the_rest_is_shared() {
        let of = |most, chains| {
            let Portion { own, shared } = Portion::of(most, chains);
            (own, shared)
        };
        assert_eq!(of(64, 1), (64, 0));
        assert_eq!(of(64, 2), (16, 32));
        assert_eq!(of(64, 6), (5, 34));
        assert_eq!(of(2, 6), (1, 0), "each chain has one in any case");
    }
}
