//! Converts rows back to blocks, so that stored blocks can be verified like those of a source. Pure.

use std::fmt::Debug;
use std::iter::Peekable;
use std::vec::IntoIter;

use trawl_chains::Family;
use trawl_core::primitives::{Coverage, Timestamp, U256};
use trawl_core::schema::{BlockRow, Columns, LogRow, TransactionRow, UncleRow, WithdrawalRow};
use trawl_core::store::StoredRange;

use crate::block::{Block, GWEI, Header, Log, Receipt, Transaction, Withdrawal};
use crate::rows::rows;
use crate::verify::{Check, VerifyError};
use crate::write::batch::BlockRows;

/// Characters shown of a row that differs.
const SHOWN: usize = 100;

/// The blocks with a committed part: its rows are complete, or some were lost.
#[derive(Debug, Clone, Default)]
pub struct KnownParts {
    /// Receipts and logs.
    pub receipts: Coverage,
    /// Withdrawals of validators (EIP-4895).
    pub withdrawals: Coverage,
    /// Headers of the uncles.
    pub uncles: Coverage,
}

/// A block that was rebuilt, and the rows it was rebuilt from.
#[derive(Debug, Clone)]
pub struct StoredBlock {
    /// The block as a source would give it.
    pub block: Block,
    /// The rows, as far as they were read.
    rows: BlockRows,
}

/// The blocks of a range, in order.
#[must_use]
pub fn blocks(range: StoredRange, known: &KnownParts) -> Vec<StoredBlock> {
    let mut transactions = range.transactions.into_iter().peekable();
    let mut logs = range.logs.into_iter().peekable();
    let mut withdrawals = range.withdrawals.into_iter().peekable();
    let mut uncles = range.uncles.into_iter().peekable();
    let mut token_transfers = range.token_transfers.into_iter().peekable();
    let rebuild = |row: BlockRow| {
        let number = row.block_number;
        let rows = BlockRows {
            blocks: vec![row.clone()],
            transactions: take(&mut transactions, |transaction| transaction.block_number <= number),
            logs: take(&mut logs, |log| log.block_number <= number),
            withdrawals: take(&mut withdrawals, |withdrawal| withdrawal.block_number <= number),
            uncles: take(&mut uncles, |uncle| uncle.nephew_block_number <= number),
            token_transfers_by_block: take(&mut token_transfers, |transfer| transfer.block_number <= number),
            ..BlockRows::default()
        };
        let mut block = block(row, rows.clone());
        // What a source did not have was not stored. What it had is there, or the block is refused.
        block.receipts = block.receipts.filter(|_| known.receipts.contains(number));
        block.withdrawals = block.withdrawals.filter(|_| known.withdrawals.contains(number));
        block.uncles = block.uncles.filter(|_| known.uncles.contains(number));
        StoredBlock { block, rows }
    };
    range.blocks.into_iter().map(rebuild).collect()
}

impl StoredBlock {
    /// Checks that the rows are those of the verified block, with its sums, counts, and repeated hashes and times, and
    /// that there are no others.
    pub fn check_rows(self, family: &Family) -> Result<(), VerifyError> {
        let Self { block, rows: mut found } = self;
        let number = block.header.number;
        let is_partial = block.header.lacking.contains(&"base_fee_per_gas")
            || block.transactions.iter().any(Transaction::lacks_sources_of_others);
        let refused = |expected: String, found: String| VerifyError { number, check: Check::Rows, expected, found };
        let expected = rows(block, family).map_err(|error| refused("a time that fits".into(), error.to_string()))?;
        if is_partial {
            // Sums of what was a placeholder at the time.
            for (found, expected) in found.blocks.iter_mut().zip(&expected.blocks) {
                (found.transaction_fees, found.priority_fees) = (expected.transaction_fees, expected.priority_fees);
                found.burnt_fees = expected.burnt_fees;
            }
        }
        let differing = differing("blocks", &expected.blocks, &found.blocks)
            .or_else(|| differing("transactions", &expected.transactions, &found.transactions))
            .or_else(|| differing("logs_by_block", &expected.logs, &found.logs))
            .or_else(|| differing("withdrawals_by_block", &expected.withdrawals, &found.withdrawals))
            .or_else(|| differing("uncles", &expected.uncles, &found.uncles))
            .or_else(|| {
                let (expected, found) = (&expected.token_transfers_by_block, &found.token_transfers_by_block);
                differing("token_transfers_by_block", expected, found)
            });
        differing.map_or(Ok(()), |(expected, found)| Err(refused(expected, found)))
    }
}

