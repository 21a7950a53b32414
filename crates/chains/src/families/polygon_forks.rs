//! Forks of Polygon and Amoy: 0xPolygon/bor, `internal/cli/server/chains/mainnet.go` and `amoy.go` (18358b9), and
//! 0xPolygon/erigon, `polygon/chain/chainspecs/bor-mainnet.json` (231d67e) for Lisovo and Chicago. Instructions: bor,
//! `core/vm/jump_table.go`. Precompiles: bor, `core/vm/contracts.go`, and the sets that its test of hard forks expects.
//! Who made the block: bor, `core/evm.go`.

use alloy_primitives::{Address, address};

use crate::execution::{
    ChainFork, Coinbase, ExecutionRules, ForkSchedule, ForkStart, Hardfork, InstructionRule, PrecompileRule,
};

/// The chains whose forks are known.
pub(super) static FORKS: &[ForkSchedule] =
    &[ForkSchedule { chains: &[137], forks: &POLYGON }, ForkSchedule { chains: &[80_002], forks: &AMOY }];

static POLYGON: [ChainFork; 12] = [
    ChainFork::new("Petersburg", ForkStart::Block(0), of(Hardfork::Petersburg)),
    ChainFork::new("Istanbul", ForkStart::Block(3_395_000), of(Hardfork::Istanbul)),
    ChainFork::new("Berlin", ForkStart::Block(14_750_000), of(Hardfork::Berlin)),
    ChainFork::new("London", ForkStart::Block(23_850_000), of(Hardfork::London)),
    ChainFork::new("Shanghai", ForkStart::Block(50_523_000), of(Hardfork::Shanghai)),
    ChainFork::new("Cancun", ForkStart::Block(54_876_000), CANCUN),
    ChainFork::new("Ahmedabad", ForkStart::Block(62_278_656), AHMEDABAD),
    ChainFork::new("Prague", ForkStart::Block(73_440_256), PRAGUE),
    ChainFork::new("Rio", ForkStart::Block(77_414_656), RIO),
    ChainFork::new("MadhugiriPro", ForkStart::Block(80_084_800), MADHUGIRI_PRO),
    ChainFork::new("LisovoPro", ForkStart::Block(83_756_500), LISOVO_PRO),
    ChainFork::unknown("Chicago", ForkStart::Block(87_218_600), "its prices of gas (PIP-88) are not implemented"),
];

static AMOY: [ChainFork; 9] = [
    ChainFork::new("Berlin", ForkStart::Block(0), of(Hardfork::Berlin)),
    ChainFork::new("Shanghai", ForkStart::Block(73_100), of(Hardfork::Shanghai)),
    ChainFork::new("Cancun", ForkStart::Block(5_423_600), CANCUN),
    ChainFork::new("Ahmedabad", ForkStart::Block(11_865_856), AHMEDABAD),
    ChainFork::new("Prague", ForkStart::Block(22_765_056), PRAGUE),
    ChainFork::new("Rio", ForkStart::Block(26_272_256), RIO),
    ChainFork::new("Madhugiri", ForkStart::Block(28_899_616), MADHUGIRI),
    ChainFork::new("MadhugiriPro", ForkStart::Block(29_287_400), MADHUGIRI_PRO),
    ChainFork::unknown("Dandeli", ForkStart::Block(31_890_000), "Lisovo follows it at a height that is not known"),
];

/// Headers name no beneficiary: code sees who sealed the block.
const fn of(hardfork: Hardfork) -> ExecutionRules {
    ExecutionRules { coinbase: Coinbase::Producer, ..ExecutionRules::of(hardfork) }
}

/// There are no blobs: none of the instructions and precompiles for them.
const CANCUN: ExecutionRules = ExecutionRules {
    precompiles: &[NO_POINTS, PrecompileRule::P256Verify],
    instructions: &[InstructionRule::Undefined(BLOBHASH), InstructionRule::Undefined(BLOBBASEFEE)],
    ..of(Hardfork::Cancun)
};

/// Longer contracts (PIP-30): bor, `MaxCodeSizePostAhmedabad`.
const AHMEDABAD: ExecutionRules = ExecutionRules { longest_code: Some(32_768), ..CANCUN };

const PRAGUE: ExecutionRules = ExecutionRules { hardfork: Hardfork::Prague, ..AHMEDABAD };

const RIO: ExecutionRules = ExecutionRules { coinbase: Coinbase::Account(FEES), ..PRAGUE };

const MADHUGIRI: ExecutionRules = ExecutionRules { precompiles: &[PrecompileRule::OsakaPowers], ..RIO };

const MADHUGIRI_PRO: ExecutionRules =
    ExecutionRules { precompiles: &[PrecompileRule::OsakaPowers, PrecompileRule::P256Verify], ..RIO };

/// CLZ (EIP-7939), and P-256 at the price of EIP-7951: Osaka's.
const LISOVO_PRO: ExecutionRules =
    ExecutionRules { hardfork: Hardfork::Osaka, precompiles: &[NO_POINTS], ..MADHUGIRI_PRO };

/// Who made every block since Rio, as code sees it: `coinbase` of the configuration.
const FEES: Address = address!("7ee41d8a25641000661b1ef5e6ae8a00400466b0");

/// The evaluation of points for blobs (EIP-4844).
const NO_POINTS: PrecompileRule = PrecompileRule::Absent { address: 0x0a };
const BLOBHASH: u8 = 0x49;
const BLOBBASEFEE: u8 = 0x4a;
