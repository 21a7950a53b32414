//! One block becomes rows of every table. Pure.

use trawl_chains::{Family, GasPayment, ProducerRule, UnsignedRule};
use trawl_core::primitives::{Address, Timestamp, TimestampOutOfRange, TransactionType, U256, hash_prefix};
use trawl_core::schema::{
    BlockByHashRow, BlockRow, LogRow, TransactionByHashRow, TransactionRow, UncleRow, WithdrawalRow,
};

use crate::block::{Block, GWEI, Header, Receipt, Transaction};
use crate::verify::header::whole_header;
use crate::verify::is_outside;
use crate::verify::receipts::GAS_PER_BLOB;
use crate::write::batch::BlockRows;

mod contracts;
pub mod proxies;
mod state;
mod traces;
mod transfers;

/// Turns a block into rows, its fees by the rules of its chain's family.
pub fn rows(block: Block, family: &Family) -> Result<BlockRows, TimestampOutOfRange> {
    let timestamp = Timestamp::from_seconds(block.header.timestamp)?;
    let block = with_running_gas(block, family);
    let rollup_fees: Vec<RollupFees> = block.outcomes().map(|(_, receipt)| RollupFees::of(family, receipt)).collect();
    let mut rows = BlockRows {
        blocks: vec![block_row(&block, family, &rollup_fees, timestamp)],
        blocks_by_hash: vec![BlockByHashRow {
            hash_prefix: hash_prefix(&block.header.hash),
            block_number: block.header.number,
        }],
        withdrawals: withdrawal_rows(&block, timestamp),
        uncles: uncle_rows(&block)?,
        contracts: contracts::contract_rows(&block, timestamp),
        ..BlockRows::default()
    };
    traces::trace_rows(&block, timestamp, &mut rows);
    let Block { header, transactions, receipts, state, .. } = block;
    if let Some(state) = state {
        state::state_rows(&header, timestamp, state, &mut rows);
    }
    let mut receipts = receipts.into_iter().flatten().peekable();
    let mut rollup_fees = rollup_fees.into_iter();
    for transaction in transactions {
        rows.transactions_by_hash.push(TransactionByHashRow {
            hash_prefix: hash_prefix(&transaction.hash),
            block_number: header.number,
            transaction_index: transaction.index,
        });
        let receipt = receipts.next_if(|receipt| receipt.transaction_hash == transaction.hash);
        if let Some(receipt) = &receipt {
            log_rows(&header, timestamp, &transaction, receipt, &mut rows.logs);
            for log in &receipt.logs {
                transfers::transfer_rows(&header, timestamp, &transaction, log, &mut rows);
            }
        }
        let prices = Prices { family, header: &header };
        let price = receipt.as_ref().map(|receipt| prices.effective(&transaction, receipt));
        let fees = Fees { price, rollup: rollup_fees.next().unwrap_or_default() };
        rows.transactions.push(transaction_row(&header, timestamp, transaction, receipt, fees));
    }
    Ok(rows)
}

/// Gives receipts outside of the roots the gas of the block so far, on which nodes do not agree: those of Bor had 0
/// (0xPolygon/bor #1801). A state sync uses none, whatever older nodes said (erigontech/erigon #13511).
fn with_running_gas(mut block: Block, family: &Family) -> Block {
    if family.unsigned.outside().is_none() {
        return block;
    }
    let positions = 0..block.transactions.len();
    let outside: Vec<bool> = positions.map(|position| is_outside(&block, position, family)).collect();
    let mut gas = 0;
    let mut receipts = block.receipts.iter_mut().flatten().peekable();
    for (transaction, is_outside) in block.transactions.iter().zip(outside) {
        let own = receipts.next_if(|receipt| receipt.transaction_hash == transaction.hash);
        let Some(receipt) = own else { continue };
        if !is_outside {
            gas = receipt.cumulative_gas_used;
            continue;
        }
        receipt.cumulative_gas_used = gas;
        if family.unsigned == UnsignedRule::StateSync {
            receipt.gas_used = 0;
        }
    }
    block
}

