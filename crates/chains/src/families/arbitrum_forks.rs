//! Forks of Arbitrum since Nitro, by the version of ArbOS that headers tell: OffchainLabs/go-ethereum,
//! `params/config.go` (11 Shanghai, 20 Cancun, 40 Prague, 50 Osaka; nitro v3.11.3 knows versions up to 61).
//! Precompiles: OffchainLabs/nitro, `gethhook/geth-hook.go` (Ethereum's: Berlin's before 30, Cancun's and P-256 from 30
//! on, Osaka's from 50 on); go-ethereum, `core/types/arbitrum_signer.go` (the chain's own). Number and hashes of
//! blocks: `core/vm/instructions_arbitrum.go`. Programs: `core/state/statedb_arbitrum.go`. Tips and data on L1: nitro,
//! `arbos/tx_processor.go`.

use alloy_primitives::address;

use crate::execution::{
    ChainFork, ExecutionRules, ForeignCode, ForkSchedule, ForkStart, Hardfork, InstructionRule, NumberSource,
    PrecompileRule, Tips,
};

/// One, Nova, Sepolia, and the Orbit chains of the list: headers tell the version of each.
pub(super) static FORKS: &[ForkSchedule] = &[ForkSchedule {
    chains: &[42_161, 42_170, 421_614, 421_613, 33_139, 660_279, 1996, 666_666_666, 46_630],
    forks: &VERSIONS,
}];

static VERSIONS: [ChainFork; 7] = [
    ChainFork::new("ArbOS 1", ForkStart::Version(1), NITRO),
    ChainFork::new("ArbOS 11", ForkStart::Version(11), SHANGHAI),
    ChainFork::new("ArbOS 20", ForkStart::Version(20), CANCUN),
    ChainFork::new("ArbOS 30", ForkStart::Version(30), STYLUS),
    ChainFork::new("ArbOS 40", ForkStart::Version(40), PRAGUE),
    ChainFork::new("ArbOS 50", ForkStart::Version(50), OSAKA),
    ChainFork::unknown("ArbOS 62", ForkStart::Version(62), "versions after 61 were not read"),
];

/// Code sees blocks of L1, whose hashes are in ArbOS. A transaction pays for its data on L1 with gas, by its size after
/// compression.
const NITRO: ExecutionRules = ExecutionRules {
    precompiles: OF_ARBOS,
    instructions: &[InstructionRule::Refused(BLOCKHASH)],
    number: NumberSource::L1,
    tips: Tips::Dropped,
    no_estimates: Some("a part of it pays for data on L1, by prices and sizes that are not indexed"),
    ..ExecutionRules::of(Hardfork::Merge)
};

const SHANGHAI: ExecutionRules = ExecutionRules { hardfork: Hardfork::Shanghai, ..NITRO };

/// Headers have no price of blobs.
const CANCUN: ExecutionRules = ExecutionRules {
    hardfork: Hardfork::Cancun,
    precompiles: BEFORE_STYLUS,
    instructions: &[InstructionRule::Refused(BLOCKHASH), InstructionRule::Refused(BLOBBASEFEE)],
    ..SHANGHAI
};

const STYLUS: ExecutionRules = ExecutionRules {
    precompiles: SINCE_STYLUS,
    foreign_code: Some(ForeignCode { prefix: &[0xef, 0xf0, 0x00], name: "a Stylus program" }),
    ..CANCUN
};

const PRAGUE: ExecutionRules = ExecutionRules { hardfork: Hardfork::Prague, precompiles: WITHOUT_BLS, ..STYLUS };

const OSAKA: ExecutionRules = ExecutionRules { hardfork: Hardfork::Osaka, precompiles: OF_ARBOS, ..STYLUS };

const BLOCKHASH: u8 = 0x40;
const BLOBBASEFEE: u8 = 0x4a;

/// How many precompiles are the chain's own.
const COUNT: usize = 20;

/// All of them, whatever version brought each: calls of an address before it were of no code.
const OWN: [PrecompileRule; COUNT] = [
    PrecompileRule::own(0x64, "ArbSys"),
    PrecompileRule::own(0x65, "ArbInfo"),
    PrecompileRule::own(0x66, "ArbAddressTable"),
    PrecompileRule::own(0x67, "ArbBLS"),
    PrecompileRule::own(0x68, "ArbFunctionTable"),
    PrecompileRule::own(0x69, "ArbosTest"),
    PrecompileRule::own(0x6b, "ArbOwnerPublic"),
    PrecompileRule::own(0x6c, "ArbGasInfo"),
    PrecompileRule::own(0x6d, "ArbAggregator"),
    PrecompileRule::own(0x6e, "ArbRetryableTx"),
    PrecompileRule::own(0x6f, "ArbStatistics"),
    PrecompileRule::own(0x70, "ArbOwner"),
    PrecompileRule::own(0x71, "ArbWasm"),
    PrecompileRule::own(0x72, "ArbWasmCache"),
    PrecompileRule::own(0x73, "ArbNativeTokenManager"),
    PrecompileRule::own(0x74, "ArbFilteredTransactionsManager"),
    PrecompileRule::own(0xc8, "NodeInterface"),
    PrecompileRule::own(0xc9, "NodeInterfaceDebug"),
    PrecompileRule::own(0xff, "ArbDebug"),
    PrecompileRule::Own { address: address!("00000000000000000000000000000000000a4b05"), name: "ArbosActs" },
];

const OF_ARBOS: &[PrecompileRule] = &OWN;
const BEFORE_STYLUS: &[PrecompileRule] = &with::<1, { COUNT + 1 }>([absent(0x0a)]);
const SINCE_STYLUS: &[PrecompileRule] = &with::<1, { COUNT + 1 }>([PrecompileRule::P256Verify]);
/// Those of BLS12-381, which Prague has, came with Osaka's.
const WITHOUT_BLS: &[PrecompileRule] = &with::<8, { COUNT + 8 }>([
    PrecompileRule::P256Verify,
    absent(0x0b),
    absent(0x0c),
    absent(0x0d),
    absent(0x0e),
    absent(0x0f),
    absent(0x10),
    absent(0x11),
]);

const fn absent(address: u8) -> PrecompileRule {
    PrecompileRule::Absent { address }
}

/// The chain's own, and more.
const fn with<const MORE: usize, const ALL: usize>(more: [PrecompileRule; MORE]) -> [PrecompileRule; ALL] {
    let mut all = [PrecompileRule::P256Verify; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < COUNT { OWN[at] } else { more[at - COUNT] };
        at += 1;
    }
    all
}
