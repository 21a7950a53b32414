//! The parts of a block that a source may or may not have: `ingest_commits.parts` and the heads of `follow` name them.

use std::fmt;

/// A part of blocks, as far as it is committed and read by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockPart {
    /// Headers, the rows of `blocks`.
    Blocks,
    /// Transactions; there wherever the header is.
    Transactions,
    /// Receipts and logs.
    Receipts,
    /// Withdrawals of validators (EIP-4895), from Shanghai on.
    Withdrawals,
    /// Headers of the uncles.
    Uncles,
    /// Call frames of transactions, the rows of `internal_transactions`.
    Traces,
    /// Rewards as a tracing node reports them.
    Rewards,
    /// The whole effect on state.
    State,
    /// The effect on state but for writes to system contracts (EIP-2935, EIP-4788, EIP-7002, EIP-7251).
    StateButSystem,
    /// The effect of the transactions on state, without rewards, withdrawals and system contracts.
    StateTransactions,
}

impl BlockPart {
    /// All of them, in the order in which `ingest_commits` lists them.
    pub const ALL: [Self; 10] = [
        Self::Blocks,
        Self::Transactions,
        Self::Withdrawals,
        Self::Uncles,
        Self::Receipts,
        Self::State,
        Self::StateButSystem,
        Self::StateTransactions,
        Self::Traces,
        Self::Rewards,
    ];

    /// Its name in `ingest_commits.parts`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Transactions => "transactions",
            Self::Receipts => "receipts",
            Self::Withdrawals => "withdrawals",
            Self::Uncles => "uncles",
            Self::Traces => "traces",
            Self::Rewards => "rewards",
            Self::State => "state",
            Self::StateButSystem => "state_but_system",
            Self::StateTransactions => "state_transactions",
        }
    }

    /// What it is called at the start of a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Blocks => "Headers",
            Self::Transactions => "Transactions",
            Self::Receipts => "Receipts",
            Self::Withdrawals => "Withdrawals",
            Self::Uncles => "Uncles",
            Self::Traces => "Traces",
            Self::Rewards => "Rewards",
            Self::State | Self::StateButSystem | Self::StateTransactions => "State changes",
        }
    }

    /// The part of a name; `None` if it is of another release.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Whether it is state, complete or not.
    #[must_use]
    pub const fn is_state(self) -> bool {
        matches!(self, Self::State | Self::StateButSystem | Self::StateTransactions)
    }
}

impl fmt::Display for BlockPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for part in BlockPart::ALL {
            assert_eq!(BlockPart::from_name(part.name()), Some(part));
        }
        assert_eq!(BlockPart::from_name("stat"), None);
    }
}
