//! Blocks in the block list of REST (docs/reference/http-contract.md#blocks) and in JSON-RPC.

pub mod countdown;
pub mod verdicts;
pub mod withdrawals;

use super::{Array, JsonWriter, Object};
use crate::addresses::address::Addresses;
use crate::stats::chain_facts;
use crate::writer::missing_columns::MissingColumns;
use trawl_chains::Family;
use trawl_core::primitives::{Address, B64, B256, Timestamp, U256};
use trawl_core::schema::{BlockView, Column, Reward, UncleView};

/// How many times the gas target fits in the gas limit (EIP-1559).
const ELASTICITY: f64 = 2.0;

/// Gas fields of a list item, from header fields alone.
fn write_gas(block: &mut Object<'_>, lacking: &MissingColumns<'_>, gas_limit: u64, gas_used: u64) {
    let filled = if gas_limit == 0 { 0.0 } else { gas_used as f64 / gas_limit as f64 };
    let both = ["gas_limit", "gas_used"];
    lacking.known(block, "gas_limit", &["gas_limit"], |writer| writer.decimal(gas_limit));
    lacking.known(block, "gas_used", &["gas_used"], |writer| writer.decimal(gas_used));
    lacking.known(block, "gas_used_percentage", &both, |writer| writer.float(filled * 100.0));
    lacking.known(block, "gas_target_percentage", &both, |writer| writer.float((filled * ELASTICITY - 1.0) * 100.0));
}

/// Facts about a block beyond its header and its body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockExtras {
    /// Internal transactions in it, if its call frames are known.
    pub internal_transactions: Option<u64>,
    /// Rewards for making it, if known.
    pub rewards: Vec<Reward>,
    /// The rules of its chain.
    pub family: Option<&'static Family>,
    /// The price of its blob gas in wei, of a block that is shown alone.
    pub blob_price: Option<u128>,
}

/// Whether a block of the list is canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// The canonical block of its height.
    Block,
    /// A block that another branch replaced.
    Reorged,
}

/// A block of the list, `type` `block` or `reorg`.
pub fn write_rest_block(
    writer: &mut JsonWriter,
    kind: BlockKind,
    blocks: &BlockView<'_>,
    row: usize,
    addresses: &Addresses,
    extras: &BlockExtras,
) {
    let lacking = &MissingColumns::new(blocks.lacking.items::<String>(row));
    writer.object(|block| {
        block.key("height").number(blocks.block_number[row]);
        block.key("hash").hex(blocks.hash.bytes(row));
        lacking.known(block, "parent_hash", &["parent_hash"], |writer| writer.hex(blocks.parent_hash.bytes(row)));
        block.key("timestamp").timestamp(Timestamp::from_micros(blocks.timestamp[row]));
        block.key("type").string(match kind {
            BlockKind::Block => "block",
            BlockKind::Reorged => "reorg",
        });
        let miner = Address::get(&blocks.producer, row);
        lacking.known(block, "miner", &["miner"], |writer| addresses.write(writer, &miner));
        let nonce = Option::<B64>::get(&blocks.nonce, row);
        block.key("nonce").option(nonce, |writer, nonce| writer.hex(nonce.as_slice()));
        block.key("size").option(Option::<u64>::get(&blocks.size, row), JsonWriter::number);
        let difficulty = U256::get(&blocks.difficulty, row);
        lacking.known(block, "difficulty", &["difficulty"], |writer| writer.decimal_256(difficulty));
        let total = Option::<U256>::get(&blocks.total_difficulty, row);
        block.key("total_difficulty").option(total, JsonWriter::decimal_256);
        write_gas(block, lacking, blocks.gas_limit[row], blocks.gas_used[row]);
        write_economics(block, lacking, blocks, row);
        write_counts(block, lacking, blocks, row, extras.internal_transactions);
        block.key("is_pending_update").bool(false);
        lacking.known(block, "uncles_hashes", &["uncles"], |writer| {
            writer.array(|hashes| write_hashes(hashes, blocks, row));
        });
        block.key("rewards").array(|rewards| write_rewards(rewards, blocks, row, &extras.rewards));
        block.key("blob_gas_used").option(Option::<u64>::get(&blocks.blob_gas_used, row), JsonWriter::decimal);
        block.key("excess_blob_gas").option(Option::<u64>::get(&blocks.excess_blob_gas, row), JsonWriter::decimal);
        write_blob_fees(block, Option::<u64>::get(&blocks.blob_gas_used, row), extras.blob_price);
        lacking.known(block, "extra_data", &["extra_data"], |writer| writer.hex(blocks.extra_data.value(row)));
        lacking.known(block, "state_root", &["state_root"], |writer| writer.hex(blocks.state_root.bytes(row)));
        if let Some(family) = extras.family {
            chain_facts::write_block(block, family, blocks, row);
        }
    });
}

