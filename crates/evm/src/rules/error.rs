//! Why rules are not known.

/// Why calls cannot be run at a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The chain is no public one, and no genesis file was given.
    #[error("the fork rules of chain {0} are not known: load with --genesis FILE")]
    UnknownChain(u64),
    /// The configuration cannot be parsed.
    #[error("the configuration of the chain cannot be read: {0}")]
    Unreadable(String),
    /// An unknown member of the configuration, which may change the behaviour of calls.
    #[error("the configuration of the chain has an unknown rule: {0}")]
    UnknownRule(String),
    /// A fork without a configuration in the sense of EIP-7910.
    #[error("block {block} is before Cancun, the first fork with a configuration as EIP-7910 defines it")]
    BeforeBlobs {
        /// Height of the block.
        block: u64,
    },
    /// Rules of before the first fork of the chain that is known.
    #[error("block {block} is before {fork}, the first fork of its chain whose rules are available here")]
    BeforeFork {
        /// Height of the block.
        block: u64,
        /// Name of the first fork that is known.
        fork: &'static str,
    },
    /// A chain whose forks are not Ethereum's.
    #[error(
        "chain {0} does not have Ethereum's forks, and eth_config and eth_simulateV1 support only these: this server \
         does not know the configuration and the base fees of blocks of this chain"
    )]
    OwnForks(u64),
    /// A header of a form that came after the newest fork of its chain that is known here.
    #[error(
        "extraData of block {block} is of version {version} with {bytes} bytes, which {fork} does not have, the newest fork known here at its time: it may follow a later one"
    )]
    LaterFork {
        /// Height of the block.
        block: u64,
        /// The first byte.
        version: u8,
        /// How many there are.
        bytes: usize,
        /// Name of the newest fork that is known.
        fork: &'static str,
    },
    /// A fork whose rules are not known.
    #[error("block {block} follows {fork} of chain {chain}, whose rules are not known here: {reason}")]
    ForkUnknown {
        /// Height of the block.
        block: u64,
        /// Name of the fork of the block.
        fork: &'static str,
        /// Chain id (EIP-155).
        chain: u64,
        /// Why the rules are not known, in words.
        reason: &'static str,
    },
    /// A chain whose transactions cannot be replayed.
    #[error("transactions of chain {chain} cannot be replayed here: {reason}")]
    TransactionsUnknown {
        /// Chain id (EIP-155).
        chain: u64,
        /// Why they cannot be replayed, in words.
        reason: &'static str,
    },
    /// A chain whose estimates of gas are not known.
    #[error("gas cannot be estimated on chain {chain} here: {reason}")]
    EstimatesUnknown {
        /// Chain id (EIP-155).
        chain: u64,
        /// Why estimates are not known, in words.
        reason: &'static str,
    },
    /// Code reached what only the chain has.
    #[error("the code needs what cannot be executed here: {0}")]
    NotAvailable(String),
    /// Rules that this EVM does not implement.
    #[error("block {block} follows rules that are not available here: {rules}")]
    Unavailable {
        /// Height of the block.
        block: u64,
        /// Name of the fork that is not implemented.
        rules: &'static str,
    },
}
