//! The row of a block, and the facts that follow from its columns.

use serde::Deserialize;
use trawl_core::primitives::{Address, B256, U256};

use super::error::AssembleError;
use crate::block::{Block, Header, Receipt, Transaction, Withdrawal};
use crate::decode::{NO_ITEMS, NO_UNCLES};
use crate::source::columns::cell::{Cell, CellError, FromCell};
use crate::source::columns::facts::{Fact, Facts};
use crate::source::columns::row::Row;

/// The facts in the row of a block.
pub struct BlockFacts {
    pub header: Header,
    pub total_difficulty: Option<U256>,
    /// How many transactions it counts.
    pub transactions_count: Option<u64>,
    withdrawals: Option<Vec<Withdrawal>>,
    uncle_hashes: Option<Vec<B256>>,
}

impl BlockFacts {
    /// Reads a row.
    pub fn read(row: Row<'_>) -> Result<Self, AssembleError> {
        let mut facts = Facts::of(row);
        let mut header = early(&mut facts)?;
        later(&mut facts, &mut header)?;
        let withdrawals = withdrawals(&mut facts, header.withdrawals_root)?;
        if withdrawals.is_none() {
            facts.lack("withdrawals_count");
        }
        let uncle_hashes = (header.sha3_uncles == NO_UNCLES && !facts.lacks("sha3_uncles")).then(Vec::new);
        if uncle_hashes.is_none() {
            facts.lack("uncles");
        }
        let total: Fact<U256> =
            facts.fact(&["total_difficulty_binary", "total_difficulty_string", "total_difficulty"])?;
        let transactions_count = facts.fact(&["transaction_count"])?.value();
        header.lacking = facts.into_lacking();
        Ok(Self { header, total_difficulty: total.value(), transactions_count, withdrawals, uncle_hashes })
    }

    /// The block with these transactions and receipts.
    pub fn with(mut self, transactions: Vec<Transaction>, receipts: Option<Vec<Receipt>>) -> Block {
        lack_sums(&mut self.header, &transactions);
        let source_bytes = size(&transactions, receipts.as_deref());
        Block {
            header: self.header,
            total_difficulty: self.total_difficulty,
            // Without uncle hashes there are no headers either, and a block without uncles lacks neither.
            uncles: self.uncle_hashes.as_ref().map(|_| Vec::new()),
            uncle_hashes: self.uncle_hashes,
            transactions,
            receipts,
            block_receipt: None,
            withdrawals: self.withdrawals,
            state: None,
            traces: None,
            source_bytes,
        }
    }
}

/// What every header has.
fn early(facts: &mut Facts<'_>) -> Result<Header, CellError> {
    Ok(Header {
        number: facts.required(&["block_number", "number"])?,
        hash: facts.required(&["block_hash", "hash"])?,
        parent_hash: facts.known(&["parent_hash"], "parent_hash")?,
        sha3_uncles: facts.known(&["sha3_uncles"], "sha3_uncles")?,
        miner: facts.known::<Address>(&["author", "miner"], "miner")?,
        state_root: facts.known(&["state_root"], "state_root")?,
        transactions_root: facts.known(&["transactions_root"], "transactions_root")?,
        receipts_root: facts.known(&["receipts_root"], "receipts_root")?,
        logs_bloom: facts.known(&["logs_bloom"], "logs_bloom")?,
        difficulty: facts.known(&["difficulty"], "difficulty")?,
        gas_limit: facts.known(&["gas_limit"], "gas_limit")?,
        gas_used: facts.known(&["gas_used"], "gas_used")?,
        timestamp: facts.required(&["timestamp"])?,
        extra_data: facts.known(&["extra_data"], "extra_data")?,
        mix_hash: facts.nullable(&["mix_hash"], "mix_hash")?,
        nonce: facts.nullable(&["nonce"], "nonce")?,
        base_fee_per_gas: None,
        withdrawals_root: None,
        blob_gas_used: None,
        excess_blob_gas: None,
        parent_beacon_block_root: None,
        requests_hash: None,
        size: facts.nullable(&["size"], "size")?,
        lacking: Vec::new(),
        extra: None,
    })
}