/// What blob gas costs in a block, and what was burnt for it (EIP-4844); nothing where that is not known.
fn write_blob_fees(block: &mut Object<'_>, gas: Option<u64>, price: Option<u128>) {
    if let Some((gas, price)) = gas.zip(price) {
        let price = U256::from(price);
        block.key("blob_gas_price").decimal_256(price);
        block.key("burnt_blob_fees").decimal_256(price.saturating_mul(U256::from(gas)));
    }
}

/// Writes an amount as a number where a reader of doubles keeps all of it, else as text.
fn write_amount(writer: &mut JsonWriter, amount: U256) {
    const MANTISSA: usize = f64::MANTISSA_DIGITS as usize;
    match amount.bit_len().saturating_sub(amount.trailing_zeros()) {
        0..=MANTISSA => writer.raw(amount.to_string()),
        _ => writer.decimal_256(amount),
    }
}

/// The rewards of a proof-of-work block: of its miner, with the fees that were not burnt, then of the miners of its
/// uncles, each once.
fn write_rewards(rewards: &mut Array<'_>, blocks: &BlockView<'_>, row: usize, paid: &[Reward]) {
    let fees = Option::<U256>::get(&blocks.transaction_fees, row);
    if U256::get(&blocks.difficulty, row).is_zero() {
        return;
    }
    let Some(fees) = fees else { return };
    let burnt = Option::<U256>::get(&blocks.burnt_fees, row).unwrap_or_default();
    for reward in paid.iter().filter(|reward| reward.kind == "block") {
        write_reward(rewards, reward.amount.saturating_add(fees).saturating_sub(burnt), "Miner Reward");
    }
    let mut uncles: Vec<(Address, U256)> = Vec::new();
    for reward in paid.iter().filter(|reward| reward.kind == "uncle") {
        match uncles.iter_mut().find(|(receiver, _)| *receiver == reward.receiver) {
            Some((_, sum)) => *sum = sum.saturating_add(reward.amount),
            None => uncles.push((reward.receiver, reward.amount)),
        }
    }
    uncles.iter().for_each(|(_, amount)| write_reward(rewards, *amount, "Uncle Reward"));
}

fn write_reward(rewards: &mut Array<'_>, amount: U256, kind: &str) {
    rewards.item().object(|reward| {
        write_amount(reward.key("reward"), amount);
        reward.key("type").string(kind);
    });
}

fn write_counts(
    block: &mut Object<'_>,
    lacking: &MissingColumns<'_>,
    blocks: &BlockView<'_>,
    row: usize,
    internal_transactions: Option<u64>,
) {
    block.key("transactions_count").number(blocks.transactions_count[row].into());
    let withdrawals = blocks.withdrawals_count[row].into();
    lacking.known(block, "withdrawals_count", &["withdrawals_count"], |writer| writer.number(withdrawals));
    block.key("internal_transactions_count").option(internal_transactions, JsonWriter::number);
    let blobs = blocks.blob_transactions_count[row].into();
    lacking.known(block, "blob_transactions_count", &["blob_transactions_count"], |writer| writer.number(blobs));
}

