//! How a chain sets its base fees: by EIP-1559, EIP-4844 and their successors, if the headers agree with these rules.
//!
//! For a chain whose rule is not known, only fees from headers are returned.

use alloy_eips::eip1559::{BaseFeeParams, calc_next_block_base_fee};
use alloy_eips::eip7840::BlobParams;

use trawl_core::primitives::U256;
use trawl_evm::Schedule;
use trawl_query::stats::fees::BlockFees;

const MAINNET: u64 = 1;

/// The first block of mainnet that has a base fee.
const MAINNET_LONDON: u64 = 12_965_000;

/// The fee of the first block that has one (EIP-1559).
const INITIAL_BASE_FEE: u64 = 1_000_000_000;

/// The fee rules of one chain, compared with some of its headers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeeRule {
    chain_id: Option<u64>,
    /// The forks of a public chain or of a genesis file. Where they are Ethereum's, base fees follow its rules from the
    /// first block on.
    schedule: Option<Schedule>,
    /// Whether base fees follow Ethereum's parameters of EIP-1559.
    is_standard: bool,
    /// Whether no header contradicts these parameters.
    agrees: bool,
    /// Whether all headers have one base fee, and there are several.
    is_constant: bool,
    /// Whether the excess of blob gas follows the schedule of the chain.
    is_scheduled: bool,
}

impl FeeRule {
    /// The rules of a chain with a `schedule` of forks, if that is known, as far as `headers` confirm them: they
    /// ascend, and each pair of consecutive blocks is compared.
    pub fn of(chain_id: Option<u64>, schedule: Option<Schedule>, headers: &[BlockFees]) -> Self {
        let is_known = schedule.as_ref().is_some_and(Schedule::has_ethereums_forks);
        // The fees of a genesis block are arbitrary, so block 1 confirms no rule.
        let is_pair =
            |pair: &&[BlockFees]| pair[0].block_number > 0 && pair[0].block_number + 1 == pair[1].block_number;
        let pairs = || headers.windows(2).filter(is_pair);
        let base_fees = || pairs().filter_map(|pair| Some((by_eip_1559(&pair[0])?, base_fee(&pair[1])?, &pair[0])));
        let agrees = base_fees().all(|(computed, actual, _)| computed == actual);
        // A block that is half full, or empty, does not show how far the fee moves.
        let shows = |parent: &BlockFees, computed: u64| parent.gas_used > 0 && base_fee(parent) != Some(computed);
        let is_confirmed = is_known || base_fees().any(|(computed, _, parent)| shows(parent, computed));
        let excess = |pair: &[BlockFees]| {
            let params = schedule.as_ref()?.blobs_at(pair[1].timestamp.seconds())?;
            Some((next_excess(&params, &pair[0])?, pair[1].excess_blob_gas?))
        };
        let is_scheduled =
            schedule.is_some() && pairs().filter_map(excess).all(|(computed, actual)| computed == actual);
        let is_constant = headers.len() > 1 && headers.windows(2).all(|pair| base_fee(&pair[0]) == base_fee(&pair[1]));
        Self { chain_id, is_standard: agrees && is_confirmed, agrees, is_constant, is_scheduled, schedule }
    }

    /// The base fee of the block after `parent`, in wei; 0 on chains without base fees; `None` if the rule is not
    /// known.
    pub fn next_base_fee(&self, parent: &BlockFees) -> Option<U256> {
        if parent.base_fee_per_gas.is_none() {
            let is_london = self.chain_id == Some(MAINNET) && parent.block_number + 1 == MAINNET_LONDON;
            return Some(U256::from(if is_london { INITIAL_BASE_FEE } else { 0 }));
        }
        self.is_standard.then(|| by_eip_1559(parent).map(U256::from)).flatten()
    }

