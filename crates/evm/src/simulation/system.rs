//! What the system does before and after the calls of a block.

use alloy_eips::eip2935::HISTORY_STORAGE_ADDRESS;
use alloy_eips::eip4788::BEACON_ROOTS_ADDRESS;
use alloy_eips::eip7002::{WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, WITHDRAWAL_REQUEST_TYPE};
use alloy_eips::eip7251::{CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS, CONSOLIDATION_REQUEST_TYPE};
use alloy_eips::eip7685::Requests;
use revm::context::result::ExecutionResult;
use revm::primitives::KECCAK_EMPTY;
use revm::primitives::hardfork::SpecId;
use revm::{DatabaseRef, SystemCallEvm};

use super::accounts::commit;
use super::block::BlockRun;
use crate::Failure;
use crate::replay::{Changes, RunError};
use trawl_core::primitives::{Address, B256, Bytes};

/// Slots of the contract of block hashes (EIP-2935).
const HISTORY: u64 = 8_191;

/// Writes the hash of the parent, if it is known, and the root of the parent beacon block.
pub(super) fn begin(run: &BlockRun<'_>, changes: &mut Changes<'_>, parent: Option<B256>) -> Result<(), RunError> {
    if run.rules.fork >= SpecId::PRAGUE
        && let Some(parent) = parent
    {
        call(run, changes, HISTORY_STORAGE_ADDRESS, parent.into())?;
    }
    if let Some(root) = run.header.parent_beacon_block_root {
        call(run, changes, BEACON_ROOTS_ADDRESS, root.into())?;
    }
    Ok(())
}

/// Takes the requests out of their queues, after those of deposits.
pub(super) fn requests(run: &BlockRun<'_>, changes: &mut Changes<'_>, deposits: Vec<u8>) -> Result<Requests, RunError> {
    let mut requests = Requests::default();
    if !deposits.is_empty() {
        requests.push_request_with_type(alloy_eips::eip6110::DEPOSIT_REQUEST_TYPE, deposits);
    }
    for (kind, contract) in [
        (WITHDRAWAL_REQUEST_TYPE, WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS),
        (CONSOLIDATION_REQUEST_TYPE, CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS),
    ] {
        let output = call(run, changes, contract, Bytes::new())?;
        if !output.is_empty() {
            requests.push_request_with_type(kind, output);
        }
    }
    Ok(requests)
}

/// The slot of the contract of block hashes that has the hash of the block at a height.
pub(super) fn history_slot(number: u64) -> u64 {
    number % HISTORY
}

fn call(run: &BlockRun<'_>, changes: &mut Changes<'_>, contract: Address, input: Bytes) -> Result<Bytes, RunError> {
    run.check_time()?;
    if changes.basic_ref(contract)?.is_none_or(|account| account.code_hash == KECCAK_EMPTY) {
        return Ok(Bytes::new());
    }
    let outcome = run.evm(changes).system_call(contract, input)?;
    commit(changes, outcome.state, run.rules.fork);
    match outcome.result {
        ExecutionResult::Success { output, .. } => Ok(output.into_data()),
        _ => Err(RunError::Failed(Failure::Invalid(format!("the system call to {contract} failed")))),
    }
}
