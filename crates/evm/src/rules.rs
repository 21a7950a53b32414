//! The fork rules at a block, of a known chain or from a genesis file. Unknown rules are an error, never a guess.

mod error;
mod of_block;
mod own;
#[cfg(test)]
mod tests;

use alloy_eips::eip7840::{BLOB_BASE_COST, BlobParams};
use alloy_genesis::ChainConfig;
use alloy_hardforks::{EthereumHardfork, ForkCondition};
use alloy_primitives::{Address, address};
use revm::primitives::hardfork::SpecId;

use trawl_chains::{ChainFork, Tips, by_chain_id};

use super::BlockContext;
pub use error::RulesError;
pub use of_block::Rules;

/// The rules of a chain, fork by fork.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    chain_id: u64,
    /// Activation block or time of each fork, in the order of the forks.
    forks: Vec<(Fork, Activation)>,
    /// Blob parameters by activation time, ascending.
    blobs: Vec<(u64, BlobParams)>,
    /// Every height at which any fork began, of the protocol of peers too (EIP-2124).
    heights: Vec<u64>,
    /// Every time at which any fork began or begins.
    times: Vec<u64>,
    /// The contract that takes deposits of validators (EIP-6110), if the chain names one.
    deposits: Option<Address>,
    /// The forks of a chain with rules of its own, instead of all these.
    own: Option<&'static [ChainFork]>,
}