fn block_row(block: &Block, family: &Family, rollup_fees: &[RollupFees], timestamp: Timestamp) -> BlockRow {
    let Header { number, hash, parent_hash, sha3_uncles, miner, .. } = block.header;
    let header = &block.header;
    let count = |length: usize| u32::try_from(length).expect("a block is far below 4 GiB");
    let prices = Prices { family, header };
    let transaction_fees = sum(block, |transaction, receipt| {
        prices.in_coins(transaction)?;
        Some(U256::from(receipt.gas_used).wrapping_mul(prices.effective(transaction, receipt)))
    });
    let beside_gas = rollup_fees.iter().flat_map(|fees| [fees.l1_fee, fees.operator_fee]).flatten();
    let beside_gas = beside_gas.fold(U256::ZERO, |total, fee| total.wrapping_add(fee));
    let transaction_fees = transaction_fees.map(|fees| fees.wrapping_add(beside_gas));
    BlockRow {
        block_number: number,
        hash,
        parent_hash,
        timestamp,
        sha3_uncles,
        miner,
        producer: producer(block, family),
        state_root: header.state_root,
        transactions_root: header.transactions_root,
        receipts_root: header.receipts_root,
        logs_bloom: header.logs_bloom,
        difficulty: header.difficulty,
        total_difficulty: block.total_difficulty,
        gas_limit: header.gas_limit,
        gas_used: header.gas_used,
        extra_data: header.extra_data.clone(),
        mix_hash: header.mix_hash,
        nonce: header.nonce,
        base_fee_per_gas: header.base_fee_per_gas,
        withdrawals_root: header.withdrawals_root,
        blob_gas_used: header.blob_gas_used,
        excess_blob_gas: header.excess_blob_gas,
        parent_beacon_block_root: header.parent_beacon_block_root,
        requests_hash: header.requests_hash,
        size: header.size,
        uncles: block.uncle_hashes.clone().unwrap_or_default(),
        transactions_count: count(block.transactions.len()),
        blob_transactions_count: count(
            block
                .transactions
                .iter()
                .filter(|transaction| transaction.transaction_type == TransactionType::Blob)
                .count(),
        ),
        withdrawals_count: count(block.withdrawals.as_ref().map_or(0, Vec::len)),
        logs_count: (block.missing_receipts() == Some(0)).then(|| count(block.log_count())),
        transaction_fees,
        priority_fees: sum(block, |transaction, receipt| {
            prices.in_coins(transaction)?;
            family.tip(prices.paid(transaction, receipt))
        }),
        burnt_fees: family.burnt_by_block(header.base_fee_per_gas, header.gas_used, transaction_fees),
        extra_fields: header.extra.clone().unwrap_or_default().into_bytes().into(),
        lacking: header.lacking.iter().copied().map(Into::into).collect(),
    }
}

/// Who made a block; the beneficiary where the header is not whole.
fn producer(block: &Block, family: &Family) -> Address {
    match family.producer {
        ProducerRule::Beneficiary => block.header.miner,
        rule => {
            whole_header(&block.header).map_or(block.header.miner, |header| rule.producer(block.chain_id(), &header))
        }
    }
}

/// A sum over transactions with their receipts; `None` without one of the receipts, or if an amount is not known.
/// Amounts of wei stay far below 2^256.
fn sum(block: &Block, amount: impl Fn(&Transaction, &Receipt) -> Option<U256>) -> Option<U256> {
    block.receipts.as_ref()?;
    let mut pairs = block.outcomes();
    pairs.try_fold(U256::ZERO, |total, (transaction, receipt)| Some(total.wrapping_add(amount(transaction, receipt?)?)))
}

/// What the gas of a block costs.
#[derive(Clone, Copy)]
struct Prices<'a> {
    family: &'a Family,
    header: &'a Header,
}

impl Prices<'_> {
    /// `None` for a transaction that pays its gas with a token: what that is worth in coins is not known.
    fn in_coins(self, transaction: &Transaction) -> Option<()> {
        self.family
            .rest
            .token()
            .is_none_or(|_| self.family.gas_token(&transaction.own_fields()).is_none())
            .then_some(())
    }

    /// The receipt's figure. Nodes before London do not give it, and some formats leave it out: then it is the base fee
    /// where the chain takes no more, else what was signed.
    fn effective(self, transaction: &Transaction, receipt: &Receipt) -> U256 {
        let base_fee = self.header.base_fee_per_gas.unwrap_or_default();
        receipt.effective_gas_price.unwrap_or_else(|| match transaction.max_fee_per_gas {
            _ if self.family.pays_base_fee(self.header.mix_hash) => base_fee,
            Some(_) => base_fee.wrapping_add(priority_fee_per_gas(self.header, transaction)),
            None => transaction.gas_price.unwrap_or_default(),
        })
    }

    /// What a transaction paid for its gas. Before London all of it is like a base fee: there were no tips.
    fn paid(self, transaction: &Transaction, receipt: &Receipt) -> GasPayment {
        let price = self.effective(transaction, receipt);
        GasPayment { gas: receipt.gas_used, price, base_fee: self.header.base_fee_per_gas.unwrap_or(price) }
    }
}

