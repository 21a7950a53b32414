//! Calls on chains with forks of their own: what code sees of blocks, and what is refused.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_primitives::{address, hex, keccak256};

use crate::{
    Account, BlockContext, BlockOverrides, Call, CallContext, Failure, Fees, Key, Limits, NoNewerBlocks, PartialState,
    Point, Schedule, StateCache, StateValue, Step, access_list, bytecode, estimate, execute,
};
use trawl_core::primitives::{Address, B256, Bytes, U256};

const CONTRACT: Address = address!("c0de00000000000000000000000000000000c0de");
const SENDER: Address = address!("1000000000000000000000000000000000000001");
const PRODUCER: Address = address!("2000000000000000000000000000000000000002");

/// A chain at a block, and the code of a contract.
struct Scene {
    chain: u64,
    block: BlockContext,
    code: Vec<u8>,
    call: Call,
}

/// A word that code leaves on the stack, returned: without PUSH0, which is younger than some forks.
fn returning(code: &[u8]) -> Vec<u8> {
    [code, &hex!("60005260206000f3")].concat()
}

impl Scene {
    /// A call of code at a block that has a difficulty of 2.
    fn new(chain: u64, number: u64, timestamp: u64, code: Vec<u8>) -> Self {
        let block = BlockContext {
            number,
            timestamp,
            difficulty: U256::from(2),
            mix_hash: Some(B256::repeat_byte(7)),
            gas_limit: 30_000_000,
            producer: PRODUCER,
            ..BlockContext::default()
        };
        Self { chain, block, code, call: Call { from: SENDER, to: Some(CONTRACT), ..Call::default() } }
    }

    fn of_version(version: u64, code: Vec<u8>) -> Self {
        let mut scene = Self::new(42_161, 150_000_000, 1_700_000_000, code);
        let mut mix_hash = B256::ZERO;
        mix_hash[8..16].copy_from_slice(&18_563_000_u64.to_be_bytes());
        mix_hash[16..24].copy_from_slice(&version.to_be_bytes());
        scene.block.mix_hash = Some(mix_hash);
        scene.block.difficulty = U256::from(1);
        scene.block.base_fee_per_gas = 100_000_000;
        scene
    }