/// The fields that forks added at the end of the header, one after another: where one is known to be absent, so are
/// all after it (EIP-1559, EIP-4895, EIP-4844, EIP-4788, EIP-7685).
fn later(facts: &mut Facts<'_>, header: &mut Header) -> Result<(), CellError> {
    let mut ended = None;
    header.base_fee_per_gas = next(facts, "base_fee_per_gas", &mut ended)?;
    header.withdrawals_root = next(facts, "withdrawals_root", &mut ended)?;
    header.blob_gas_used = next(facts, "blob_gas_used", &mut ended)?;
    header.excess_blob_gas = next(facts, "excess_blob_gas", &mut ended)?;
    header.parent_beacon_block_root = next(facts, "parent_beacon_block_root", &mut ended)?;
    header.requests_hash = next(facts, "requests_hash", &mut ended)?;
    Ok(())
}

fn next<T: FromCell>(
    facts: &mut Facts<'_>,
    column: &'static str,
    ended: &mut Option<()>,
) -> Result<Option<T>, CellError> {
    let fact = facts.fact(&[column])?;
    match fact {
        Fact::None => *ended = Some(()),
        Fact::Missing if ended.is_none() => facts.lack(column),
        Fact::Missing | Fact::Some(_) => {}
    }
    Ok(fact.value())
}

#[derive(Deserialize)]
struct JsonWithdrawal {
    index: u64,
    validator_index: u64,
    address: Address,
    amount: u64,
}

impl FromCell for Vec<JsonWithdrawal> {
    const EXPECTED: &'static str = "a list of withdrawals";

    /// A JSON array, or its elements without the brackets.
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        let Cell::Text(text) = cell else { return None };
        let items = text.trim().trim_start_matches('[').trim_end_matches(']');
        serde_json::from_str(&format!("[{items}]")).ok()
    }
}

/// The withdrawals, if the source has them or there can be none. Whether a list without any is that of the root is
/// checked afterwards: on some chains the root is of something else.
fn withdrawals(facts: &mut Facts<'_>, root: Option<B256>) -> Result<Option<Vec<Withdrawal>>, CellError> {
    let fact: Fact<Vec<JsonWithdrawal>> = facts.fact(&["withdrawals"])?;
    let is_known = !facts.lacks("withdrawals_root");
    let there_are_some = is_known && root.is_some_and(|root| root != NO_ITEMS);
    let items = match fact {
        Fact::Some(items) => items,
        Fact::Missing | Fact::None if !is_known || there_are_some => return Ok(None),
        Fact::Missing | Fact::None => Vec::new(),
    };
    Ok(Some(items.into_iter().map(Into::into).collect()))
}

impl From<JsonWithdrawal> for Withdrawal {
    fn from(json: JsonWithdrawal) -> Self {
        Self {
            index: json.index,
            validator_index: json.validator_index,
            address: json.address,
            amount_gwei: json.amount,
        }
    }
}

/// Columns of the block that are counted from its transactions lack what those lack.
fn lack_sums(header: &mut Header, transactions: &[Transaction]) {
    let lacks = |columns: &[&str]| {
        transactions.iter().any(|transaction| transaction.lacking.iter().any(|lacking| columns.contains(lacking)))
    };
    if lacks(&["transaction_type"]) {
        header.lacking.push("blob_transactions_count");
    }
    let price = ["gas_used", "effective_gas_price", "gas_price"];
    if lacks(&price) {
        header.lacking.push("transaction_fees");
    }
    let tip = ["max_fee_per_gas", "max_priority_fee_per_gas", "transaction_type"];
    let base_fee = header.lacking.contains(&"base_fee_per_gas") && !transactions.is_empty();
    if base_fee || lacks(&price) || lacks(&tip) {
        header.lacking.push("priority_fees");
    }
}

/// About how long the block would be as text, which batch limits count in.
fn size(transactions: &[Transaction], receipts: Option<&[Receipt]>) -> usize {
    let inputs: usize = transactions.iter().map(|transaction| 1_000 + 2 * transaction.input.len()).sum();
    let logs = receipts.into_iter().flatten().flat_map(|receipt| &receipt.logs);
    2_000 + inputs + logs.map(|log| 700 + 2 * log.data.len()).sum::<usize>()
}