/// The first rows of `table` that differ, from the differing field on.
fn differing<R: PartialEq + Debug>(table: &str, expected: &[R], found: &[R]) -> Option<(String, String)> {
    if expected.len() != found.len() {
        return Some((format!("{} rows of `{table}`", expected.len()), found.len().to_string()));
    }
    let (expected, found) = expected.iter().zip(found.iter()).find(|(expected, found)| expected != found)?;
    let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
    let same = expected.bytes().zip(found.bytes()).take_while(|(expected, found)| expected == found).count();
    // From the name of the field on, and not all of a long value.
    let begin =
        expected.get(..same).and_then(|same| same.rfind([' ', '{'])).and_then(|at| expected[..at].rfind([' ', '{']));
    let some = |text: &str| text.chars().skip(begin.map_or(0, |begin| begin + 1)).take(SHOWN).collect::<String>();
    Some((format!("`{table}` with {}", some(&expected)), some(&found)))
}

fn take<T>(rows: &mut Peekable<IntoIter<T>>, is_ours: impl Fn(&T) -> bool) -> Vec<T> {
    std::iter::from_fn(|| rows.next_if(&is_ours)).collect()
}

fn block(row: BlockRow, parts: BlockRows) -> Block {
    let mut logs = parts.logs.into_iter().peekable();
    let mut receipts = Vec::with_capacity(parts.transactions.len());
    let mut transactions = Vec::with_capacity(parts.transactions.len());
    for transaction in parts.transactions {
        let index = transaction.transaction_index;
        // A log of a transaction that is not there stays here, so that the rows miss it.
        let of_transaction = take(&mut logs, |log| log.transaction_index <= index);
        if transaction.has_receipt == 1 {
            receipts.push(receipt(&transaction, of_transaction));
        }
        transactions.push(self::transaction(transaction));
    }
    let uncles: Vec<Header> = parts.uncles.into_iter().map(uncle).collect();
    Block {
        total_difficulty: row.total_difficulty,
        uncles: Some(uncles),
        uncle_hashes: Some(row.uncles.clone()),
        transactions,
        receipts: Some(receipts),
        block_receipt: None,
        withdrawals: Some(parts.withdrawals.into_iter().map(withdrawal).collect()),
        state: None,
        traces: None,
        source_bytes: 0,
        header: header(row),
    }
}

fn seconds(timestamp: Timestamp) -> u64 {
    timestamp.seconds()
}

/// Names a row has are those the program knows; a name of a later release counts as unknown.
fn lacking(names: &[String]) -> Vec<&'static str> {
    let columns = || BlockRow::names().iter().chain(TransactionRow::names());
    let known =
        |name: &String| columns().find(|known| *known == name).copied().unwrap_or("a column of another release");
    names.iter().map(known).collect()
}