    /// The base fee that the block after `parent` most likely has, in wei. On a young chain headers may neither confirm
    /// nor contradict EIP-1559, and on a private one the fee may always be the same. `None` on a chain of another rule.
    pub fn likely_next_base_fee(&self, parent: &BlockFees) -> Option<U256> {
        let standard = || self.agrees.then(|| by_eip_1559(parent).map(U256::from)).flatten();
        let constant = || parent.base_fee_per_gas.filter(|_| self.is_constant);
        self.next_base_fee(parent).or_else(standard).or_else(constant)
    }

    /// The base fee that a wallet has to reckon with in the block after `parent`, in wei: where no rule tells it, that
    /// of `parent`.
    pub fn assumed_next_base_fee(&self, parent: &BlockFees) -> U256 {
        let paid = || parent.base_fee_per_gas.unwrap_or_default();
        self.likely_next_base_fee(parent).unwrap_or_else(paid)
    }

    /// The blob base fee in a block, in wei; 0 for a block without blob gas; `None` if the rule is not known.
    pub fn blob_base_fee(&self, block: &BlockFees) -> Option<u128> {
        let Some(excess) = block.excess_blob_gas else { return Some(0) };
        Some(self.blobs(block)?.calc_blob_fee(excess))
    }

    /// The blob base fee of the block after `parent`, in wei; `None` if the rule is not known.
    pub fn next_blob_base_fee(&self, parent: &BlockFees) -> Option<u128> {
        if parent.excess_blob_gas.is_none() {
            return Some(0);
        }
        let params = self.blobs(parent)?;
        Some(params.calc_blob_fee(next_excess(&params, parent)?))
    }

    /// The most blob gas that a block may use; 0 for a block without blob gas.
    pub fn max_blob_gas(&self, block: &BlockFees) -> Option<u64> {
        if block.excess_blob_gas.is_none() {
            return Some(0);
        }
        self.blobs(block).map(|params| params.max_blob_gas_per_block())
    }

    fn blobs(&self, block: &BlockFees) -> Option<BlobParams> {
        let schedule = self.schedule.as_ref().filter(|_| self.is_scheduled)?;
        schedule.blobs_at(block.timestamp.seconds())
    }
}

fn base_fee(block: &BlockFees) -> Option<u64> {
    block.base_fee_per_gas.and_then(|fee| u64::try_from(fee).ok())
}

fn by_eip_1559(parent: &BlockFees) -> Option<u64> {
    Some(calc_next_block_base_fee(parent.gas_used, parent.gas_limit, base_fee(parent)?, BaseFeeParams::ethereum()))
}