/// A fork that affects calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fork {
    /// A fork that the EVM implements.
    Known(SpecId),
    /// Constantinople with the net gas metering of EIP-1283, which Petersburg removed.
    Constantinople,
    /// A fork that is not released yet.
    Coming(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activation {
    Block(u64),
    Time(u64),
}

impl Schedule {
    /// The rules of Mainnet, Sepolia, Holesky or Hoodi, or those that the family of another chain says.
    #[must_use]
    pub fn of_chain(chain_id: u64) -> Option<Self> {
        let forks = match chain_id {
            1 => EthereumHardfork::mainnet().to_vec(),
            11_155_111 => EthereumHardfork::sepolia().to_vec(),
            17_000 => EthereumHardfork::holesky().to_vec(),
            560_048 => EthereumHardfork::hoodi().to_vec(),
            _ => return by_chain_id(chain_id).forks(chain_id).map(|forks| Self::of_forks(chain_id, forks)),
        };
        let start = |condition: &ForkCondition| match *condition {
            ForkCondition::Block(number) => Some(Activation::Block(number)),
            ForkCondition::Timestamp(time) => Some(Activation::Time(time)),
            _ => None,
        };
        let known = |(fork, condition): &(EthereumHardfork, ForkCondition)| Some((known(*fork)?, start(condition)?));
        let priced = |(fork, condition): &(EthereumHardfork, ForkCondition)| match start(condition)? {
            Activation::Time(time) => Some((time, blobs_of(*fork)?)),
            Activation::Block(_) => None,
        };
        let height = |(_, condition): &(EthereumHardfork, ForkCondition)| match *condition {
            ForkCondition::Block(number) | ForkCondition::TTD { fork_block: Some(number), .. } => Some(number),
            _ => None,
        };
        let time = |(_, condition): &(EthereumHardfork, ForkCondition)| match *condition {
            ForkCondition::Timestamp(time) => Some(time),
            _ => None,
        };
        Some(Self {
            chain_id,
            forks: forks.iter().filter_map(known).collect(),
            blobs: forks.iter().filter_map(priced).collect(),
            heights: forks.iter().filter_map(height).collect(),
            times: forks.iter().filter_map(time).collect(),
            deposits: Some(deposits_of(chain_id)),
            own: None,
        })
    }

    fn of_forks(chain_id: u64, forks: &'static [ChainFork]) -> Self {
        Self {
            chain_id,
            forks: Vec::new(),
            blobs: Vec::new(),
            heights: Vec::new(),
            times: Vec::new(),
            deposits: None,
            own: Some(forks),
        }
    }

    /// Whether its forks are Ethereum's, whenever they begin.
    #[must_use]
    pub fn has_ethereums_forks(&self) -> bool {
        self.own.is_none()
    }

    /// Refuses what is known of Ethereum's forks only.
    ///
    /// # Errors
    ///
    /// [`RulesError::OwnForks`] if the chain has forks of its own.
    pub fn require_ethereums_forks(&self) -> Result<(), RulesError> {
        if self.has_ethereums_forks() { Ok(()) } else { Err(RulesError::OwnForks(self.chain_id)) }
    }

    /// The rules that the member `config` of a genesis file states, JSON in geth's form.
    ///
    /// # Errors
    ///
    /// If the configuration cannot be read, or has a member that is unknown.
    pub fn of_genesis(chain_id: u64, config: &str) -> Result<Self, RulesError> {
        let config: ChainConfig =
            serde_json::from_str(config).map_err(|error| RulesError::Unreadable(error.to_string()))?;
        let unknown =
            |(name, value): &(&String, &serde_json::Value)| !value.is_null() && !HARMLESS.contains(&name.as_str());
        if let Some((name, _)) = config.extra_fields.iter().find(unknown) {
            return Err(RulesError::UnknownRule(name.clone()));
        }
        if config.parlia.is_some() {
            return Err(RulesError::UnknownRule("parlia".into()));
        }
        Ok(Self {
            chain_id,
            forks: forks_of(&config),
            blobs: blobs(&config),
            heights: heights(&config),
            times: times(&config),
            deposits: config.deposit_contract_address,
            own: None,
        })
    }

    /// Every height and every time at which a fork begins, ascending and each once; where the chain begins, none does.
    #[must_use]
    pub(super) fn beginnings(&self) -> (Vec<u64>, Vec<u64>) {
        let ascending = |all: &[u64]| {
            let mut all: Vec<u64> = all.iter().copied().filter(|begin| *begin > 0).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        (ascending(&self.heights), ascending(&self.times))
    }

    /// The contract that takes deposits of validators, if the chain names one.
    pub(super) fn deposits(&self) -> Option<Address> {
        self.deposits
    }

    /// Chain id (EIP-155).
    pub(super) fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// The rules at a block.
    ///
    /// # Errors
    ///
    /// If the EVM does not implement the fork of the block.
    pub fn at(&self, block: &BlockContext) -> Result<Rules, RulesError> {
        if let Some(forks) = self.own {
            return own::rules(self.chain_id, forks, block);
        }
        let has_begun = |from: &Activation| match *from {
            Activation::Block(number) => number <= block.number,
            Activation::Time(time) => time <= block.timestamp,
        };
        let newest = self.forks.iter().rev().find(|(_, from)| has_begun(from)).map(|(fork, _)| *fork);
        let unavailable = |rules| RulesError::Unavailable { block: block.number, rules };
        let fork = match newest {
            None => SpecId::FRONTIER,
            Some(Fork::Known(fork)) => fork,
            Some(Fork::Constantinople) => return Err(unavailable("Constantinople without Petersburg")),
            Some(Fork::Coming(name)) => return Err(unavailable(name)),
        };
        // Only the difficulty shows the merge, which came at a total difficulty and not at a configured height.
        let fork = if block.difficulty.is_zero() && fork >= SpecId::LONDON { fork.max(SpecId::MERGE) } else { fork };
        let blobs = self.blobs_at(block.timestamp).filter(|_| fork >= SpecId::CANCUN);
        Ok(Rules { chain_id: self.chain_id, fork, blobs, tips: Tips::Paid, chain: None })
    }

    /// Blob parameters at a time in seconds since 1970; `None` before Cancun.
    #[must_use]
    pub fn blobs_at(&self, timestamp: u64) -> Option<BlobParams> {
        if let Some(forks) = self.own {
            return own::blobs_at(forks, timestamp);
        }
        self.blobs.iter().rev().find(|(time, _)| *time <= timestamp).map(|(_, blobs)| *blobs)
    }
}

/// Members of a configuration that its type does not have and that do not affect calls.
const HARMLESS: [&str; 1] = ["eip150Hash"];

fn known(fork: EthereumHardfork) -> Option<Fork> {
    use EthereumHardfork as Named;
    Some(match fork {
        Named::Frontier => Fork::Known(SpecId::FRONTIER),
        Named::Homestead => Fork::Known(SpecId::HOMESTEAD),
        Named::Tangerine => Fork::Known(SpecId::TANGERINE),
        Named::SpuriousDragon => Fork::Known(SpecId::SPURIOUS_DRAGON),
        Named::Byzantium => Fork::Known(SpecId::BYZANTIUM),
        // On the public chains both came with the same block.
        Named::Petersburg => Fork::Known(SpecId::PETERSBURG),
        Named::Istanbul => Fork::Known(SpecId::ISTANBUL),
        Named::Berlin => Fork::Known(SpecId::BERLIN),
        Named::London => Fork::Known(SpecId::LONDON),
        Named::Shanghai => Fork::Known(SpecId::SHANGHAI),
        Named::Cancun => Fork::Known(SpecId::CANCUN),
        Named::Prague => Fork::Known(SpecId::PRAGUE),
        Named::Osaka => Fork::Known(SpecId::OSAKA),
        Named::Amsterdam => Fork::Coming("Amsterdam"),
        Named::Bogota => Fork::Coming("Bogota"),
        _ => return None,
    })
}

fn blobs_of(fork: EthereumHardfork) -> Option<BlobParams> {
    match fork {
        EthereumHardfork::Cancun => Some(BlobParams::cancun()),
        EthereumHardfork::Prague => Some(BlobParams::prague()),
        EthereumHardfork::Osaka => Some(BlobParams::osaka()),
        EthereumHardfork::Bpo1 => Some(BlobParams::bpo1()),
        EthereumHardfork::Bpo2 => Some(BlobParams::bpo2()),
        _ => None,
    }
}

fn forks_of(config: &ChainConfig) -> Vec<(Fork, Activation)> {
    let block = |fork, number: Option<u64>| number.map(|number| (Fork::Known(fork), Activation::Block(number)));
    let time = |fork, time: Option<u64>| time.map(|time| (fork, Activation::Time(time)));
    // Without Petersburg in the configuration, it came together with Constantinople.
    let petersburg = config.petersburg_block.or(config.constantinople_block);
    [
        block(SpecId::HOMESTEAD, config.homestead_block),
        block(SpecId::TANGERINE, config.eip150_block),
        block(SpecId::SPURIOUS_DRAGON, config.eip158_block),
        block(SpecId::BYZANTIUM, config.byzantium_block),
        config.constantinople_block.map(|number| (Fork::Constantinople, Activation::Block(number))),
        block(SpecId::PETERSBURG, petersburg),
        block(SpecId::ISTANBUL, config.istanbul_block),
        block(SpecId::BERLIN, config.berlin_block),
        block(SpecId::LONDON, config.london_block),
        time(Fork::Known(SpecId::SHANGHAI), config.shanghai_time),
        time(Fork::Known(SpecId::CANCUN), config.cancun_time),
        time(Fork::Known(SpecId::PRAGUE), config.prague_time),
        time(Fork::Known(SpecId::OSAKA), config.osaka_time),
        time(Fork::Coming("Amsterdam"), config.amsterdam_time),
        time(Fork::Coming("Bogota"), config.bogota_time),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The heights at which a configuration lets forks begin.
fn heights(config: &ChainConfig) -> Vec<u64> {
    let heights = [
        config.homestead_block,
        config.dao_fork_block,
        config.eip150_block,
        config.eip155_block,
        config.eip158_block,
        config.byzantium_block,
        config.constantinople_block,
        config.petersburg_block,
        config.istanbul_block,
        config.muir_glacier_block,
        config.berlin_block,
        config.london_block,
        config.arrow_glacier_block,
        config.gray_glacier_block,
        config.merge_netsplit_block,
    ];
    heights.into_iter().flatten().collect()
}

/// The times at which a configuration lets forks begin.
fn times(config: &ChainConfig) -> Vec<u64> {
    let times = [
        config.shanghai_time,
        config.cancun_time,
        config.prague_time,
        config.osaka_time,
        config.amsterdam_time,
        config.bogota_time,
        config.bpo1_time,
        config.bpo2_time,
        config.bpo3_time,
        config.bpo4_time,
        config.bpo5_time,
    ];
    times.into_iter().flatten().collect()
}

/// The deposit contract of a public chain.
fn deposits_of(chain_id: u64) -> Address {
    match chain_id {
        11_155_111 => address!("7f02c3e3c98b133055b8b348b2ac625669ed295d"),
        17_000 => address!("4242424242424242424242424242424242424242"),
        _ => address!("00000000219ab540356cbb839cbe05303d7705fa"),
    }
}

/// The blob parameters of the configuration; for a fork without any, its defaults. From Osaka on blobs have a price of
/// gas that is no member of them (EIP-7918).
fn blobs(config: &ChainConfig) -> Vec<(u64, BlobParams)> {
    let forks = [
        ("cancun", config.cancun_time, Some(BlobParams::cancun())),
        ("prague", config.prague_time, Some(BlobParams::prague())),
        ("osaka", config.osaka_time, Some(BlobParams::osaka())),
        ("bpo1", config.bpo1_time, None),
        ("bpo2", config.bpo2_time, None),
        ("bpo3", config.bpo3_time, None),
        ("bpo4", config.bpo4_time, None),
        ("bpo5", config.bpo5_time, None),
    ];
    let priced = forks
        .into_iter()
        .filter_map(|(name, time, usual)| Some((time?, config.blob_schedule.get(name).copied().or(usual)?)));
    let has_base_cost = |time: u64| config.osaka_time.is_some_and(|osaka| osaka <= time);
    let cost = |time| if has_base_cost(time) { BLOB_BASE_COST } else { 0 };
    priced.map(|(time, blobs)| (time, blobs.with_blob_base_cost(cost(time)))).collect()
}
