//! Forks of BNB Smart Chain and Chapel: bnb-chain/bsc, `params/config.go` (v1.5.17; Osaka and Pasteur of v1.7.8).
//! Precompiles: `core/vm/contracts.go` (0057fd2). The instruction for the difficulty stays (`core/vm/jump_table.go`:
//! Shanghai follows London). Base fees are 0 (`params/protocol_params.go`). Blobs: `DefaultCancunBlobConfig`, and the
//! same since Prague.

use crate::execution::{BlobRule, ChainFork, ExecutionRules, ForkSchedule, ForkStart, Hardfork, PrecompileRule};

/// The chains whose forks are known.
pub(super) static FORKS: &[ForkSchedule] =
    &[ForkSchedule { chains: &[56], forks: &MAINNET }, ForkSchedule { chains: &[97], forks: &CHAPEL }];

static MAINNET: [ChainFork; 9] = [
    ChainFork::new("Istanbul", ForkStart::Block(0), ISTANBUL),
    ChainFork::new("Luban", ForkStart::Block(29_020_050), LUBAN),
    // With Berlin and London.
    ChainFork::new("Hertz", ForkStart::Block(31_302_048), HERTZ),
    ChainFork::new("Shanghai", ForkStart::Time(1_705_996_800), SHANGHAI),
    ChainFork::new("Feynman", ForkStart::Time(1_713_419_340), FEYNMAN),
    // With Cancun.
    ChainFork::new("Haber", ForkStart::Time(1_718_863_500), HABER),
    ChainFork::new("Prague", ForkStart::Time(1_742_436_600), PRAGUE),
    ChainFork::new("Osaka", ForkStart::Time(1_777_343_400), OSAKA),
    ChainFork::unknown("Pasteur", ForkStart::Time(1_787_625_000), "what it changes of the EVM was not read"),
];

static CHAPEL: [ChainFork; 9] = [
    ChainFork::new("Istanbul", ForkStart::Block(0), ISTANBUL),
    ChainFork::new("Luban", ForkStart::Block(29_295_050), LUBAN),
    ChainFork::new("Hertz", ForkStart::Block(31_103_030), HERTZ),
    ChainFork::new("Shanghai", ForkStart::Time(1_702_972_800), SHANGHAI),
    ChainFork::new("Feynman", ForkStart::Time(1_710_136_800), FEYNMAN),
    ChainFork::new("Cancun", ForkStart::Time(1_713_330_442), CANCUN),
    ChainFork::new("Haber", ForkStart::Time(1_716_962_820), HABER),
    ChainFork::new("Prague", ForkStart::Time(1_740_452_880), PRAGUE),
    ChainFork::unknown("Maxwell", ForkStart::Time(1_748_243_100), "Osaka follows it at a time that is not known"),
];

const HEADERS: PrecompileRule = PrecompileRule::own(0x64, "tmHeaderValidate");
const PROOFS: PrecompileRule = PrecompileRule::own(0x65, "iavlMerkleProofValidate");
const SIGNATURES: PrecompileRule = PrecompileRule::own(0x66, "blsSignatureVerify");
const LIGHT_BLOCKS: PrecompileRule = PrecompileRule::own(0x67, "cometBFTLightBlockValidate");
const DOUBLE_SIGNS: PrecompileRule = PrecompileRule::own(0x68, "verifyDoubleSignEvidence");
const RECOVERY: PrecompileRule = PrecompileRule::own(0x69, "secp256k1SignatureRecover");

const ISTANBUL: ExecutionRules =
    ExecutionRules { precompiles: &[HEADERS, PROOFS], ..ExecutionRules::of(Hardfork::Istanbul) };

const LUBAN: ExecutionRules = ExecutionRules { precompiles: &[HEADERS, PROOFS, SIGNATURES, LIGHT_BLOCKS], ..ISTANBUL };

const HERTZ: ExecutionRules = ExecutionRules { hardfork: Hardfork::London, ..LUBAN };

const SHANGHAI: ExecutionRules = ExecutionRules { hardfork: Hardfork::Shanghai, ..LUBAN };

const FEYNMAN: ExecutionRules =
    ExecutionRules { precompiles: &[HEADERS, PROOFS, SIGNATURES, LIGHT_BLOCKS, DOUBLE_SIGNS, RECOVERY], ..SHANGHAI };

const CANCUN: ExecutionRules = ExecutionRules {
    hardfork: Hardfork::Cancun,
    blobs: Some(BlobRule { target: 3, max: 6, update_fraction: 3_338_477, least_price: 1 }),
    ..FEYNMAN
};

const HABER: ExecutionRules = ExecutionRules {
    precompiles: &[HEADERS, PROOFS, SIGNATURES, LIGHT_BLOCKS, DOUBLE_SIGNS, RECOVERY, PrecompileRule::P256Verify],
    ..CANCUN
};

const PRAGUE: ExecutionRules = ExecutionRules { hardfork: Hardfork::Prague, ..HABER };

/// P-256 at the price of EIP-7951: Osaka's.
const OSAKA: ExecutionRules = ExecutionRules { hardfork: Hardfork::Osaka, precompiles: FEYNMAN.precompiles, ..CANCUN };