/// What a transaction paid: wei for each gas, and beside it.
struct Fees {
    /// `None` without a receipt.
    price: Option<U256>,
    rollup: RollupFees,
}

/// What a transaction paid beside its gas, in wei; `None` where the chain has no such fee.
#[derive(Clone, Copy, Default)]
struct RollupFees {
    l1_fee: Option<U256>,
    operator_fee: Option<U256>,
}

impl RollupFees {
    /// As its receipt says it.
    fn of(family: &Family, receipt: Option<&Receipt>) -> Self {
        let text = receipt.and_then(|receipt| receipt.extra.as_deref().or(receipt.raw.as_deref()));
        let fields = family.l1_fee.and_then(|_| serde_json::from_str(text?).ok());
        let (Some(receipt), Some(fields)) = (receipt, fields) else { return Self::default() };
        Self { l1_fee: family.l1_fee_of(&fields), operator_fee: family.operator_fee_of(&fields, receipt.gas_used) }
    }
}

/// What a gas costs above the base fee: the tip, or what the fee cap leaves of it (EIP-1559). Zero before London.
fn priority_fee_per_gas(header: &Header, transaction: &Transaction) -> U256 {
    let Some(base_fee) = header.base_fee_per_gas else { return U256::ZERO };
    let price = transaction.gas_price.unwrap_or_default();
    let cap = transaction.max_fee_per_gas.unwrap_or(price).saturating_sub(base_fee);
    transaction.max_priority_fee_per_gas.unwrap_or(price).min(cap)
}

/// The address a creation of a known type gets; unknown of a chain's own types, and where the source lacks its origin.
fn created_address(transaction: &Transaction) -> Option<Address> {
    let creates = transaction.raw.is_none() && transaction.has_origin() && transaction.to.is_none();
    creates.then(|| transaction.from.create(transaction.nonce))
}

fn transaction_row(
    header: &Header,
    timestamp: Timestamp,
    transaction: Transaction,
    receipt: Option<Receipt>,
    Fees { price: effective, rollup }: Fees,
) -> TransactionRow {
    // Some nodes leave it out where the creation failed; it follows from sender and nonce all the same.
    let contract_address =
        receipt.as_ref().and_then(|receipt| receipt.contract_address.or_else(|| created_address(&transaction)));
    // Some nodes put blob fields on every receipt; they mean something for blob transactions only.
    let blob_receipt = receipt.as_ref().filter(|_| transaction.transaction_type == TransactionType::Blob);
    let blob_gas_used = blob_receipt.and_then(|receipt| match transaction.blob_versioned_hashes.len() {
        // Columns may lack the hashes.
        0 => receipt.blob_gas_used,
        blobs => Some(GAS_PER_BLOB * blobs as u64),
    });
    let blob_gas_price = blob_receipt.and_then(|receipt| receipt.blob_gas_price);
    let receipt_extra = receipt.as_ref().and_then(|receipt| receipt.extra.clone());
    TransactionRow {
        block_number: header.number,
        transaction_index: transaction.index,
        hash: transaction.hash,
        block_hash: header.hash,
        block_timestamp: timestamp,
        transaction_type: transaction.transaction_type.byte(),
        from_address: transaction.from,
        to_address: transaction.to,
        nonce: transaction.nonce,
        value: transaction.value,
        gas_limit: transaction.gas,
        gas_price: transaction.gas_price.or(effective),
        max_fee_per_gas: transaction.max_fee_per_gas,
        max_priority_fee_per_gas: transaction.max_priority_fee_per_gas,
        max_fee_per_blob_gas: transaction.max_fee_per_blob_gas,
        input: transaction.input,
        chain_id: transaction.chain_id,
        access_list: transaction.access_list,
        blob_versioned_hashes: transaction.blob_versioned_hashes,
        authorization_list: transaction.authorization_list,
        v: transaction.v,
        r: transaction.r,
        s: transaction.s,
        has_receipt: u8::from(receipt.is_some()),
        status: receipt.as_ref().and_then(|receipt| receipt.status),
        post_state_root: receipt.as_ref().and_then(|receipt| receipt.root),
        gas_used: receipt.as_ref().map_or(0, |receipt| receipt.gas_used),
        cumulative_gas_used: receipt.as_ref().map_or(0, |receipt| receipt.cumulative_gas_used),
        effective_gas_price: effective.unwrap_or_default(),
        contract_address,
        blob_gas_used,
        blob_gas_price,
        logs_count: receipt.as_ref().map_or(0, |receipt| u32::try_from(receipt.logs.len()).unwrap_or(u32::MAX)),
        raw_transaction: transaction.raw.unwrap_or_default().into_bytes().into(),
        l1_fee: rollup.l1_fee,
        operator_fee: rollup.operator_fee,
        extra_fields: transaction.extra.unwrap_or_default().into_bytes().into(),
        receipt_extra_fields: receipt_extra.unwrap_or_default().into_bytes().into(),
        lacking: transaction.lacking.iter().copied().map(Into::into).collect(),
        raw_receipt: receipt.and_then(|receipt| receipt.raw).unwrap_or_default().into_bytes().into(),
    }
}

