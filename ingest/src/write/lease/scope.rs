//! What a lease gives the right to write, as its name in `ingest_leases` says.
//!
//! The name of a lease of everything is `RUN/ATTEMPT`, that of a slice of a load `RUN/ATTEMPT/FIRST-LAST/CHAIN`.

use trawl_core::primitives::BlockRange;

/// What the holder of a lease may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeaseScope {
    /// Everything that ingest writes.
    Database,
    /// Rows of these blocks, beside the holders of others of the same chain.
    Blocks {
        /// The blocks that may be written.
        range: BlockRange,
        /// The chain and the rules by which its blocks are read, such as `1 ethereum`.
        chain: String,
    },
}

/// How two scopes stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeRelation {
    /// Both may be held at once.
    Apart,
    /// Only one of them.
    Overlapping,
    /// Only one of them ever: their blocks are of different chains.
    OtherChain,
}

impl LeaseScope {
    /// The blocks whose rows may be written.
    #[must_use]
    pub fn range(&self) -> BlockRange {
        match self {
            Self::Database => BlockRange::ALL,
            Self::Blocks { range, .. } => *range,
        }
    }

    /// The name of the lease that a run claims with its `attempt`.
    pub(super) fn lease_name(&self, run: &str, attempt: u64) -> String {
        match self {
            Self::Database => format!("{run}/{attempt}"),
            Self::Blocks { range, chain } => format!("{run}/{attempt}/{}-{}/{chain}", range.first(), range.last()),
        }
    }

    /// That of a lease. A name that says nothing else is of a lease of everything.
    pub(super) fn of_lease(name: &str) -> Self {
        let mut parts = name.splitn(4, '/').skip(2);
        let blocks = parts.next().and_then(|blocks| blocks.split_once('-'));
        let range = blocks.and_then(|(first, last)| BlockRange::new(first.parse().ok()?, last.parse().ok()?));
        match (range, parts.next()) {
            (Some(range), Some(chain)) => Self::Blocks { range, chain: chain.into() },
            _ => Self::Database,
        }
    }

    pub(super) fn relation_to(&self, other: &Self) -> ScopeRelation {
        match (self, other) {
            (Self::Blocks { chain: ours, .. }, Self::Blocks { chain: theirs, .. }) if ours != theirs => {
                ScopeRelation::OtherChain
            }
            _ if self.range().intersection(other.range()).is_none() => ScopeRelation::Apart,
            _ => ScopeRelation::Overlapping,
        }
    }
}

/// The run that claimed a lease.
pub(super) fn run_of_lease(name: &str) -> &str {
    name.split_once('/').map_or(name, |(run, _)| run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(first: u64, last: u64, chain: &str) -> LeaseScope {
        let range = BlockRange::new(first, last).expect("a range");
        LeaseScope::Blocks { range, chain: chain.into() }
    }

    #[test]
    fn a_name_says_its_scope() {
        for scope in [LeaseScope::Database, blocks(0, 0, "1 ethereum"), blocks(7, u64::MAX, "10 optimism")] {
            let name = scope.lease_name("18ab-3f", 2);
            assert_eq!((LeaseScope::of_lease(&name), run_of_lease(&name)), (scope, "18ab-3f"));
        }
        for name in ["", "run", "run/1", "run/1/2", "run/1/9-3/1 ethereum", "run/1/0-9", "run/1/a-b/1 ethereum"] {
            assert_eq!(LeaseScope::of_lease(name), LeaseScope::Database, "{name}");
        }
    }

    #[test]
    fn only_blocks_of_one_chain_that_do_not_overlap_are_apart() {
        let slice = blocks(10, 19, "1 ethereum");
        for (other, beside) in [
            (blocks(0, 9, "1 ethereum"), ScopeRelation::Apart),
            (blocks(20, 29, "1 ethereum"), ScopeRelation::Apart),
            (blocks(19, 29, "1 ethereum"), ScopeRelation::Overlapping),
            (blocks(0, 10, "1 ethereum"), ScopeRelation::Overlapping),
            (slice.clone(), ScopeRelation::Overlapping),
            (LeaseScope::Database, ScopeRelation::Overlapping),
            (blocks(20, 29, "10 ethereum"), ScopeRelation::OtherChain),
        ] {
            assert_eq!(slice.relation_to(&other), beside, "{other:?}");
            assert_eq!(other.relation_to(&slice), beside, "{other:?}");
        }
    }
}