/// Fees in wei, exact; null if the source had no receipts.
fn write_economics(block: &mut Object<'_>, lacking: &MissingColumns<'_>, blocks: &BlockView<'_>, row: usize) {
    let base_fee = Option::<U256>::get(&blocks.base_fee_per_gas, row);
    let fees = Option::<U256>::get(&blocks.transaction_fees, row);
    let burnt = Option::<U256>::get(&blocks.burnt_fees, row);
    block.key("base_fee_per_gas").option(base_fee, JsonWriter::decimal_256);
    let of_burnt = ["base_fee_per_gas", "gas_used"];
    lacking.known(block, "burnt_fees", &of_burnt, |writer| writer.option(burnt, JsonWriter::decimal_256));
    let share = fees.filter(|fees| !fees.is_zero()).zip(burnt);
    let share = share.map(|(fees, burnt)| f64::from(burnt) / f64::from(fees) * 100.0);
    let of_share = ["base_fee_per_gas", "gas_used", "transaction_fees"];
    lacking.known(block, "burnt_fees_percentage", &of_share, |writer| writer.option(share, JsonWriter::float));
    let tips = Option::<U256>::get(&blocks.priority_fees, row);
    lacking.known(block, "priority_fee", &["priority_fees"], |writer| writer.option(tips, JsonWriter::decimal_256));
    let of_fees = ["transaction_fees"];
    lacking.known(block, "transaction_fees", &of_fees, |writer| writer.option(fees, JsonWriter::decimal_256));
}

fn write_hashes(hashes: &mut Array<'_>, blocks: &BlockView<'_>, row: usize) {
    for hash in blocks.uncles.items::<B256>(row) {
        hashes.item().hex(hash.as_slice());
    }
}

/// A block of the list, `type` `uncle`. Only its header is known: fields of its body are null, except that a header
/// with the root of an empty trie has no transactions. `paid` are the rewards of the block that names it, if they are
/// known: one of its miner for an uncle is its own where it is the only one.
pub fn write_rest_uncle(
    writer: &mut JsonWriter,
    uncles: &UncleView<'_>,
    row: usize,
    addresses: &Addresses,
    paid: &[Reward],
) {
    let miner = Address::get(&uncles.miner, row);
    let own: Vec<&Reward> = paid.iter().filter(|reward| reward.kind == "uncle" && reward.receiver == miner).collect();
    let is_empty = uncles.transactions_root.bytes(row) == EMPTY_ROOT.as_slice();
    let zero = is_empty.then_some(0);
    writer.object(|block| {
        block.key("height").number(uncles.block_number[row]);
        block.key("hash").hex(uncles.hash.bytes(row));
        block.key("parent_hash").hex(uncles.parent_hash.bytes(row));
        block.key("timestamp").timestamp(Timestamp::from_micros(uncles.timestamp[row]));
        block.key("type").string("uncle");
        addresses.write(block.key("miner"), &miner);
        block.key("nephew_block_number").number(uncles.nephew_block_number[row]);
        let nonce = Option::<B64>::get(&uncles.nonce, row);
        block.key("nonce").option(nonce, |writer, nonce| writer.hex(nonce.as_slice()));
        block.key("size").option(Option::<u64>::get(&uncles.size, row), JsonWriter::number);
        block.key("difficulty").decimal_256(U256::get(&uncles.difficulty, row));
        block.key("total_difficulty").null();
        write_gas(block, &MissingColumns::new(std::iter::empty()), uncles.gas_limit[row], uncles.gas_used[row]);
        let base_fee = Option::<U256>::get(&uncles.base_fee_per_gas, row);
        block.key("base_fee_per_gas").option(base_fee, JsonWriter::decimal_256);
        let burnt = base_fee.unwrap_or_default().saturating_mul(U256::from(uncles.gas_used[row]));
        block.key("burnt_fees").decimal_256(burnt);
        block.key("burnt_fees_percentage").null();
        block.key("priority_fee").option(zero, JsonWriter::decimal);
        block.key("transaction_fees").option(zero, JsonWriter::decimal);
        block.key("transactions_count").option(zero, JsonWriter::number);
        block.key("withdrawals_count").number(0);
        block.key("internal_transactions_count").option(zero, JsonWriter::number);
        block.key("is_pending_update").bool(false);
        block.key("uncles_hashes").array(|_| {});
        block.key("rewards").array(|rewards| {
            if let [own] = own.as_slice() {
                write_reward(rewards, own.amount, "Uncle Reward");
            }
        });
        block.key("blob_transactions_count").number(0);
        block.key("blob_gas_used").null();
        block.key("excess_blob_gas").null();
        block.key("extra_data").hex(uncles.extra_data.value(row));
        block.key("state_root").hex(uncles.state_root.bytes(row));
    });
}