fn log_rows(
    header: &Header,
    timestamp: Timestamp,
    transaction: &Transaction,
    receipt: &Receipt,
    rows: &mut Vec<LogRow>,
) {
    for log in &receipt.logs {
        let topic = |position: usize| log.topics.get(position).copied().unwrap_or_default();
        rows.push(LogRow {
            address: log.address,
            block_number: header.number,
            log_index: log.index,
            transaction_index: transaction.index,
            transaction_hash: transaction.hash,
            block_hash: header.hash,
            block_timestamp: timestamp,
            topics_count: u8::try_from(log.topics.len()).unwrap_or(u8::MAX),
            topic0: topic(0),
            topic1: topic(1),
            topic2: topic(2),
            topic3: topic(3),
            data: log.data.clone(),
        });
    }
}

fn withdrawal_rows(block: &Block, timestamp: Timestamp) -> Vec<WithdrawalRow> {
    let row = |withdrawal: &crate::block::Withdrawal| WithdrawalRow {
        address: withdrawal.address,
        withdrawal_index: withdrawal.index,
        block_number: block.header.number,
        block_timestamp: timestamp,
        validator_index: withdrawal.validator_index,
        amount: U256::from(withdrawal.amount_gwei).wrapping_mul(U256::from(GWEI)),
    };
    block.withdrawals.iter().flatten().map(row).collect()
}

fn uncle_rows(block: &Block) -> Result<Vec<UncleRow>, TimestampOutOfRange> {
    let uncles = block.uncles.iter().flatten().zip(0..);
    uncles.map(|(uncle, position)| uncle_row(block.header.number, position, uncle)).collect()
}

fn uncle_row(nephew: u64, position: u32, uncle: &Header) -> Result<UncleRow, TimestampOutOfRange> {
    Ok(UncleRow {
        block_number: uncle.number,
        hash: uncle.hash,
        nephew_block_number: nephew,
        uncle_index: position,
        parent_hash: uncle.parent_hash,
        timestamp: Timestamp::from_seconds(uncle.timestamp)?,
        sha3_uncles: uncle.sha3_uncles,
        miner: uncle.miner,
        state_root: uncle.state_root,
        transactions_root: uncle.transactions_root,
        receipts_root: uncle.receipts_root,
        logs_bloom: uncle.logs_bloom,
        difficulty: uncle.difficulty,
        gas_limit: uncle.gas_limit,
        gas_used: uncle.gas_used,
        extra_data: uncle.extra_data.clone(),
        mix_hash: uncle.mix_hash,
        nonce: uncle.nonce,
        base_fee_per_gas: uncle.base_fee_per_gas,
        size: uncle.size,
    })
}

#[cfg(test)]
mod tests {
    use trawl_chains::{ETHEREUM, by_chain_id};

    use super::*;
    use crate::decode::decode;

    #[test]
    fn fees_in_a_token_are_no_coins() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(text.trim()).expect("a block");
        let fees = |block: &Block, family: &Family| {
            let row = rows(block.clone(), family).expect("rows").blocks.remove(0);
            (row.transaction_fees.is_some(), row.priority_fees.is_some())
        };
        let celo = by_chain_id(42_220);
        assert_eq!((fees(&block, &ETHEREUM), fees(&block, celo)), ((true, true), (true, true)));
        let token = format!(r#"{{"feeCurrency":"{}"}}"#, Address::repeat_byte(0x76));
        let last = block.transactions.last_mut().expect("a transaction");
        (last.extra, last.raw, last.transaction_type) = (Some(token.clone()), None, TransactionType::Legacy);
        assert_eq!((fees(&block, &ETHEREUM), fees(&block, celo)), ((true, true), (false, false)));
        // Of a type that only its family has, all of the JSON is kept.
        let last = block.transactions.last_mut().expect("a transaction");
        (last.extra, last.raw, last.transaction_type) = (None, Some(token), TransactionType::Other(0x7b));
        assert_eq!((fees(&block, &ETHEREUM), fees(&block, celo)), ((true, true), (false, false)));
    }
}
