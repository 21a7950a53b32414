//! Fees, deposits and precompiles of OP Mainnet, fork by fork. Expected figures are worked out by hand from the
//! specification.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alloy_primitives::{address, hex};
use trawl_chains::{BASE_FEE_VAULT, DataSize, FEE_PARAMETERS, L1_FEE_VAULT, OPERATOR_FEE_VAULT};

use crate::replay::{Progress, RecordedTransaction, Replay, Tracer};
use crate::{
    Account, BlockContext, BlockOverrides, Call, CallContext, Failure, Fees, Key, Limits, NoNewerBlocks, Origin,
    PartialState, Point, Rules, RulesError, Schedule, StateCache, StateValue, Step, execute,
};
use trawl_core::primitives::{Address, B256, Bytes, U256};

const SENDER: Address = address!("1000000000000000000000000000000000000001");
const RECEIVER: Address = address!("2000000000000000000000000000000000000002");
const MINER: Address = address!("4200000000000000000000000000000000000011");

const ECOTONE: u64 = 1_710_374_401;
const FJORD: u64 = 1_720_627_201;
const GRANITE: u64 = 1_726_070_401;
const ISTHMUS: u64 = 1_746_806_401;
const JOVIAN: u64 = 1_764_691_201;

fn block(timestamp: u64) -> BlockContext {
    BlockContext {
        number: 115_000_000,
        timestamp,
        miner: MINER,
        gas_limit: 60_000_000,
        base_fee_per_gas: 7,
        ..BlockContext::default()
    }
}

fn rules(timestamp: u64) -> Rules {
    Schedule::of_chain(10).expect("a known chain").at(&block(timestamp)).expect("known rules")
}

fn empty() -> PartialState {
    PartialState::new(StateCache::new(1 << 20), Point::default(), Arc::new(NoNewerBlocks), BTreeMap::new())
}

/// A state in which the sender has a balance, and all fees have parameters.
fn state(balance: u64) -> PartialState {
    let mut state = empty();
    let account = Account { balance: U256::from(balance), ..Account::default() };
    state.learn(Key::Account(SENDER), StateValue::Account(account));
    let scalars = (U256::from(2) << 96) | (U256::from(3) << 64);
    let operator = (U256::from(500_000) << 64) | U256::from(77);
    for (slot, value) in [
        (1_u8, U256::from(1_000_000_000)),
        (3, scalars),
        (5, U256::from(50)),
        (6, U256::from(7_000_000)),
        (7, U256::from(10_000_000)),
        (8, operator),
    ] {
        state.learn(Key::Slot(FEE_PARAMETERS, B256::with_last_byte(slot)), StateValue::Slot(value));
    }
    state
}

