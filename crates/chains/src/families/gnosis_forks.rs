//! Forks of Gnosis and Chiado: NethermindEth/nethermind, `src/Nethermind/Chains/gnosis.json` and `chiado.json`;
//! Chiado's Prague and Osaka from its `ChiadoSpecProvider.cs`. Osaka of Gnosis is what a node's `eth_config` said
//! (2026-09). Precompiles are Ethereum's, of the same forks; the base fee goes to an account, and is no rule of code.

use crate::execution::{BlobRule, ChainFork, ExecutionRules, ForkSchedule, ForkStart, Hardfork};

/// The chains whose forks are known.
pub(super) static FORKS: &[ForkSchedule] =
    &[ForkSchedule { chains: &[100], forks: &GNOSIS }, ForkSchedule { chains: &[10_200], forks: &CHIADO }];

static GNOSIS: [ChainFork; 10] = [
    // `eip140Transition`, `eip211Transition`, `eip214Transition` and `eip658Transition` are 0.
    ChainFork::new("Byzantium", ForkStart::Block(0), unlimited(Hardfork::Byzantium)),
    ChainFork::unknown("Constantinople", ForkStart::Block(1_604_400), "Constantinople without Petersburg"),
    // `eip1283DisableTransition`.
    ChainFork::new("Petersburg", ForkStart::Block(2_508_800), unlimited(Hardfork::Petersburg)),
    ChainFork::new("Istanbul", ForkStart::Block(7_298_030), unlimited(Hardfork::Istanbul)),
    ChainFork::new("Berlin", ForkStart::Block(16_101_500), unlimited(Hardfork::Berlin)),
    ChainFork::new("London", ForkStart::Block(19_040_000), unlimited(Hardfork::London)),
    ChainFork::new("Shanghai", ForkStart::Time(1_690_889_660), ExecutionRules::of(Hardfork::Shanghai)),
    ChainFork::new("Cancun", ForkStart::Time(1_710_181_820), with_blobs(Hardfork::Cancun)),
    ChainFork::new("Prague", ForkStart::Time(1_746_021_820), with_blobs(Hardfork::Prague)),
    ChainFork::new("Osaka", ForkStart::Time(1_776_168_380), with_blobs(Hardfork::Osaka)),
];

static CHIADO: [ChainFork; 5] = [
    ChainFork::new("London", ForkStart::Block(0), unlimited(Hardfork::London)),
    ChainFork::new("Shanghai", ForkStart::Time(1_684_934_220), ExecutionRules::of(Hardfork::Shanghai)),
    ChainFork::new("Cancun", ForkStart::Time(1_706_724_940), with_blobs(Hardfork::Cancun)),
    ChainFork::new("Prague", ForkStart::Time(1_741_254_220), with_blobs(Hardfork::Prague)),
    ChainFork::new("Osaka", ForkStart::Time(1_773_653_580), with_blobs(Hardfork::Osaka)),
];

/// Before Shanghai contracts may have any length (`maxCodeSizeTransitionTimestamp`).
const fn unlimited(hardfork: Hardfork) -> ExecutionRules {
    ExecutionRules { longest_code: Some(usize::MAX), ..ExecutionRules::of(hardfork) }
}

/// `blobSchedule` and `eip4844MinBlobGasPrice`.
const fn with_blobs(hardfork: Hardfork) -> ExecutionRules {
    let blobs = BlobRule { target: 1, max: 2, update_fraction: 1_112_826, least_price: 1_000_000_000 };
    ExecutionRules { blobs: Some(blobs), ..ExecutionRules::of(hardfork) }
}
