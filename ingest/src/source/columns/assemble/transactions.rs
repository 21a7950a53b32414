//! Rows of transactions, their outcomes and their logs.

use trawl_core::primitives::{Address, B256, Bytes, U256};

use super::error::AssembleError;
use super::rollup_fields::rollup_fields;
use trawl_core::primitives::TransactionType::{self, Blob, DynamicFee, Legacy, SetCode};

use crate::block::{Log, Receipt, Transaction};
use crate::source::columns::cell::{Cell, CellError, FromCell};
use crate::source::columns::facts::{Fact, Facts};
use crate::source::columns::row::Row;

/// A receipt without its logs.
pub struct Outcome {
    /// Position of its transaction.
    pub index: u32,
    pub receipt: Receipt,
    /// Whether the source has the cumulative gas.
    pub has_cumulative_gas: bool,
    /// Columns of the transaction that are not known.
    pub lacking: Vec<&'static str>,
}

/// A log and where it belongs.
pub struct PlacedLog {
    pub transaction_index: u32,
    pub transaction_hash: Option<B256>,
    pub block_hash: Option<B256>,
    pub log: Log,
}

const GAS_USED: &[&str] = &["receipt_gas_used", "gas_used"];

/// Reads the row of a transaction of the chain `chain_id`; with it comes the hash of the block it names.
pub fn transaction(row: Row<'_>, chain_id: Option<u64>) -> Result<(Transaction, Option<B256>), AssembleError> {
    let mut facts = Facts::of(row);
    let facts = &mut facts;
    let kind = facts.fact::<u8>(&["transaction_type"])?.value().map(TransactionType::from);
    if kind.is_none() {
        facts.lack("transaction_type");
    }
    let is_known = kind.is_some_and(TransactionType::has_columns);
    // Types of other chains may have fields the specification does not know; nothing is certain of them.
    let of = |kinds: &[TransactionType]| kind.filter(|_| is_known).map(|kind| kinds.contains(&kind));
    if kind.is_some() && !is_known {
        facts.lack("raw_transaction");
    }
    let block_hash = facts.fact(&["block_hash"])?.value();
    let mut transaction = Transaction {
        hash: facts.required(&["transaction_hash", "hash"])?,
        index: facts.required(&["transaction_index"])?,
        transaction_type: kind.unwrap_or(Legacy),
        // Lists are ordered by both, and no other column says that a transaction creates a contract.
        from: facts.required(&["from_address"])?,
        to: facts.column(&["to_address"])?,
        nonce: facts.known(&["nonce"], "nonce")?,
        value: facts.known(&["value_binary", "value_string", "value"], "value")?,
        gas: facts.known(&["gas_limit", "gas"], "gas_limit")?,
        gas_price: facts.conditional(&["gas_price"], "gas_price", Some(true))?,
        max_fee_per_gas: facts.conditional(
            &["max_fee_per_gas"],
            "max_fee_per_gas",
            of(&[DynamicFee, Blob, SetCode]),
        )?,
        max_priority_fee_per_gas: facts.conditional(
            &["max_priority_fee_per_gas"],
            "max_priority_fee_per_gas",
            of(&[DynamicFee, Blob, SetCode]),
        )?,
        max_fee_per_blob_gas: facts.conditional(&["max_fee_per_blob_gas"], "max_fee_per_blob_gas", of(&[Blob]))?,
        input: facts.known::<Bytes>(&["input"], "input")?,
        // A typed transaction is valid only on the chain it names; a legacy one may name none.
        chain_id: chain_id.filter(|_| of(&[Legacy]) == Some(false)),
        access_list: Vec::new(),
        blob_versioned_hashes: facts
            .conditional(&["blob_versioned_hashes"], "blob_versioned_hashes", of(&[Blob]))?
            .unwrap_or_default(),
        authorization_list: Vec::new(),
        v: v(facts, kind)?,
        r: facts.known(&["r"], "r")?,
        s: facts.known(&["s"], "s")?,
        raw: None,
        extra: None,
        lacking: Vec::new(),
    };
    if transaction.chain_id.is_none() {
        facts.lack("chain_id");
    }
    if of(&[Legacy]) != Some(true) {
        facts.lack("access_list");
    }
    if of(&[SetCode]) != Some(false) {
        facts.lack("authorization_list");
    }
    transaction.lacking = std::mem::replace(facts, Facts::of(row)).into_lacking();
    let transaction = if is_known { transaction.with_members_of_type() } else { transaction };
    Ok((transaction, block_hash))
}

/// `v`. Files may have its parity alone, which for a legacy transaction leaves the chain open (EIP-155).
fn v(facts: &mut Facts<'_>, kind: Option<TransactionType>) -> Result<U256, CellError> {
    match (bool::from_cell(facts.row().cell(&["v"])), kind) {
        (Some(_), None | Some(Legacy)) => {
            facts.lack("v");
            Ok(U256::ZERO)
        }
        (Some(parity), Some(_)) => Ok(U256::from(u8::from(parity))),
        (None, _) => facts.known(&["v"], "v"),
    }
}