    fn run<T>(&self, run: impl Fn(&Call, CallContext<'_>) -> Step<T>) -> Result<T, Failure> {
        let rules = Schedule::of_chain(self.chain).expect("a known chain").at(&self.block).expect("known rules");
        let mut state =
            PartialState::new(StateCache::new(1 << 20), Point::default(), Arc::new(NoNewerBlocks), BTreeMap::new());
        let limits = Limits { gas: 50_000_000, deadline: Instant::now() + Duration::from_secs(60) };
        let code_hash = keccak256(&self.code);
        loop {
            let (block, overrides) = (&self.block, &BlockOverrides::default());
            match run(&self.call, CallContext { block, overrides, rules: &rules, state: &state, limits }) {
                Step::Done(outcome) => return outcome,
                Step::Missing(keys) => {
                    for key in keys {
                        let value = match key {
                            Key::Account(CONTRACT) => StateValue::Account(Account { code_hash, ..Account::default() }),
                            Key::Account(SENDER) => {
                                StateValue::Account(Account { balance: U256::from(1_u64 << 60), ..Account::default() })
                            }
                            Key::Account(_) => StateValue::Account(Account::default()),
                            Key::Code(_) => StateValue::Code(bytecode(self.code.clone().into())),
                            Key::Slot(..) => StateValue::Slot(U256::ZERO),
                            Key::BlockHash(_) => StateValue::BlockHash(B256::repeat_byte(9)),
                            Key::Block(_) => panic!("{key:?}"),
                        };
                        state.learn(key, value);
                    }
                }
            }
        }
    }

    fn output(&self) -> Result<Bytes, Failure> {
        self.run(execute)
    }

    fn word(&self) -> U256 {
        U256::from_be_slice(&self.output().expect("a word"))
    }

    fn refused(&self) -> String {
        match self.output() {
            Err(Failure::NotAvailable(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    }
}

/// Code that calls an address and gives whether the call succeeded.
fn calling(address: Address) -> Vec<u8> {
    let push =
        [&hex!("60006000600060006000")[..], &[0x73], address.as_slice(), &hex!("62ffffff")[..], &[0xf1]].concat();
    returning(&push)
}

fn last_byte(byte: u8) -> Address {
    Address::with_last_byte(byte)
}

const AT_PUSH0: &[u8] = &hex!("5f");

#[test]
fn instructions_come_with_the_forks_of_the_chain() {
    let push0 = |chain, (number, time)| Scene::new(chain, number, time, returning(AT_PUSH0)).output();
    let invalid = || Err(Failure::Halted("invalid opcode".into()));
    for (chain, before, after) in [
        (100, (28_000_000, 1_690_889_659), (28_000_000, 1_690_889_660)),
        (137, (50_522_999, 1_700_000_000), (50_523_000, 1_700_000_000)),
        (56, (35_000_000, 1_705_996_799), (35_000_000, 1_705_996_800)),
        (43_114, (40_000_000, 1_709_740_799), (40_000_000, 1_709_740_800)),
    ] {
        assert_eq!(push0(chain, before), invalid(), "{chain}");
        assert_eq!(push0(chain, after), Ok(vec![0; 32].into()), "{chain}");
    }
    assert_eq!(Scene::of_version(10, returning(AT_PUSH0)).output(), invalid());
    assert_eq!(Scene::of_version(11, returning(AT_PUSH0)).word(), U256::ZERO);
    // CLZ, of 1.
    let clz = returning(&hex!("60011e"));
    assert_eq!(Scene::new(137, 83_756_499, 1, clz.clone()).output(), invalid());
    assert_eq!(Scene::new(137, 83_756_500, 1, clz).word(), U256::from(255));
}

#[test]
fn code_sees_the_difficulty_where_there_is_one() {
    let difficulty = returning(&hex!("44"));
    for (chain, number, time) in [
        (137, 60_000_000, 1_720_000_000),
        (56, 50_000_000, 1_750_000_000),
        (43_114, 55_000_000, 1_750_000_000),
        (100, 20_000_000, 1_640_000_000),
    ] {
        assert_eq!(Scene::new(chain, number, time, difficulty.clone()).word(), U256::from(2), "{chain}");
    }
    assert_eq!(Scene::of_version(51, difficulty.clone()).word(), U256::from(1));
    let mut merged = Scene::new(100, 40_000_000, 1_750_000_000, difficulty);
    merged.block.difficulty = U256::ZERO;
    assert_eq!(merged.word(), U256::from_be_bytes([7; 32]), "the mix hash");
}

#[test]
fn chains_without_blobs_have_no_instructions_for_them() {
    let (number, time) = (60_000_000, 1_750_000_000);
    for code in [hex!("5f49").to_vec(), hex!("4a").to_vec()] {
        let polygon = Scene::new(137, number, time, returning(&code)).output();
        assert_eq!(polygon, Err(Failure::Halted("invalid opcode".into())));
    }
    for (chain, price) in [(56, 1), (43_114, 1), (100, 1_000_000_000_u64)] {
        let mut scene = Scene::new(chain, number, time, returning(&hex!("4a")));
        scene.block.excess_blob_gas = Some(0);
        assert_eq!(scene.word(), U256::from(price), "{chain}");
    }
    let text = Scene::of_version(32, returning(&hex!("4a"))).refused();
    assert!(text.contains("the instruction BLOBBASEFEE") && text.contains("chain 42161"), "{text}");
}

#[test]
fn polygon_says_who_made_its_blocks() {
    let coinbase = |number| Scene::new(137, number, 1_700_000_000, returning(&hex!("41"))).word();
    assert_eq!(coinbase(77_414_655), U256::from_be_slice(PRODUCER.as_slice()));
    let fees = address!("7ee41d8a25641000661b1ef5e6ae8a00400466b0");
    assert_eq!(coinbase(77_414_656), U256::from_be_slice(fees.as_slice()));
}

#[test]
fn arbitrum_has_the_blocks_of_l1_and_no_tips() {
    assert_eq!(Scene::of_version(10, returning(&hex!("43"))).word(), U256::from(18_563_000));
    let text = Scene::of_version(10, returning(&hex!("600140"))).refused();
    assert!(text.contains("the instruction BLOCKHASH"), "{text}");
    // GASPRICE: the base fee, whatever tip a call offers.
    let mut priced = Scene::of_version(32, returning(&hex!("3a")));
    for fees in [Fees::Price(700_000_000), Fees::Dynamic { max: 900_000_000, priority: 5 }] {
        priced.call.fees = fees;
        assert_eq!(priced.word(), U256::from(100_000_000), "{fees:?}");
    }
    let unknown = priced.run(estimate).expect_err("not known").to_string();
    assert!(
        unknown.starts_with("gas cannot be estimated on chain 42161 here: a part of it pays for data"),
        "{unknown}"
    );
}

#[test]
fn precompiles_of_a_chain_are_refused_by_name() {
    let now = 1_750_000_000;
    for (chain, number, address, name) in [
        (56, 50_000_000, last_byte(0x64), "tmHeaderValidate"),
        (56, 50_000_000, last_byte(0x69), "secp256k1SignatureRecover"),
        (43_114, 60_000_000, address!("0100000000000000000000000000000000000001"), "nativeAssetBalance"),
        (43_114, 60_000_000, address!("0200000000000000000000000000000000000005"), "Warp"),
    ] {
        let text = Scene::new(chain, number, now, calling(address)).refused();
        assert!(text.contains(&format!("{address} is {name}, a precompile of chain {chain}")), "{text}");
    }
    let text = Scene::of_version(32, calling(last_byte(0x64))).refused();
    assert!(text.contains("is ArbSys"), "{text}");
    // Before its fork such an address is an account without code.
    let early = Scene::new(56, 31_302_048, 1_700_000_000, calling(last_byte(0x68)));
    assert_eq!(early.word(), U256::from(1));
    let gnosis = Scene::new(100, 40_000_000, now, calling(last_byte(0x64)));
    assert_eq!(gnosis.word(), U256::from(1), "an account as any other");
}

#[test]
fn programs_that_are_not_the_evms_are_refused_by_name() {
    let program = hex!("eff00000deadbeef").to_vec();
    let text = Scene::of_version(32, program.clone()).refused();
    assert!(text.contains(&format!("the code of {CONTRACT} is a Stylus program")), "{text}");
    let before = Scene::of_version(20, program).output();
    assert_eq!(before, Err(Failure::Halted("invalid opcode".into())));
}

/// Whether a call of a precompile with a gas limit succeeds.
fn succeeds(mut scene: Scene, address: Address, input: &[u8], gas: u64) -> bool {
    scene.call.to = Some(address);
    scene.call.input = input.to_vec().into();
    scene.call.gas = Some(gas);
    match scene.output() {
        Ok(output) => !output.is_empty(),
        Err(Failure::NotAvailable(error)) => panic!("{error}"),
        Err(_) => false,
    }
}

#[test]
fn precompiles_of_ethereum_come_and_go_with_the_forks_of_the_chain() {
    // A signature of RIP-7212's test vectors.
    let signature = hex!(
        "4cee90eb86eaa050036147a12d49004b6b9c72bd725d39d4785011fe190f0b4da73bd4903f0ce3b639bbbf6e8e80d16931ff4bcf5993d58468e8fb19086e8cac36dbcd03009df8c59286b162af3bd7fcc0450c9aa81be5d10d312af6c66b1d604aebd3099c618202fcfe16ae7770b0c49ab5eadf74b754204a3bb6060e44eff37618b065f9832de4ca6ca971a7a1adc826d0f7c00181a5fb2ddf79ae00b4e10e"
    );
    let p256 = Address::from_word(B256::from(U256::from(0x100)));
    // 21,000 for the transaction, at most 16 a byte, 3,450 before Osaka and 6,900 since.
    let (cheap, dear) = (21_000 + 16 * 160 + 3_450, 21_000 + 16 * 160 + 6_900);
    let at = |chain, number, time| Scene::new(chain, number, time, Vec::new());
    for (scene, gas, has_it) in [
        (at(137, 54_875_999, 1), dear, false),
        (at(137, 54_876_000, 1), cheap, true),
        (at(80_002, 28_899_616, 1), dear, false),
        (at(80_002, 29_287_400, 1), dear, true),
        (at(56, 40_000_000, 1_718_863_499), dear, false),
        (at(56, 40_000_000, 1_718_863_500), cheap, true),
        (at(43_114, 70_000_000, 1_763_567_999), dear, false),
        (at(43_114, 70_000_000, 1_763_568_000), cheap, true),
        (Scene::of_version(20, Vec::new()), dear, false),
        (Scene::of_version(30, Vec::new()), cheap, true),
    ] {
        let name = format!("chain {} block {} {:?}", scene.chain, scene.block.number, scene.block.mix_hash);
        assert_eq!(succeeds(scene, p256, &signature, gas), has_it, "{name}");
    }
    // Pairs of points at infinity of BLS12-381.
    let pairing = |version| succeeds(Scene::of_version(version, Vec::new()), last_byte(0x0f), &[0; 384], 1_000_000);
    assert_eq!([40, 50].map(pairing), [false, true]);
    // The evaluation of points: without a precompile an account without code takes any input.
    let points =
        |scene: Scene| Scene { call: Call { to: Some(last_byte(0x0a)), ..scene.call.clone() }, ..scene }.output();
    assert_eq!(points(at(137, 60_000_000, 1)), Ok(Bytes::new()));
    assert!(points(at(137, 80_084_800, 1)).is_err());
    assert_eq!(points(at(137, 83_756_500, 1)), Ok(Bytes::new()));
    assert_eq!(points(Scene::of_version(20, Vec::new())), Ok(Bytes::new()));
    assert!(points(Scene::of_version(30, Vec::new())).is_err());
    // Numbers of more than 1,024 bytes (EIP-7823).
    let mut long = [0; 96];
    long[30..32].copy_from_slice(&1025_u16.to_be_bytes());
    long[95] = 1;
    let powers = |number| succeeds(at(137, number, 1), last_byte(5), &long, 5_000_000);
    assert_eq!([80_084_799, 80_084_800].map(powers), [true, false]);
}

#[test]
fn avalanche_gives_no_gas_back() {
    // Slot 0 is set and cleared.
    let code = hex!("60016000556000600055").to_vec();
    let used = |chain, time| {
        let scene = Scene::new(chain, 30_000_000, time, code.clone());
        scene.run(access_list).expect("valid").gas_used
    };
    let (avalanche, polygon) = (used(43_114, 1_700_000_000), used(137, 1_700_000_000));
    assert!(avalanche > polygon, "{avalanche} {polygon}");
}
