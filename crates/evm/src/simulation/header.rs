//! Headers of simulated blocks, as far as they are known before their calls.

use alloy_consensus::constants::EMPTY_WITHDRAWALS;
use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, Header};
use alloy_eips::eip1559::{BaseFeeParams, calc_next_block_base_fee};
use revm::primitives::hardfork::SpecId;

use super::plan::Mode;
use super::refusal::Refusal;
use super::sequence::ScheduleEntry;
use crate::{BlockContext, Rules, Schedule};
use trawl_core::primitives::{B256, U256};

/// A header without what comes of its calls, and the rules of its block.
///
/// # Errors
///
/// When the rules are not known, or are older than those that are simulated.
pub(super) fn begun(
    scheduled: &ScheduleEntry<'_>,
    parent: &Header,
    schedule: &Schedule,
    mode: Mode,
) -> Result<(Header, Rules), Refusal> {
    let plan = &scheduled.plan;
    let overrides = &plan.overrides;
    let mut header = Header {
        ommers_hash: EMPTY_OMMER_ROOT_HASH,
        beneficiary: overrides.fee_recipient.unwrap_or(parent.beneficiary),
        difficulty: overrides.difficulty.unwrap_or(parent.difficulty),
        number: scheduled.number,
        timestamp: scheduled.time,
        gas_limit: overrides.gas_limit.unwrap_or(parent.gas_limit),
        mix_hash: overrides.random.unwrap_or_default(),
        ..Header::default()
    };
    schedule.require_ethereums_forks()?;
    let rules = schedule.at(&context(&header))?;
    // Forks after the merge begin at times; their blocks have no difficulty.
    if overrides.difficulty.is_none() && rules.fork >= SpecId::SHANGHAI {
        header.difficulty = U256::ZERO;
    }
    if rules.fork < SpecId::MERGE {
        return Err(Refusal::OldRules("the merge"));
    }
    header.base_fee_per_gas = Some(match overrides.base_fee_per_gas {
        Some(fee) => fee,
        None if mode.validates => next_base_fee(parent),
        // Calls that pay nothing are valid then.
        None => 0,
    });
    if rules.fork >= SpecId::SHANGHAI {
        header.withdrawals_root = Some(EMPTY_WITHDRAWALS);
    }
    if rules.fork >= SpecId::CANCUN {
        header.parent_beacon_block_root = Some(plan.beacon_root.unwrap_or(B256::ZERO));
        let excess = rules.blobs.and_then(|blobs| parent.next_block_excess_blob_gas(blobs));
        header.excess_blob_gas = Some(excess.unwrap_or_default());
    }
    Ok((header, rules))
}

/// The fields that code can read.
pub(super) fn context(header: &Header) -> BlockContext {
    BlockContext {
        number: header.number,
        timestamp: header.timestamp,
        miner: header.beneficiary,
        producer: header.beneficiary,
        gas_limit: header.gas_limit,
        base_fee_per_gas: header.base_fee_per_gas.unwrap_or_default(),
        difficulty: header.difficulty,
        mix_hash: Some(header.mix_hash),
        excess_blob_gas: header.excess_blob_gas,
        extra_data: header.extra_data.clone(),
    }
}

fn next_base_fee(parent: &Header) -> u64 {
    let fee = parent.base_fee_per_gas.unwrap_or_default();
    // A limit of less than two has no half.
    if parent.gas_limit < 2 {
        return fee;
    }
    calc_next_block_base_fee(parent.gas_used, parent.gas_limit, fee, BaseFeeParams::ethereum())
}