/// Reads the outcome of a transaction from the row of its receipt, or from its own row where that has it too; `None`
/// if the row does not have it. `transaction` is the one it belongs to.
pub fn outcome(row: Row<'_>, transaction: &Transaction) -> Result<Option<Outcome>, AssembleError> {
    let mut facts = Facts::of(row);
    let Some(gas_used) = facts.fact(GAS_USED)?.value() else { return Ok(None) };
    let index = facts.required(&["transaction_index"])?;
    let hash: Option<B256> = facts.fact(&["transaction_hash"])?.value();
    let cumulative = facts.fact(&["receipt_cumulative_gas_used", "cumulative_gas_used"])?.value();
    let is_blob = transaction
        .lacking
        .iter()
        .all(|column| *column != "transaction_type")
        .then_some(transaction.transaction_type == Blob);
    let (status, root) = status(&mut facts)?;
    let receipt = Receipt {
        transaction_hash: hash.unwrap_or(transaction.hash),
        block_hash: facts.fact(&["block_hash"])?.value(),
        status,
        root,
        cumulative_gas_used: cumulative.unwrap_or_default(),
        gas_used,
        effective_gas_price: effective_gas_price(&mut facts, transaction)?,
        contract_address: contract_address(&mut facts, transaction)?,
        logs_bloom: None,
        blob_gas_used: facts.conditional(&["receipt_blob_gas_used", "blob_gas_used"], "blob_gas_used", is_blob)?,
        blob_gas_price: facts.conditional(&["receipt_blob_gas_price", "blob_gas_price"], "blob_gas_price", is_blob)?,
        logs: Vec::new(),
        raw: None,
        extra: rollup_fields(&facts)?.filter(|_| transaction.transaction_type.has_columns()),
    };
    if !transaction.transaction_type.has_columns() {
        facts.lack("raw_receipt");
    }
    Ok(Some(Outcome { index, receipt, has_cumulative_gas: cumulative.is_some(), lacking: facts.into_lacking() }))
}

/// Status and state root, of which a receipt has one (EIP-658).
fn status(facts: &mut Facts<'_>) -> Result<(Option<u8>, Option<B256>), CellError> {
    let status: Fact<u8> = match facts.fact(&["receipt_status", "status"])? {
        Fact::Missing => match facts.fact::<bool>(&["success"])? {
            Fact::Some(success) => Fact::Some(u8::from(success)),
            _ => Fact::Missing,
        },
        fact => fact,
    };
    let root: Fact<B256> = facts.fact(&["receipt_root", "root"])?;
    if status == Fact::Missing {
        facts.lack("status");
    }
    if root == Fact::Missing && !matches!(status, Fact::Some(_)) {
        facts.lack("post_state_root");
    }
    Ok((status.value(), root.value()))
}

/// The price paid. Without a column of its own it is `gas_price`: that of a mined transaction is effective.
fn effective_gas_price(facts: &mut Facts<'_>, transaction: &Transaction) -> Result<Option<U256>, CellError> {
    let effective: Option<U256> = facts.fact(&["receipt_effective_gas_price", "effective_gas_price"])?.value();
    let price = effective.or(transaction.gas_price);
    if price.is_none() {
        facts.lack("effective_gas_price");
    }
    Ok(price)
}

/// The created contract: as given, else from sender and nonce, which leave no doubt for the known types.
fn contract_address(facts: &mut Facts<'_>, transaction: &Transaction) -> Result<Option<Address>, CellError> {
    let names = ["receipt_contract_address", "contract_address"];
    if !matches!(facts.row().cell(&names), Cell::Absent) {
        let given: Option<Address> = facts.nullable(&names, "contract_address")?;
        return Ok(given.filter(|address| !address.is_zero()));
    }
    let unknown = ["to_address", "from_address", "nonce", "transaction_type"];
    let is_certain = transaction.transaction_type.has_columns()
        && !transaction.lacking.iter().any(|column| unknown.contains(column));
    if !is_certain {
        facts.lack("contract_address");
        return Ok(None);
    }
    Ok(transaction.to.is_none().then(|| transaction.from.create(transaction.nonce)))
}

/// Reads the row of a log; `None` if a column that every log needs is not there.
pub fn log(row: Row<'_>) -> Result<Option<PlacedLog>, AssembleError> {
    let facts = Facts::of(row);
    let needed = ["transaction_index", "log_index", "address", "data"];
    let listed = !matches!(row.cell(&["topics"]), Cell::Absent);
    let each = ["topic0", "topic1", "topic2", "topic3"];
    let is_there = |column: &&str| !matches!(row.cell(&[*column]), Cell::Absent);
    if !needed.iter().all(is_there) || !(listed || each.iter().all(is_there)) {
        return Ok(None);
    }
    let topics = if listed { facts.fact(&["topics"])?.value().unwrap_or_default() } else { topics(&facts, each)? };
    Ok(Some(PlacedLog {
        transaction_index: facts.required(&["transaction_index"])?,
        transaction_hash: facts.fact(&["transaction_hash"])?.value(),
        block_hash: facts.fact(&["block_hash"])?.value(),
        log: Log {
            address: facts.required(&["address"])?,
            topics,
            data: facts.required(&["data"])?,
            index: facts.required(&["log_index"])?,
        },
    }))
}

/// Topics in columns of their own: those there are come first.
fn topics(facts: &Facts<'_>, columns: [&'static str; 4]) -> Result<Vec<B256>, CellError> {
    let mut topics = Vec::with_capacity(4);
    for (position, column) in columns.into_iter().enumerate() {
        match facts.fact(&[column])? {
            Fact::Some(topic) if topics.len() == position => topics.push(topic),
            Fact::Some(_) => {
                return Err(CellError::new(column, facts.row().cell(&[column]), "null, as the topic before it"));
            }
            Fact::None | Fact::Missing => {}
        }
    }
    Ok(topics)
}
