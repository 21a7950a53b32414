//! Whether traces fit the transactions and receipts they belong to. Pure.
//!
//! Only outermost frames can be proven: hashes bind a transaction and its receipt, and nothing binds a trace but them.
//! Frames below are checked for being a whole tree. Without receipts, gas and outcome are not checkable; neither are
//! the frames of transactions of a chain's own types, which need not be one call.

use alloy_primitives::keccak256;
use trawl_chains::{Family, state_sync_hash};

use super::check::Check;
use super::membership::is_outside;
use super::outcome::VerifyError;
use crate::block::trace::{Frame, RootGas, TransactionTrace};
use crate::block::{Block, Receipt, Transaction};

/// All checks of traces; a block without traces passes.
pub fn verify_traces(block: &Block, family: &Family) -> Result<(), VerifyError> {
    trace_count(block, family)?;
    trace_tree(block)?;
    trace_root(block, family)?;
    trace_gas(block, family)?;
    trace_outcome(block, family)
}

/// As many traces as transactions, each of its transaction and of this block, with exactly one outermost frame.
fn trace_count(block: &Block, family: &Family) -> Result<(), VerifyError> {
    let Some(traces) = &block.traces else { return Ok(()) };
    let number = block.header.number;
    same(number, Check::TraceNumberOfTraces, &block.transactions.len(), &traces.transactions.len())?;
    let reward_hashes = traces.rewards.iter().flatten().filter_map(|reward| reward.block_hash);
    let hashes = traces.transactions.iter().filter_map(|trace| trace.block_hash);
    for hash in hashes.chain(reward_hashes) {
        same(number, Check::TraceBlockHashTrace, &block.header.hash, &hash)?;
    }
    for (position, (transaction, trace)) in block.transactions.iter().zip(&traces.transactions).enumerate() {
        if let Some(hash) = &trace.transaction_hash {
            same(number, Check::TraceTransactionHashTrace, &transaction.hash, hash)?;
        }
        let roots = trace.frames.iter().filter(|frame| frame.trace_address.is_empty()).count();
        let at_least = usize::from(is_one_call(block, position, family));
        if roots < at_least || roots > 1 {
            return Err(refused(number, Check::TraceOutermostFramesTrace, 1, roots));
        }
    }
    Ok(())
}

/// Paths are those of a tree in order of execution, and each frame has as many children as it states.
fn trace_tree(block: &Block) -> Result<(), VerifyError> {
    let number = block.header.number;
    for trace in block.traces.iter().flat_map(|traces| &traces.transactions) {
        // The frames from the outermost to the current one, each with the number of its children so far.
        let mut open: Vec<(&Frame, u32)> = Vec::new();
        for frame in &trace.frames {
            close(number, &mut open, frame.trace_address.len())?;
            let expected: Vec<u32> = match open.last_mut() {
                None => Vec::new(),
                Some((parent, children)) => {
                    *children += 1;
                    parent.trace_address.iter().copied().chain([*children - 1]).collect()
                }
            };
            if expected != frame.trace_address {
                let (expected, found) = (format!("{expected:?}"), format!("{:?}", frame.trace_address));
                return Err(refused(number, Check::TracePathFrame, expected, found));
            }
            open.push((frame, 0));
        }
        close(number, &mut open, 0)?;
    }
    Ok(())
}

/// Ends the frames at `depth` and below: all their children have come.
fn close(number: u64, open: &mut Vec<(&Frame, u32)>, depth: usize) -> Result<(), VerifyError> {
    while open.len() > depth {
        if let Some((frame, children)) = open.pop() {
            same(number, Check::TraceSubtracesFrame, &frame.subtraces, &children)?;
        }
    }
    Ok(())
}

/// The outermost frame is what the transaction requested.
fn trace_root(block: &Block, family: &Family) -> Result<(), VerifyError> {
    let number = block.header.number;
    for TransactionRoot { transaction, receipt, root, .. } in rooted(block, family) {
        let kind = if transaction.to.is_some() { "call" } else { "create" };
        same(number, Check::TraceTypeOutermostFrame, &kind, &root.kind.frame_type())?;
        same(number, Check::TraceSenderOutermostFrame, &transaction.from, &root.from)?;
        same(number, Check::TraceRecipientOutermostFrame, &text(transaction.to), &text(root.to))?;
        same(number, Check::TraceValueOutermostFrame, &transaction.value, &root.value)?;
        if transaction.input != root.input {
            let (expected, found) = (keccak256(&transaction.input), keccak256(&root.input));
            return Err(refused(number, Check::TraceHashInputOutermostFrame, expected, found));
        }
        let contract = receipt.and_then(|receipt| receipt.contract_address);
        // Some nodes name the contract that a failed creation would have made.
        if let (Some(contract), Some(created)) = (contract, root.created_contract) {
            same(number, Check::TraceContractOutermostFrame, &contract, &created)?;
        }
    }
    Ok(())
}

