//! Simulations on a state in which nothing is but what they override.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::{
    Account, AccountOverride, BlockOverrides, Call, Key, Limits, NoNewerBlocks, PartialState, Point, Schedule,
    StateCache, StateValue, Step,
};
use alloy_consensus::Header;
use alloy_eips::eip4895::Withdrawal;
use trawl_core::primitives::{Address, B256, Bytes, U256};

const ONE: Address = Address::repeat_byte(0xc0);
const TWO: Address = Address::repeat_byte(0xc1);
/// Returns the hash of the block before.
const HASH_BEFORE: [u8; 14] = alloy_primitives::hex!("43600190034060005260206000f3");

fn simulation(blocks: Vec<BlockPlan>, whole: Option<WholeState>) -> Simulation {
    let forks = r#"{"chainId": 7, "homesteadBlock": 0, "eip150Block": 0, "eip155Block": 0, "eip158Block": 0, "byzantiumBlock": 0,
        "constantinopleBlock": 0, "petersburgBlock": 0, "istanbulBlock": 0, "berlinBlock": 0, "londonBlock": 0,
        "shanghaiTime": 0, "cancunTime": 0, "pragueTime": 0, "terminalTotalDifficulty": 0}"#;
    let base = Header { number: 9, timestamp: 90, gas_limit: 30_000_000, ..Header::default() };
    let schedule = Schedule::of_genesis(7, forks).expect("rules");
    let base = Header { base_fee_per_gas: Some(7), excess_blob_gas: Some(0), blob_gas_used: Some(0), ..base };
    Simulation { base_hash: B256::repeat_byte(9), base, schedule, blocks, mode: Mode::default(), whole }
}

fn outcome(simulation: &Simulation) -> Result<Vec<SimulatedBlock>, Refusal> {
    let point = Point { block: 9, branch: 0 };
    let mut state = PartialState::new(StateCache::new(0), point, Arc::new(NoNewerBlocks), BTreeMap::new());
    loop {
        let limits = Limits { gas: 50_000_000, deadline: Instant::now() + Duration::from_secs(60) };
        match simulation.run(&state, limits) {
            Step::Done(done) => return done.expect("runs"),
            Step::Missing(keys) => keys.into_iter().for_each(|key| {
                let value = match key {
                    Key::Account(_) => StateValue::Account(Account::default()),
                    Key::Slot(..) => StateValue::Slot(U256::ZERO),
                    Key::BlockHash(number) => StateValue::BlockHash(B256::repeat_byte(number as u8)),
                    other => panic!("{other:?}"),
                };
                state.learn(key, value);
            }),
        }
    }
}

fn with_code(code: &[u8]) -> BTreeMap<Address, AccountOverride> {
    let code = Some(Bytes::copy_from_slice(code));
    [(TWO, AccountOverride { code, ..AccountOverride::default() })].into()
}

fn call_of(to: Address) -> BlockCall {
    BlockCall { call: Call { from: ONE, to: Some(to), ..Call::default() }, has_gas_price: false }
}

#[test]
fn what_follows_from_an_unknown_state_is_not_known() {
    let plan = BlockPlan { accounts: with_code(&HASH_BEFORE), calls: vec![call_of(TWO)], ..BlockPlan::default() };
    let blocks = outcome(&simulation(vec![plan.clone(), BlockPlan::default()], None)).expect("blocks");
    // The hash of the base block is known, and no other.
    assert_eq!(blocks[0].calls[0].output[..], B256::repeat_byte(9)[..]);
    let known = |block: &SimulatedBlock| (block.hash, block.parent_hash, block.state_root);
    assert_eq!(known(&blocks[0]), (None, Some(B256::repeat_byte(9)), None));
    assert_eq!(known(&blocks[1]), (None, None, None));
    let refused = outcome(&simulation(vec![BlockPlan::default(), plan], None)).expect_err("an unknown hash");
    assert_eq!((&refused, refused.code()), (&Refusal::UnknownHash(10), -32_002));
}

#[test]
fn what_follows_from_a_known_state_is_known() {
    let plan = BlockPlan { accounts: with_code(&HASH_BEFORE), calls: vec![call_of(TWO)], ..BlockPlan::default() };
    let whole = Some(WholeState::default());
    let blocks = outcome(&simulation(vec![BlockPlan::default(), plan], whole)).expect("blocks");
    let hash = blocks[0].hash.expect("a hash");
    assert_eq!((blocks[0].state_root, blocks[1].parent_hash), (Some(alloy_trie::EMPTY_ROOT_HASH), Some(hash)));
    assert_eq!(blocks[1].calls[0].output[..], hash[..]);
    assert_eq!(hash, alloy_primitives::keccak256(alloy_rlp::encode(&blocks[0].header)));
}

#[test]
fn withdrawals_and_calls_change_what_follows() {
    let withdrawal = Withdrawal { index: 1, validator_index: 2, address: ONE, amount: 3 };
    let first = BlockPlan { withdrawals: vec![withdrawal], ..BlockPlan::default() };
    let mut call = call_of(TWO);
    call.call.value = U256::from(3_000_000_000_u64);
    let calls = vec![call.clone(), call_of(ONE), call];
    let plan = BlockPlan { calls: calls[..2].to_vec(), ..BlockPlan::default() };
    let blocks = outcome(&simulation(vec![first.clone(), plan], None)).expect("blocks");
    let nonces: Vec<u64> = blocks[1].transactions.iter().map(|transaction| transaction.nonce).collect();
    assert_eq!((nonces, blocks[1].header.gas_used), (vec![0, 1], 42_000));
    assert_ne!(blocks[0].header.withdrawals_root, blocks[1].header.withdrawals_root);
    // It is spent.
    let plan = BlockPlan { calls, ..BlockPlan::default() };
    let refused = outcome(&simulation(vec![first, plan], None)).expect_err("no funds");
    assert_eq!(refused.code(), -38_014);
}

#[test]
fn blocks_before_the_merge_are_refused() {
    let difficulty = Some(U256::from(1));
    let overrides = BlockOverrides { difficulty, ..BlockOverrides::default() };
    let mut simulation = simulation(vec![BlockPlan { overrides, ..BlockPlan::default() }], None);
    simulation.schedule = Schedule::of_genesis(7, r#"{"chainId": 7, "homesteadBlock": 0}"#).expect("rules");
    assert_eq!(outcome(&simulation).map_err(|refused| refused.code()).err(), Some(-32_000));
}
