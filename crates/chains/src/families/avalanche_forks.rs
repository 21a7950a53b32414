//! Forks of Avalanche's C-Chain and Fuji: ava-labs/avalanchego, `upgrade/upgrade.go` (0048394), to Ethereum's by
//! ava-labs/coreth, `params/config_extra.go` (`SetEthUpgrades`). Precompiles: coreth, `params/hooks_libevm.go`; Warp:
//! `precompile/contracts/warp/module.go`. No refunds since Apricot Phase 1: `core/state_transition.go`. The instruction
//! for the difficulty gives it: `core/evm.go`, `OverrideNewEVMArgs`. Before Apricot Phase 2 the EVM had instructions of
//! its own.

use alloy_primitives::address;

use crate::execution::{
    BlobRule, ChainFork, ExecutionRules, ForkSchedule, ForkStart, Hardfork, PrecompileRule, Refunds,
};

/// The chains whose forks are known.
pub(super) static FORKS: &[ForkSchedule] =
    &[ForkSchedule { chains: &[43_114], forks: &MAINNET }, ForkSchedule { chains: &[43_113], forks: &FUJI }];

static MAINNET: [ChainFork; 5] = forks([1_620_644_400, 1_629_813_600, 1_709_740_800, 1_734_368_400, 1_763_568_000]);
static FUJI: [ChainFork; 5] = forks([1_620_223_200, 1_629_140_400, 1_707_840_000, 1_732_550_400, 1_761_750_000]);

const fn forks(times: [u64; 5]) -> [ChainFork; 5] {
    let [apricot_2, apricot_3, durango, etna, granite] = times;
    [
        ChainFork::new("Apricot Phase 2", ForkStart::Time(apricot_2), APRICOT_2),
        ChainFork::new("Apricot Phase 3", ForkStart::Time(apricot_3), APRICOT_3),
        ChainFork::new("Durango", ForkStart::Time(durango), DURANGO),
        ChainFork::new("Etna", ForkStart::Time(etna), ETNA),
        ChainFork::new("Granite", ForkStart::Time(granite), GRANITE),
    ]
}

const GENESIS: PrecompileRule =
    PrecompileRule::Own { address: address!("0100000000000000000000000000000000000000"), name: "the genesis contract" };
const ASSET_BALANCE: PrecompileRule =
    PrecompileRule::Own { address: address!("0100000000000000000000000000000000000001"), name: "nativeAssetBalance" };
const ASSET_CALL: PrecompileRule =
    PrecompileRule::Own { address: address!("0100000000000000000000000000000000000002"), name: "nativeAssetCall" };
const WARP: PrecompileRule =
    PrecompileRule::Own { address: address!("0200000000000000000000000000000000000005"), name: "Warp" };

const APRICOT_2: ExecutionRules = ExecutionRules {
    precompiles: &[GENESIS, ASSET_BALANCE, ASSET_CALL],
    refunds: Refunds::Nothing,
    ..ExecutionRules::of(Hardfork::Berlin)
};

const APRICOT_3: ExecutionRules = ExecutionRules { hardfork: Hardfork::London, ..APRICOT_2 };

const DURANGO: ExecutionRules = ExecutionRules {
    hardfork: Hardfork::Shanghai,
    precompiles: &[GENESIS, ASSET_BALANCE, ASSET_CALL, WARP],
    ..APRICOT_3
};

/// No block has a blob: the price of one stays the least.
const ETNA: ExecutionRules = ExecutionRules {
    hardfork: Hardfork::Cancun,
    blobs: Some(BlobRule { target: 3, max: 6, update_fraction: 3_338_477, least_price: 1 }),
    ..DURANGO
};

const GRANITE: ExecutionRules =
    ExecutionRules { precompiles: &[GENESIS, ASSET_BALANCE, ASSET_CALL, WARP, PrecompileRule::P256Verify], ..ETNA };