/// What is missing is empty.
fn learn_nothing(state: &mut PartialState, keys: Vec<Key>) {
    for key in keys {
        let value = match key {
            Key::Account(_) => StateValue::Account(Account::default()),
            Key::Slot(..) => StateValue::Slot(U256::ZERO),
            _ => panic!("{key:?}"),
        };
        state.learn(key, value);
    }
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// Balances after the only transaction of a block; those of all that it touched.
fn balances(
    timestamp: u64,
    recorded: RecordedTransaction,
    mut state: PartialState,
) -> Result<BTreeMap<Address, U256>, Failure> {
    let replay = Replay {
        transactions: vec![recorded],
        untraced: 0,
        tracer: Tracer::Balances,
        block: block(timestamp),
        rules: rules(timestamp),
        hash: B256::ZERO,
        parent_hash: B256::ZERO,
        beacon_root: None,
    };
    let mut progress = Progress::default();
    loop {
        match replay.advance(&mut progress, &state, deadline()) {
            Step::Missing(keys) => learn_nothing(&mut state, keys),
            Step::Done(traces) => {
                let trace = traces?.remove(0)?;
                let both: BTreeMap<Address, (U256, U256)> = serde_json::from_slice(&trace).expect("balances");
                return Ok(both.into_iter().map(|(address, (_, after))| (address, after)).collect());
            }
        }
    }
}

/// A transfer of nothing, signed: the bytes of it are 30, and none is zero.
fn transfer() -> RecordedTransaction {
    let call = Call {
        from: SENDER,
        to: Some(RECEIVER),
        gas: Some(50_000),
        fees: Fees::Price(10),
        nonce: Some(0),
        ..Call::default()
    };
    let bytes = hex!("dd80808094095e7baea6a6c7c4c2dfeb977efac326af552d878080808080");
    RecordedTransaction { hash: B256::ZERO, call, origin: Origin::Signed(DataSize::of(&bytes)), gas_used: 21_000 }
}

#[test]
fn a_transaction_pays_for_its_data_and_the_operator() {
    let rich = 1_000_000_000_000_000;
    for (timestamp, l1_fee, operator_fee) in [
        // (480 + 50) × 10^9 × 7 / 10^6 × 10^6.
        (ECOTONE - 1, 3_710_000_000_000, 0),
        // 480 × (16 × 2 × 10^9 + 3 × 10^7) / (16 × 10^6).
        (ECOTONE, 960_900, 0),
        // 100 bytes × (16 × 2 × 10^9 + 3 × 10^7) / 10^6.
        (FJORD, 3_203_000, 0),
        // 21,000 × 500,000 / 10^6 + 77.
        (ISTHMUS, 3_203_000, 10_577),
        // 21,000 × 500,000 × 100 + 77.
        (JOVIAN, 3_203_000, 1_050_000_000_077),
    ] {
        let found = balances(timestamp, transfer(), state(rich)).expect("valid");
        let of = |address| found.get(&address).copied().unwrap_or_default();
        let paid = 21_000 * 10 + l1_fee + operator_fee;
        assert_eq!(of(SENDER), U256::from(rich - paid), "{timestamp}");
        assert_eq!(of(BASE_FEE_VAULT), U256::from(21_000 * 7), "{timestamp}");
        assert_eq!(of(MINER), U256::from(21_000 * 3), "{timestamp}");
        assert_eq!(of(L1_FEE_VAULT), U256::from(l1_fee), "{timestamp}");
        assert_eq!(of(OPERATOR_FEE_VAULT), U256::from(operator_fee), "{timestamp}");
    }
    // Enough for its gas, and not for its data.
    let poor = balances(FJORD, transfer(), state(3_000_000));
    assert!(matches!(&poor, Err(Failure::Invalid(text)) if text.starts_with("insufficient funds")), "{poor:?}");
}

fn deposit(gas: u64, value: u64, gas_used: u64) -> RecordedTransaction {
    let call = Call { from: SENDER, to: Some(RECEIVER), gas: Some(gas), value: U256::from(value), ..Call::default() };
    RecordedTransaction { hash: B256::ZERO, call, origin: Origin::Deposit { mint: U256::from(5) }, gas_used }
}

#[test]
fn a_deposit_mints_whatever_becomes_of_it_and_pays_nothing() {
    let run = |recorded| balances(ISTHMUS, recorded, state(100)).expect("a deposit is never refused");
    let sent = run(deposit(50_000, 105, 21_000));
    assert_eq!(sent, [(SENDER, U256::ZERO), (RECEIVER, U256::from(105))].into());
    // More than it has, and less gas than any transaction needs: both use all their gas.
    for failed in [deposit(50_000, 106, 50_000), deposit(20_999, 1, 20_999)] {
        let found = run(failed);
        assert_eq!(found.get(&SENDER), Some(&U256::from(105)), "{found:?}");
        assert!(found.get(&RECEIVER).is_none_or(U256::is_zero), "{found:?}");
    }
}

/// The output of a call of a precompile.
fn output(timestamp: u64, address: u16, input: Bytes) -> Result<Bytes, Failure> {
    let mut to = Address::ZERO;
    to.0[18..].copy_from_slice(&address.to_be_bytes());
    let call = Call { to: Some(to), input, ..Call::default() };
    let limits = Limits { gas: 200_000_000, deadline: deadline() };
    let (block, overrides, rules) = (&block(timestamp), &BlockOverrides::default(), &rules(timestamp));
    let mut state = empty();
    loop {
        match execute(&call, CallContext { block, overrides, rules, state: &state, limits }) {
            Step::Missing(keys) => learn_nothing(&mut state, keys),
            Step::Done(outcome) => return outcome,
        }
    }
}

#[test]
fn precompiles_come_and_take_less_with_their_forks() {
    // A signature of RIP-7212's test vectors.
    let signature = hex!(
        "4cee90eb86eaa050036147a12d49004b6b9c72bd725d39d4785011fe190f0b4da73bd4903f0ce3b639bbbf6e8e80d16931ff4bcf5993d58468e8fb19086e8cac36dbcd03009df8c59286b162af3bd7fcc0450c9aa81be5d10d312af6c66b1d604aebd3099c618202fcfe16ae7770b0c49ab5eadf74b754204a3bb6060e44eff37618b065f9832de4ca6ca971a7a1adc826d0f7c00181a5fb2ddf79ae00b4e10e"
    );
    let one = Ok(Bytes::from(B256::with_last_byte(1).to_vec()));
    let verified = |timestamp| output(timestamp, 0x100, signature.into());
    assert_eq!(verified(ECOTONE), Ok(Bytes::new()), "an account without code");
    assert_eq!((verified(FJORD), verified(JOVIAN)), (one.clone(), one.clone()));
    // Pairs of points at infinity, of 192 bytes each: their pairing is one.
    let pairing = |timestamp, pairs: usize| output(timestamp, 8, vec![0; 192 * pairs].into());
    assert_eq!((pairing(FJORD, 587), pairing(GRANITE, 586)), (one.clone(), one.clone()));
    assert!(matches!(pairing(GRANITE, 587), Err(Failure::Halted(_))));
    assert_eq!((pairing(ISTHMUS, 428), pairing(JOVIAN, 427)), (one.clone(), one.clone()));
    assert!(matches!(pairing(JOVIAN, 428), Err(Failure::Halted(_))));
    // The pairing of BLS12-381, of 384 bytes a pair.
    let bls = |timestamp, pairs: usize| output(timestamp, 0x0f, vec![0; 384 * pairs].into());
    assert_eq!((bls(ISTHMUS, 612), bls(JOVIAN, 408)), (one.clone(), one));
    assert_eq!(bls(GRANITE, 1), Ok(Bytes::new()), "an account without code");
    for (timestamp, pairs) in [(ISTHMUS, 613), (JOVIAN, 409)] {
        assert!(matches!(bls(timestamp, pairs), Err(Failure::Halted(_))), "{timestamp}");
    }
}

#[test]
fn blocks_before_bedrock_are_refused_by_name() {
    let block = BlockContext { number: 105_235_062, ..block(1_686_000_000) };
    let schedule = Schedule::of_chain(10).expect("a known chain");
    assert_eq!(schedule.at(&block), Err(RulesError::BeforeFork { block: 105_235_062, fork: "Bedrock" }));
    assert_eq!(Schedule::of_chain(534_352), None, "Scroll");
}

#[test]
fn headers_of_later_forks_are_refused_by_name() {
    let schedule = Schedule::of_chain(10).expect("a known chain");
    let at = |timestamp, version: u8, bytes: usize| {
        let mut extra_data = vec![0; bytes];
        extra_data.first_mut().into_iter().for_each(|first| *first = version);
        let rules = schedule.at(&BlockContext { extra_data: extra_data.into(), ..block(timestamp) });
        rules.map(|_| ()).map_err(|error| error.to_string())
    };
    for (timestamp, version, bytes) in
        [(FJORD, 0x42, 7), (GRANITE, 0, 0), (GRANITE, 0, 9), (ISTHMUS, 0, 9), (JOVIAN, 0, 9), (JOVIAN, 1, 17)]
    {
        assert_eq!(at(timestamp, version, bytes), Ok(()), "{timestamp}");
    }
    for (timestamp, version, bytes) in [(ISTHMUS, 1, 17), (JOVIAN, 2, 17), (JOVIAN, 1, 25), (JOVIAN, 0, 8)] {
        let refused = at(timestamp, version, bytes).expect_err("not known");
        let expected = format!("extraData of block 115000000 is of version {version} with {bytes} bytes");
        assert!(refused.starts_with(&expected) && refused.ends_with("it may follow a later one"), "{refused}");
    }
}