/// The outermost frame used the gas of the receipt, in one of the meanings that nodes give to it.
fn trace_gas(block: &Block, family: &Family) -> Result<(), VerifyError> {
    for TransactionRoot { transaction, receipt, root, root_gas } in rooted(block, family) {
        let Some(receipt) = receipt else { continue };
        let is_given = root.gas_used == Some(receipt.gas_used)
            // Anvil: what the block used so far.
            || root.gas_used == Some(receipt.cumulative_gas_used) && root.gas_limit < transaction.gas;
        let is_total = root_gas == RootGas::OfNode && is_given;
        if !is_total && !is_execution_gas(transaction, receipt, root) {
            let found = format!("{:?} of {} given", root.gas_used, root.gas_limit);
            let expected = format!("{} of {}", receipt.gas_used, transaction.gas);
            return Err(refused(block.header.number, Check::TraceGasUsedOutermostFrame, expected, found));
        }
    }
    Ok(())
}

/// Whether the gas of `root` is without the intrinsic cost, which is what the transaction's limit is higher by. Of the
/// sum, at most half is refunded (EIP-3529 makes it a fifth), and EIP-7623 may charge more for the input alone.
fn is_execution_gas(transaction: &Transaction, receipt: &Receipt, root: &Frame) -> bool {
    let Some(intrinsic) = transaction.gas.checked_sub(root.gas_limit).filter(|intrinsic| *intrinsic > 0) else {
        return false;
    };
    // A failure other than a revert uses up everything; `trace_block` does not give that amount.
    let used = root.gas_used.unwrap_or(root.gas_limit);
    let Some(spent) = intrinsic.checked_add(used).filter(|spent| *spent <= transaction.gas) else { return false };
    let refunded = spent.checked_sub(receipt.gas_used);
    match refunded {
        Some(refunded) => refunded <= spent / 2,
        None => receipt.gas_used == floor_gas(&transaction.input),
    }
}

/// What a transaction costs at least for its input: <https://eips.ethereum.org/EIPS/eip-7623>.
fn floor_gas(input: &[u8]) -> u64 {
    let tokens: u64 = input.iter().map(|byte| if *byte == 0 { 1 } else { 4 }).sum();
    21_000 + 10 * tokens
}

/// The outermost frame failed if and only if the receipt shows it. Before Byzantium it has no status.
fn trace_outcome(block: &Block, family: &Family) -> Result<(), VerifyError> {
    for TransactionRoot { receipt, root, .. } in rooted(block, family) {
        let Some(status) = receipt.and_then(|receipt| receipt.status) else { continue };
        let outcome = |failed: bool| if failed { "a failure" } else { "success" };
        let found = outcome(root.error.is_some());
        same(block.header.number, Check::TraceOutcomeOutermostFrame, &outcome(status == 0), &found)?;
    }
    Ok(())
}

/// A transaction of a known type with what belongs to it.
struct TransactionRoot<'a> {
    transaction: &'a Transaction,
    receipt: Option<&'a Receipt>,
    root: &'a Frame,
    root_gas: RootGas,
}

fn rooted<'a>(block: &'a Block, family: &Family) -> impl Iterator<Item = TransactionRoot<'a>> {
    let root_gas = block.traces.as_ref().map_or(RootGas::OfNode, |traces| traces.root_gas);
    let all: &[TransactionTrace] = block.traces.as_ref().map_or(&[], |traces| &traces.transactions);
    block.outcomes().zip(all).enumerate().filter_map(move |(position, ((transaction, receipt), trace))| {
        let root = trace.frames.first().filter(|_| is_one_call(block, position, family))?;
        Some(TransactionRoot { transaction, receipt, root, root_gas })
    })
}

/// Whether the execution of the transaction at `position` is known to be one call: it is of a type of Ethereum, and in
/// the roots.
fn is_one_call(block: &Block, position: usize, family: &Family) -> bool {
    let is_sync =
        |transaction: &Transaction| transaction.hash == state_sync_hash(block.header.number, &block.header.hash);
    let transaction = block.transactions.get(position).filter(|transaction| transaction.raw.is_none());
    transaction.is_some_and(|transaction| !is_sync(transaction) && !is_outside(block, position, family))
}

fn text(address: Option<trawl_core::primitives::Address>) -> String {
    address.map_or_else(|| "none".into(), |address| address.to_string())
}

fn same<T: PartialEq + ToString>(number: u64, check: Check, expected: &T, found: &T) -> Result<(), VerifyError> {
    if expected == found { Ok(()) } else { Err(refused(number, check, expected.to_string(), found.to_string())) }
}

fn refused(number: u64, check: Check, expected: impl ToString, found: impl ToString) -> VerifyError {
    VerifyError { number, check, expected: expected.to_string(), found: found.to_string() }
}
