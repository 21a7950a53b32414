//! The rules of chains with forks of their own.

#[cfg(test)]
mod tests;

use alloy_eips::eip7840::BlobParams;
use revm::primitives::hardfork::SpecId;
use trawl_chains::{BlobRule, ChainFork, ExecutionRules, ForkRules, ForkStart, Hardfork, HeaderFacts, Tips};

use super::error::RulesError;
use super::of_block::Rules;
use crate::BlockContext;

/// The rules at a block.
///
/// # Errors
///
/// If the rules of its fork are not known, or it is before the first fork, or its header is of a form that came after
/// its fork.
pub(super) fn rules(chain_id: u64, forks: &'static [ChainFork], block: &BlockContext) -> Result<Rules, RulesError> {
    let header = HeaderFacts { number: block.number, timestamp: block.timestamp, mix_hash: block.mix_hash };
    let first = forks.first().map_or("", |fork| fork.name);
    let newest = forks.iter().rev().find(|fork| fork.start.is_reached(header));
    let newest = newest.ok_or(RulesError::BeforeFork { block: block.number, fork: first })?;
    let rules = match &newest.rules {
        ForkRules::Known(rules) => rules,
        ForkRules::Unknown(reason) => {
            let (block, fork) = (block.number, newest.name);
            return Err(RulesError::ForkUnknown { block, fork, chain: chain_id, reason });
        }
    };
    if !rules.knows_extra_data(&block.extra_data) {
        let (version, bytes) = (block.extra_data.first().copied().unwrap_or_default(), block.extra_data.len());
        return Err(RulesError::LaterFork { block: block.number, version, bytes, fork: newest.name });
    }
    let fork = specification(rules.hardfork);
    // Only the difficulty shows the merge.
    let fork = if block.difficulty.is_zero() && fork >= SpecId::LONDON { fork.max(SpecId::MERGE) } else { fork };
    Ok(Rules { chain_id, fork, blobs: rules.blobs.map(parameters), tips: tips(rules, header), chain: Some(rules) })
}

/// Blob parameters at a time, of forks that begin at a time.
pub(super) fn blobs_at(forks: &[ChainFork], timestamp: u64) -> Option<BlobParams> {
    let has_begun = |fork: &&ChainFork| matches!(fork.start, ForkStart::Time(start) if start <= timestamp);
    match &forks.iter().rev().find(has_begun)?.rules {
        ForkRules::Known(rules) => rules.blobs.map(parameters),
        ForkRules::Unknown(_) => None,
    }
}

fn specification(fork: Hardfork) -> SpecId {
    match fork {
        Hardfork::Byzantium => SpecId::BYZANTIUM,
        Hardfork::Petersburg => SpecId::PETERSBURG,
        Hardfork::Istanbul => SpecId::ISTANBUL,
        Hardfork::Berlin => SpecId::BERLIN,
        Hardfork::London => SpecId::LONDON,
        Hardfork::Merge => SpecId::MERGE,
        Hardfork::Shanghai => SpecId::SHANGHAI,
        Hardfork::Cancun => SpecId::CANCUN,
        Hardfork::Prague => SpecId::PRAGUE,
        Hardfork::Osaka => SpecId::OSAKA,
    }
}

fn parameters(rule: BlobRule) -> BlobParams {
    BlobParams {
        target_blob_count: rule.target,
        max_blob_count: rule.max,
        update_fraction: rule.update_fraction,
        min_blob_fee: rule.least_price,
        max_blobs_per_tx: rule.max,
        blob_base_cost: 0,
    }
}

/// Tips that the chain drops are paid where a header says so.
fn tips(rules: &ExecutionRules, header: HeaderFacts) -> Tips {
    match rules.tips {
        Tips::Paid => Tips::Paid,
        Tips::Dropped => header.versioned().map_or(Tips::Dropped, |version| version.tips),
    }
}
