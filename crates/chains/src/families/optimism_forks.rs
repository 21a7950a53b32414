//! Forks of the OP stack (<https://specs.optimism.io/protocol/superchain-upgrades.html>), at the times that
//! `alloy-op-hardforks` 0.5.0 has. Forks that change nothing of how transactions run, such as Holocene, are not here.

use crate::execution::{
    ChainFork, ExecutionRules, ExtraDataForm, ForkSchedule, ForkStart, Hardfork, PrecompileRule, RollupRules,
    TransactionRules,
};
use crate::fees::rollup_fee::{L1FeeFormula, OperatorFeeFormula};

/// The type of deposits.
pub(super) const DEPOSIT_TYPE: u8 = 0x7e;

/// The chains whose forks are known. Before Bedrock, OP Mainnet had another EVM.
pub(super) static FORKS: &[ForkSchedule] = &[
    ForkSchedule { chains: &[10], forks: &OP_MAINNET },
    ForkSchedule { chains: &[8453], forks: &BASE },
    // OP Sepolia, Base Sepolia.
    ForkSchedule { chains: &[11_155_420, 84_532], forks: &SEPOLIA },
];

const MAINNET_TIMES: [u64; 6] =
    [1_704_992_401, 1_710_374_401, 1_720_627_201, 1_726_070_401, 1_746_806_401, 1_764_691_201];
const SEPOLIA_TIMES: [u64; 6] =
    [1_699_981_200, 1_708_534_800, 1_716_998_400, 1_723_478_400, 1_744_905_600, 1_763_568_001];

static OP_MAINNET: [ChainFork; 7] = forks(105_235_063, MAINNET_TIMES);
static BASE: [ChainFork; 7] = forks(0, MAINNET_TIMES);
static SEPOLIA: [ChainFork; 7] = forks(0, SEPOLIA_TIMES);

/// Bedrock with Regolith's rules at a height, and those after it at their times.
const fn forks(bedrock: u64, times: [u64; 6]) -> [ChainFork; 7] {
    let [canyon, ecotone, fjord, granite, isthmus, jovian] = times;
    [
        ChainFork::new("Bedrock", ForkStart::Block(bedrock), REGOLITH),
        ChainFork::new("Canyon", ForkStart::Time(canyon), CANYON),
        ChainFork::new("Ecotone", ForkStart::Time(ecotone), ECOTONE),
        ChainFork::new("Fjord", ForkStart::Time(fjord), FJORD),
        ChainFork::new("Granite", ForkStart::Time(granite), GRANITE),
        ChainFork::new("Isthmus", ForkStart::Time(isthmus), ISTHMUS),
        ChainFork::new("Jovian", ForkStart::Time(jovian), JOVIAN),
    ]
}

const REGOLITH: ExecutionRules =
    ExecutionRules { transactions: paying(L1FeeFormula::Overhead, None), ..ExecutionRules::of(Hardfork::Merge) };

const CANYON: ExecutionRules = ExecutionRules { hardfork: Hardfork::Shanghai, ..REGOLITH };

const ECOTONE: ExecutionRules =
    ExecutionRules { hardfork: Hardfork::Cancun, transactions: paying(L1FeeFormula::Scalars, None), ..CANYON };

const FJORD: ExecutionRules = ExecutionRules {
    precompiles: &[PrecompileRule::P256Verify],
    transactions: paying(L1FeeFormula::EstimatedSize, None),
    ..ECOTONE
};

// Holocene brought the first form of `extraData`; what came before it are a few bytes without a meaning.
const GRANITE: ExecutionRules = ExecutionRules {
    precompiles: &[PrecompileRule::P256Verify, at_most(BN254_PAIRING, 112_687)],
    extra_data: &[HOLOCENE_DATA],
    ..FJORD
};

const ISTHMUS: ExecutionRules = ExecutionRules {
    hardfork: Hardfork::Prague,
    precompiles: &[
        PrecompileRule::P256Verify,
        at_most(BN254_PAIRING, 112_687),
        at_most(BLS_G1_MSM, 513_760),
        at_most(BLS_G2_MSM, 488_448),
        at_most(BLS_PAIRING, 235_008),
    ],
    transactions: paying(L1FeeFormula::EstimatedSize, Some(OperatorFeeFormula::Millionths)),
    ..GRANITE
};

const JOVIAN: ExecutionRules = ExecutionRules {
    precompiles: &[
        PrecompileRule::P256Verify,
        at_most(BN254_PAIRING, 81_984),
        at_most(BLS_G1_MSM, 288_960),
        at_most(BLS_G2_MSM, 278_784),
        at_most(BLS_PAIRING, 156_672),
    ],
    transactions: paying(L1FeeFormula::EstimatedSize, Some(OperatorFeeFormula::Hundreds)),
    extra_data: &[HOLOCENE_DATA, JOVIAN_DATA],
    ..ISTHMUS
};

/// Denominator and elasticity of the base fee (<https://specs.optimism.io/protocol/holocene/exec-engine.html>).
const HOLOCENE_DATA: ExtraDataForm = ExtraDataForm { version: 0, bytes: 9 };
/// These, and the least base fee (<https://specs.optimism.io/protocol/jovian/exec-engine.html>).
const JOVIAN_DATA: ExtraDataForm = ExtraDataForm { version: 1, bytes: 17 };

const BN254_PAIRING: u8 = 0x08;
const BLS_G1_MSM: u8 = 0x0c;
const BLS_G2_MSM: u8 = 0x0e;
const BLS_PAIRING: u8 = 0x0f;

const fn at_most(address: u8, bytes: usize) -> PrecompileRule {
    PrecompileRule::LongestInput { address, bytes }
}

const fn paying(l1_fee: L1FeeFormula, operator_fee: Option<OperatorFeeFormula>) -> TransactionRules {
    TransactionRules::Rollup(RollupRules { deposit: DEPOSIT_TYPE, l1_fee, operator_fee })
}
