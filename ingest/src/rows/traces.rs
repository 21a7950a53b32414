//! Call frames and rewards to rows: all of them by position, and by participant those that lists of internal
//! transactions show.
//!
//! Such a list leaves out the outermost frame of a call, which is the transaction itself, and shows that of a creation;
//! it shows failures, delegatecalls, staticcalls and calls without value. Rewards are of no transaction and are not in
//! it. A created contract counts as the receiving side.

use trawl_core::primitives::{Address, B256, Bytes, Timestamp};
use trawl_core::schema::{AddressInternalTransactionRow, DirectedInternalTransactionRow, InternalTransactionRow};

use crate::block::trace::{Frame, Reward, RootGas};
use crate::block::{Block, Receipt, Transaction};
use crate::write::batch::BlockRows;

/// Adds the rows of a block's traces.
pub(super) fn trace_rows(block: &Block, timestamp: Timestamp, rows: &mut BlockRows) {
    let Some(traces) = &block.traces else { return };
    for ((transaction, receipt), trace) in block.outcomes().zip(&traces.transactions) {
        let of = TransactionContracts { block, timestamp, transaction, receipt, root_gas: traces.root_gas };
        let has_failed = receipt.is_some_and(|receipt| receipt.status == Some(0));
        for ((frame, is_undone), frame_index) in trace.undone().zip(0..) {
            let row =
                InternalTransactionRow { is_undone: (is_undone || has_failed).into(), ..of.row(frame, frame_index) };
            if !(frame_index == 0 && row.frame_type == "call") {
                by_participant(&row, rows);
            }
            rows.internal_transactions.push(row);
        }
    }
    let rewards = traces.rewards.iter().flatten().zip(0..);
    rows.internal_transactions.extend(rewards.map(|(reward, index)| reward_row(block, timestamp, reward, index)));
}

/// The transaction whose frames are turned into rows.
struct TransactionContracts<'a> {
    block: &'a Block,
    timestamp: Timestamp,
    transaction: &'a Transaction,
    receipt: Option<&'a Receipt>,
    root_gas: RootGas,
}

impl TransactionContracts<'_> {
    fn row(&self, frame: &Frame, frame_index: u32) -> InternalTransactionRow {
        let is_root = frame_index == 0;
        // Nodes mean different things by the gas of the outermost frame; the transaction's own figures are the same
        // from all.
        let (gas_limit, gas_used) = if is_root {
            (self.transaction.gas, self.receipt.map(|receipt| receipt.gas_used))
        } else {
            (frame.gas_limit, frame.gas_used)
        };
        let is_execution = is_root && self.root_gas == RootGas::OfExecution;
        InternalTransactionRow {
            block_number: self.block.header.number,
            transaction_index: self.transaction.index,
            frame_index,
            transaction_hash: self.transaction.hash,
            block_timestamp: self.timestamp,
            trace_address: frame.trace_address.clone(),
            frame_type: frame.kind.frame_type().into(),
            call_type: frame.kind.call_type().into(),
            from_address: frame.from,
            to_address: frame.to,
            created_contract: frame.created_contract,
            value: frame.value,
            gas_limit,
            error: frame.error.clone().unwrap_or_default(),
            gas_used,
            input: frame.input.clone(),
            output: frame.output.clone(),
            subtraces: frame.subtraces,
            execution_gas_limit: is_execution.then_some(frame.gas_limit),
            execution_gas_used: frame.gas_used.filter(|_| is_execution),
            is_undone: 0,
        }
    }
}

/// Adds a row for each participant, and for each side that one is on.
fn by_participant(row: &InternalTransactionRow, rows: &mut BlockRows) {
    let receiver = row.to_address.or(row.created_contract);
    rows.internal_transactions_by_address.push(as_seen_by(row.from_address, row));
    if let Some(receiver) = receiver.filter(|receiver| *receiver != row.from_address) {
        rows.internal_transactions_by_address.push(as_seen_by(receiver, row));
    }
    rows.internal_transactions_by_direction.push(as_seen_from("from", row.from_address, row));
    if let Some(receiver) = receiver {
        rows.internal_transactions_by_direction.push(as_seen_from("to", receiver, row));
    }
}

fn as_seen_by(address: Address, row: &InternalTransactionRow) -> AddressInternalTransactionRow {
    AddressInternalTransactionRow {
        address,
        block_number: row.block_number,
        transaction_index: row.transaction_index,
        frame_index: row.frame_index,
        transaction_hash: row.transaction_hash,
        block_timestamp: row.block_timestamp,
        frame_type: row.frame_type.clone(),
        call_type: row.call_type.clone(),
        from_address: row.from_address,
        to_address: row.to_address,
        created_contract: row.created_contract,
        value: row.value,
        gas_limit: row.execution_gas_limit.unwrap_or(row.gas_limit),
        error: row.error.clone(),
        is_undone: row.is_undone,
    }
}

fn as_seen_from(direction: &str, address: Address, row: &InternalTransactionRow) -> DirectedInternalTransactionRow {
    DirectedInternalTransactionRow {
        address,
        direction: direction.into(),
        block_number: row.block_number,
        transaction_index: row.transaction_index,
        frame_index: row.frame_index,
        transaction_hash: row.transaction_hash,
        block_timestamp: row.block_timestamp,
        frame_type: row.frame_type.clone(),
        call_type: row.call_type.clone(),
        from_address: row.from_address,
        to_address: row.to_address,
        created_contract: row.created_contract,
        value: row.value,
        gas_limit: row.execution_gas_limit.unwrap_or(row.gas_limit),
        error: row.error.clone(),
        is_undone: row.is_undone,
    }
}

fn reward_row(block: &Block, timestamp: Timestamp, reward: &Reward, frame_index: u32) -> InternalTransactionRow {
    InternalTransactionRow {
        block_number: block.header.number,
        transaction_index: u32::MAX,
        frame_index,
        transaction_hash: B256::ZERO,
        block_timestamp: timestamp,
        trace_address: Vec::new(),
        frame_type: "reward".into(),
        call_type: reward.reward_type.clone(),
        from_address: Address::ZERO,
        to_address: Some(reward.author),
        created_contract: None,
        value: reward.value,
        gas_limit: 0,
        error: String::new(),
        gas_used: None,
        input: Bytes::new(),
        output: Bytes::new(),
        subtraces: 0,
        execution_gas_limit: None,
        execution_gas_used: None,
        is_undone: 0,
    }
}
