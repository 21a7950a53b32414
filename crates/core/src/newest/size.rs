//! How much memory the newest blocks of a busy rollup take.

use arrow::array::RecordBatch;

use super::NewestBlock;
use crate::primitives::{Address, B256, Timestamp, U256};
use crate::schema::{BalanceRow, DirectedTokenTransferRow, LogRow, NonceRow, StorageRow, Table, TransactionRow};

/// Most bytes of the newest blocks, by default.
const DEFAULT_BYTES: usize = 256 << 20;
/// Blocks of a quarter of an hour that are not settled.
const BLOCKS: usize = 600;

fn batch<T: Table>(rows: impl Iterator<Item = T>) -> RecordBatch {
    let mut builder = T::Builder::default();
    rows.for_each(|row| T::push(&mut builder, row));
    T::finish(builder)
}

/// Some hash that no other number has.
fn hash(kind: u64, number: u64) -> B256 {
    alloy_primitives::keccak256([kind.to_be_bytes(), number.to_be_bytes()].concat())
}

fn account(number: u64) -> Address {
    Address::from_slice(&hash(1, number)[..20])
}

fn transaction(index: u32) -> TransactionRow {
    let number = u64::from(index);
    let amount = |kind| U256::from_be_bytes(hash(kind, number).0);
    TransactionRow {
        block_number: 7,
        transaction_index: index,
        hash: hash(2, number),
        block_hash: hash(3, 7),
        block_timestamp: Timestamp::from_micros(9),
        transaction_type: 2,
        from_address: account(number),
        to_address: Some(account(number % 40)),
        nonce: number,
        value: amount(4),
        gas_limit: 200_000 + number,
        gas_price: Some(U256::from(number)),
        max_fee_per_gas: Some(U256::from(2 * number)),
        max_priority_fee_per_gas: Some(U256::from(number % 9)),
        max_fee_per_blob_gas: None,
        // On Ethereum a call has about 200 bytes in the median.
        input: hash(5, number).repeat(8).into(),
        chain_id: Some(1),
        access_list: Vec::new(),
        blob_versioned_hashes: Vec::new(),
        authorization_list: Vec::new(),
        v: U256::from(number % 2),
        r: amount(6),
        s: amount(7),
        has_receipt: 1,
        status: Some(1),
        post_state_root: None,
        gas_used: 90_000 + number,
        cumulative_gas_used: 90_000 * number,
        effective_gas_price: U256::from(number),
        contract_address: None,
        blob_gas_used: None,
        blob_gas_price: None,
        logs_count: 5,
        raw_transaction: Vec::new().into(),
        raw_receipt: Vec::new().into(),
        l1_fee: None,
        operator_fee: None,
        extra_fields: Vec::new().into(),
        receipt_extra_fields: Vec::new().into(),
        lacking: Vec::new(),
    }
}

fn log(index: u32) -> LogRow {
    let number = u64::from(index);
    LogRow {
        address: account(number % 40),
        block_number: 7,
        log_index: index,
        transaction_index: index / 5,
        transaction_hash: hash(2, number / 5),
        block_hash: hash(3, 7),
        block_timestamp: Timestamp::from_micros(9),
        topics_count: 3,
        topic0: hash(8, number % 12),
        topic1: account(number).into_word(),
        topic2: account(number + 1).into_word(),
        topic3: B256::ZERO,
        data: hash(9, number).repeat(if number % 3 == 0 { 5 } else { 1 }).into(),
    }
}

fn transfer(row: u32) -> DirectedTokenTransferRow {
    let (number, is_from) = (u64::from(row / 2), row.is_multiple_of(2));
    DirectedTokenTransferRow {
        address: account(number + u64::from(!is_from)),
        direction: if is_from { "from" } else { "to" }.into(),
        block_number: 7,
        log_index: row / 2,
        batch_index: 0,
        transaction_index: row / 6,
        transaction_hash: hash(2, number / 3),
        block_hash: hash(3, 7),
        block_timestamp: Timestamp::from_micros(9),
        token_type: "ERC-20".into(),
        token_address: account(number % 40),
        from_address: account(number),
        to_address: account(number + 1),
        token_id: None,
        value: U256::from_be_bytes(hash(9, number).0),
    }
}

/// What blocks change of state.
fn state() -> Vec<(String, RecordBatch)> {
    let slot = |number: u64| StorageRow {
        address: account(number % 40),
        slot: hash(10, number),
        block_number: 7,
        value: hash(11, number),
    };
    let balance = |number: u64| BalanceRow {
        address: account(number),
        block_number: 7,
        balance: U256::from_be_bytes(hash(12, number).0),
    };
    let nonce = |number: u64| NonceRow { address: account(number), block_number: 7, nonce: number };
    vec![
        ("storage_history".into(), batch((0..800).map(slot))),
        ("balance_history".into(), batch((0..250).map(balance))),
        ("nonce_history".into(), batch((0..200).map(nonce))),
    ]
}

/// Without the block's own row, which is one.
fn chain() -> Vec<(String, RecordBatch)> {
    vec![
        ("transactions".into(), batch((0..200).map(transaction))),
        ("logs".into(), batch((0..1000).map(log))),
        ("token_transfers_by_direction".into(), batch((0..1200).map(transfer))),
    ]
}

#[test]
fn blocks_of_a_quarter_of_an_hour_fit() {
    let of_all = |tables| NewestBlock::size_of_tables(tables).expect("our types") * BLOCKS;
    let (chain, state) = (of_all(chain()), of_all(state()));
    assert!(chain <= DEFAULT_BYTES * 7 / 8, "{} MiB", chain >> 20);
    // With state, the lowest few blocks of so many may be read from the hot tables.
    assert!(chain + state <= DEFAULT_BYTES * 17 / 16, "{} and {} MiB", chain >> 20, state >> 20);
}
