//! What the EVM of a chain does beyond Ethereum's, fork by fork.

mod header_facts;
mod instructions;
mod precompiles;
mod rules;

pub use header_facts::{HeaderFacts, VersionedHeader};
pub use instructions::InstructionRule;
pub use precompiles::PrecompileRule;
pub use rules::{
    BlobRule, Coinbase, ExecutionRules, ExtraDataForm, ForeignCode, Hardfork, NumberSource, Refunds, RollupRules, Tips,
    TransactionRules,
};

/// A fork of a chain, and the rules from it on.
#[derive(Debug, PartialEq, Eq)]
pub struct ChainFork {
    /// Name of the fork in the chain's documentation.
    pub name: &'static str,
    /// Its first block.
    pub start: ForkStart,
    /// The rules of its blocks.
    pub rules: ForkRules,
}

impl ChainFork {
    /// A fork whose rules are known.
    #[must_use]
    pub const fn new(name: &'static str, start: ForkStart, rules: ExecutionRules) -> Self {
        Self { name, start, rules: ForkRules::Known(rules) }
    }

    /// A fork whose rules are not known, and why.
    #[must_use]
    pub const fn unknown(name: &'static str, start: ForkStart, reason: &'static str) -> Self {
        Self { name, start, rules: ForkRules::Unknown(reason) }
    }
}

/// The rules of a fork.
#[derive(Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "all of them are constants")]
pub enum ForkRules {
    /// They are these.
    Known(ExecutionRules),
    /// They are not known, and why: its blocks are refused.
    Unknown(&'static str),
}

/// Where a fork begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkStart {
    /// At a height.
    Block(u64),
    /// At a time in seconds since 1970.
    Time(u64),
    /// At the first block whose header has at least this version: see [`VersionedHeader`].
    Version(u64),
}

impl ForkStart {
    /// Whether a block is at it or after it.
    #[must_use]
    pub fn is_reached(self, header: HeaderFacts) -> bool {
        match self {
            Self::Block(start) => start <= header.number,
            Self::Time(start) => start <= header.timestamp,
            Self::Version(start) => header.versioned().is_some_and(|versioned| start <= versioned.version),
        }
    }
}

/// The forks of some chains, ascending.
#[derive(Debug)]
pub struct ForkSchedule {
    /// Chain ids (EIP-155).
    pub chains: &'static [u64],
    /// Their forks; blocks before the first one follow rules that are not known.
    pub forks: &'static [ChainFork],
}