/// Root of a trie without entries: Keccak-256 of the RLP of an empty string (yellow paper, appendix D).
const EMPTY_ROOT: B256 = alloy_primitives::b256!("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");

/// A block of the JSON-RPC specification. `body` adds `transactions`, and `withdrawals` where the block has them.
pub fn write_rpc_block(
    writer: &mut JsonWriter,
    blocks: &BlockView<'_>,
    row: usize,
    body: impl FnOnce(&mut Object<'_>),
) {
    writer.object(|block| {
        write_header_fields(block, blocks, row, Some(blocks.logs_bloom.bytes(row)));
        write_size_and_uncles(block, blocks, row);
        body(block);
    });
}

/// The size of a block, where it is known, and the hashes of its uncles, where its header says which they are.
pub(super) fn write_size_and_uncles(block: &mut Object<'_>, blocks: &BlockView<'_>, row: usize) {
    if let Some(size) = Option::<u64>::get(&blocks.size, row) {
        block.key("size").quantity(size);
    }
    if has_field(blocks, row, "sha3_uncles") {
        block.key("uncles").array(|hashes| write_hashes(hashes, blocks, row));
    }
}

/// Whether a header has the field of a column; one of ten fields, as on Celo before Gingerbread, has fewer.
fn has_field(blocks: &BlockView<'_>, row: usize, column: &str) -> bool {
    blocks.lacking.items::<String>(row).all(|lacking| lacking != column)
}

/// A header of `eth_subscribe`: the hashed fields, and the hash.
pub fn write_rpc_header(writer: &mut JsonWriter, blocks: &BlockView<'_>, row: usize) {
    writer.object(|header| write_header_fields(header, blocks, row, Some(blocks.logs_bloom.bytes(row))));
}

/// An uncle, of which only the header is known.
pub fn write_rpc_uncle(writer: &mut JsonWriter, uncles: &UncleView<'_>, row: usize) {
    writer.object(|block| {
        block.key("number").quantity(uncles.block_number[row]);
        block.key("hash").hex(uncles.hash.bytes(row));
        block.key("parentHash").hex(uncles.parent_hash.bytes(row));
        block.key("sha3Uncles").hex(uncles.sha3_uncles.bytes(row));
        block.key("miner").hex(uncles.miner.bytes(row));
        block.key("stateRoot").hex(uncles.state_root.bytes(row));
        block.key("transactionsRoot").hex(uncles.transactions_root.bytes(row));
        block.key("receiptsRoot").hex(uncles.receipts_root.bytes(row));
        block.key("logsBloom").hex(uncles.logs_bloom.bytes(row));
        block.key("difficulty").quantity_256(U256::get(&uncles.difficulty, row));
        block.key("gasLimit").quantity(uncles.gas_limit[row]);
        block.key("gasUsed").quantity(uncles.gas_used[row]);
        block.key("timestamp").quantity(Timestamp::from_micros(uncles.timestamp[row]).seconds());
        block.key("extraData").hex(uncles.extra_data.value(row));
        if let Some(word) = Option::<B256>::get(&uncles.mix_hash, row) {
            block.key("mixHash").hex(word.as_slice());
        }
        if let Some(nonce) = Option::<B64>::get(&uncles.nonce, row) {
            block.key("nonce").hex(nonce.as_slice());
        }
        if let Some(fee) = Option::<U256>::get(&uncles.base_fee_per_gas, row) {
            block.key("baseFeePerGas").quantity_256(fee);
        }
        if let Some(size) = Option::<u64>::get(&uncles.size, row) {
            block.key("size").quantity(size);
        }
        block.key("uncles").array(|_| {});
    });
}

/// The hashed fields, and the hash. `bloom`: the filter of logs, or that it is left out.
pub(super) fn write_header_fields(block: &mut Object<'_>, blocks: &BlockView<'_>, row: usize, bloom: Option<&[u8]>) {
    block.key("number").quantity(blocks.block_number[row]);
    block.key("hash").hex(blocks.hash.bytes(row));
    block.key("parentHash").hex(blocks.parent_hash.bytes(row));
    if has_field(blocks, row, "sha3_uncles") {
        block.key("sha3Uncles").hex(blocks.sha3_uncles.bytes(row));
    }
    block.key("miner").hex(blocks.miner.bytes(row));
    block.key("stateRoot").hex(blocks.state_root.bytes(row));
    block.key("transactionsRoot").hex(blocks.transactions_root.bytes(row));
    block.key("receiptsRoot").hex(blocks.receipts_root.bytes(row));
    block.key("logsBloom").option(bloom, JsonWriter::hex);
    if has_field(blocks, row, "difficulty") {
        block.key("difficulty").quantity_256(U256::get(&blocks.difficulty, row));
    }
    if has_field(blocks, row, "gas_limit") {
        block.key("gasLimit").quantity(blocks.gas_limit[row]);
    }
    block.key("gasUsed").quantity(blocks.gas_used[row]);
    block.key("timestamp").quantity(Timestamp::from_micros(blocks.timestamp[row]).seconds());
    block.key("extraData").hex(blocks.extra_data.value(row));
    write_fork_fields(block, blocks, row);
    block.members_of(blocks.extra_fields.value(row));
}

/// Fields that are absent where the block does not have them.
fn write_fork_fields(block: &mut Object<'_>, blocks: &BlockView<'_>, row: usize) {
    if let Some(nonce) = Option::<B64>::get(&blocks.nonce, row) {
        block.key("nonce").hex(nonce.as_slice());
    }
    if let Some(fee) = Option::<U256>::get(&blocks.base_fee_per_gas, row) {
        block.key("baseFeePerGas").quantity_256(fee);
    }
    for (key, word) in [
        ("mixHash", &blocks.mix_hash),
        ("withdrawalsRoot", &blocks.withdrawals_root),
        ("parentBeaconBlockRoot", &blocks.parent_beacon_block_root),
        ("requestsHash", &blocks.requests_hash),
    ] {
        if let Some(word) = Option::<B256>::get(word, row) {
            block.key(key).hex(word.as_slice());
        }
    }
    for (key, number) in [("blobGasUsed", &blocks.blob_gas_used), ("excessBlobGas", &blocks.excess_blob_gas)] {
        if let Some(number) = Option::<u64>::get(number, row) {
            block.key(key).quantity(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JavaScript prints the first two as they are, and 2000000000000199646 as 2000000000000199700.
    #[test]
    fn numbers_are_those_that_doubles_hold() {
        for (amount, expected) in [
            (5_000_000_000_000_000_000_u64, "5000000000000000000"),
            (0, "0"),
            ((1 << 53) + 1, "\"9007199254740993\""),
            (2_000_000_000_000_199_646, "\"2000000000000199646\""),
        ] {
            let mut writer = JsonWriter::new();
            write_amount(&mut writer, U256::from(amount));
            assert_eq!(String::from_utf8(writer.into_bytes()).as_deref(), Ok(expected));
        }
    }
}