fn header(row: BlockRow) -> Header {
    Header {
        lacking: lacking(&row.lacking),
        extra: text(&row.extra_fields),
        number: row.block_number,
        hash: row.hash,
        parent_hash: row.parent_hash,
        sha3_uncles: row.sha3_uncles,
        miner: row.miner,
        state_root: row.state_root,
        transactions_root: row.transactions_root,
        receipts_root: row.receipts_root,
        logs_bloom: row.logs_bloom,
        difficulty: row.difficulty,
        gas_limit: row.gas_limit,
        gas_used: row.gas_used,
        timestamp: seconds(row.timestamp),
        extra_data: row.extra_data,
        mix_hash: row.mix_hash,
        nonce: row.nonce,
        base_fee_per_gas: row.base_fee_per_gas,
        withdrawals_root: row.withdrawals_root,
        blob_gas_used: row.blob_gas_used,
        excess_blob_gas: row.excess_blob_gas,
        parent_beacon_block_root: row.parent_beacon_block_root,
        requests_hash: row.requests_hash,
        size: row.size,
    }
}

fn uncle(row: UncleRow) -> Header {
    Header {
        lacking: Vec::new(),
        extra: None,
        number: row.block_number,
        hash: row.hash,
        parent_hash: row.parent_hash,
        sha3_uncles: row.sha3_uncles,
        miner: row.miner,
        state_root: row.state_root,
        transactions_root: row.transactions_root,
        receipts_root: row.receipts_root,
        logs_bloom: row.logs_bloom,
        difficulty: row.difficulty,
        gas_limit: row.gas_limit,
        gas_used: row.gas_used,
        timestamp: seconds(row.timestamp),
        extra_data: row.extra_data,
        mix_hash: row.mix_hash,
        nonce: row.nonce,
        base_fee_per_gas: row.base_fee_per_gas,
        // Uncles ended with the merge, before these.
        withdrawals_root: None,
        blob_gas_used: None,
        excess_blob_gas: None,
        parent_beacon_block_root: None,
        requests_hash: None,
        size: row.size,
    }
}

fn transaction(row: TransactionRow) -> Transaction {
    Transaction {
        raw: text(&row.raw_transaction),
        extra: text(&row.extra_fields),
        lacking: lacking(&row.lacking),
        hash: row.hash,
        index: row.transaction_index,
        transaction_type: row.transaction_type.into(),
        from: row.from_address,
        to: row.to_address,
        nonce: row.nonce,
        value: row.value,
        gas: row.gas_limit,
        gas_price: row.gas_price,
        max_fee_per_gas: row.max_fee_per_gas,
        max_priority_fee_per_gas: row.max_priority_fee_per_gas,
        max_fee_per_blob_gas: row.max_fee_per_blob_gas,
        input: row.input,
        chain_id: row.chain_id,
        access_list: row.access_list,
        blob_versioned_hashes: row.blob_versioned_hashes,
        authorization_list: row.authorization_list,
        v: row.v,
        r: row.r,
        s: row.s,
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn receipt(row: &TransactionRow, logs: Vec<LogRow>) -> Receipt {
    Receipt {
        transaction_hash: row.hash,
        block_hash: Some(row.block_hash),
        status: row.status,
        root: row.post_state_root,
        cumulative_gas_used: row.cumulative_gas_used,
        gas_used: row.gas_used,
        effective_gas_price: Some(row.effective_gas_price),
        contract_address: row.contract_address,
        logs_bloom: None,
        blob_gas_used: row.blob_gas_used,
        blob_gas_price: row.blob_gas_price,
        logs: logs.into_iter().map(log).collect(),
        raw: text(&row.raw_receipt),
        extra: text(&row.receipt_extra_fields),
    }
}

fn log(row: LogRow) -> Log {
    let topics = [row.topic0, row.topic1, row.topic2, row.topic3];
    Log {
        address: row.address,
        topics: topics.into_iter().take(row.topics_count.into()).collect(),
        data: row.data,
        index: row.log_index,
    }
}

fn withdrawal(row: WithdrawalRow) -> Withdrawal {
    let gwei = row.amount / U256::from(GWEI);
    Withdrawal {
        index: row.withdrawal_index,
        validator_index: row.validator_index,
        address: row.address,
        amount_gwei: u64::try_from(gwei).unwrap_or(u64::MAX),
    }
}