fn next_excess(params: &BlobParams, parent: &BlockFees) -> Option<u64> {
    // From Osaka on the base fee counts too (EIP-7918); before, the parameters make it count for nothing.
    Some(params.next_block_excess_blob_gas_osaka(parent.excess_blob_gas?, parent.blob_gas_used?, base_fee(parent)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::Timestamp;

    /// The rule of a chain without a genesis file.
    fn rule_of(chain_id: u64, headers: &[BlockFees]) -> FeeRule {
        FeeRule::of(Some(chain_id), Schedule::of_chain(chain_id), headers)
    }

    fn block(block_number: u64, seconds: u64, base_fee: u64, gas_used: u64) -> BlockFees {
        BlockFees {
            block_number,
            timestamp: Timestamp::from_seconds(seconds).expect("a time"),
            gas_limit: 30_000_000,
            gas_used,
            base_fee_per_gas: (base_fee > 0).then(|| U256::from(base_fee)),
            blob_gas_used: None,
            excess_blob_gas: None,
            lacking: Vec::new(),
        }
    }

    fn blobs(seconds: u64, excess: u64, used: u64) -> BlockFees {
        BlockFees { excess_blob_gas: Some(excess), blob_gas_used: Some(used), ..block(1, seconds, 1_000_000_000, 0) }
    }

    /// The receipts of mainnet's blocks 20000000, 22162263 and 22431084, the first of Prague, say these prices.
    #[test]
    fn blob_fees_are_those_of_receipts() {
        let rule = rule_of(MAINNET, &[]);
        for (seconds, excess, price) in
            [(1_717_281_407, 0, 1), (1_743_368_267, 27_918_336, 0x10bb), (1_746_612_311, 50_462_720, 0x5ced)]
        {
            assert_eq!(rule.blob_base_fee(&blobs(seconds, excess, 0)), Some(price));
        }
        assert_eq!(rule.blob_base_fee(&block(1, 1_700_000_000, 7, 0)), Some(0), "before Cancun");
        assert_eq!(rule_of(5, &[]).blob_base_fee(&blobs(1_717_281_407, 0, 0)), None, "an unknown chain");
    }

    #[test]
    fn a_schedule_that_headers_contradict_is_not_used() {
        let parent = blobs(1_746_612_323, 5_000_000, 786_432);
        let next = |excess| BlockFees { block_number: 2, ..blobs(1_746_612_335, excess, 0) };
        // Six blobs are the target of Prague.
        let fits = rule_of(MAINNET, &[parent.clone(), next(5_000_000)]);
        assert!(fits.blob_base_fee(&parent).is_some());
        let other = rule_of(MAINNET, &[parent.clone(), next(5_393_216)]);
        assert_eq!(other.blob_base_fee(&parent), None);
    }

    #[test]
    fn a_young_or_private_chain_has_a_likely_base_fee() {
        let full = block(1, 0, 1_000_000_000, 30_000_000);
        let rule = |headers: &[BlockFees]| rule_of(31_337, headers);
        let likely = |headers: &[BlockFees]| rule(headers).likely_next_base_fee(headers.last().expect("a header"));
        assert_eq!(likely(std::slice::from_ref(&full)), Some(U256::from(1_125_000_000_u64)));
        let same = block(2, 12, 1_000_000_000, 30_000_000);
        assert_eq!(likely(&[full.clone(), same]), Some(U256::from(1_000_000_000_u64)), "always the same");
        let zero = |number| BlockFees { base_fee_per_gas: Some(U256::ZERO), ..block(number, number, 0, 30_000_000) };
        assert_eq!(likely(&[zero(1), zero(2), zero(3)]), Some(U256::ZERO));
        let slower = block(2, 12, 1_020_000_000, 15_000_000);
        assert_eq!(likely(&[full.clone(), slower.clone()]), None, "another rule");
        let assumed = rule(&[full, slower.clone()]).assumed_next_base_fee(&slower);
        assert_eq!(assumed, U256::from(1_020_000_000_u64), "another rule: that of the newest block");
    }

    #[test]
    fn a_rule_applies_if_headers_confirm_it() {
        let full = block(1, 0, 1_000_000_000, 30_000_000);
        let moved = block(2, 12, 1_125_000_000, 15_000_000);
        let rule = |headers: &[BlockFees]| rule_of(31_337, headers);
        let next = rule(&[full.clone(), moved.clone()]).next_base_fee(&moved);
        assert_eq!(next, Some(U256::from(1_125_000_000_u64)), "half full: the fee stays");
        assert_eq!(rule(std::slice::from_ref(&full)).next_base_fee(&full), None, "no pair of headers");
        let slower = block(2, 12, 1_020_000_000, 15_000_000);
        assert_eq!(rule(&[full.clone(), slower.clone()]).next_base_fee(&slower), None, "another rule");
        assert_eq!(rule_of(MAINNET, &[]).next_base_fee(&full), Some(U256::from(1_125_000_000_u64)));
        let before = block(MAINNET_LONDON - 1, 0, 0, 15_000_000);
        assert_eq!(rule_of(MAINNET, &[]).next_base_fee(&before), Some(U256::from(INITIAL_BASE_FEE)));
        assert_eq!(rule(&[]).next_base_fee(&block(7, 0, 0, 0)), Some(U256::ZERO), "a chain without base fees");
    }
}
