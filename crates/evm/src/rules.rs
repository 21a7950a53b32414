//! The fork rules at a block, of a known chain or from a genesis file. Unknown rules are an error, never a guess.

use alloy_eips::eip7840::{BLOB_BASE_COST, BlobParams};
use alloy_genesis::ChainConfig;
use alloy_hardforks::{EthereumHardfork, ForkCondition};
use alloy_primitives::{Address, address};
use revm::primitives::hardfork::SpecId;

use super::BlockContext;

/// Why calls cannot be run at a block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The chain is no public one, and no genesis file was given.
    #[error("the fork rules of chain {0} are not known: load with --genesis FILE")]
    UnknownChain(u64),
    /// The configuration cannot be parsed.
    #[error("the configuration of the chain cannot be read: {0}")]
    Unreadable(String),
    /// An unknown member of the configuration, which may change the behaviour of calls.
    #[error("the configuration of the chain names a rule that is not known: {0}")]
    UnknownRule(String),
    /// A fork without a configuration in the sense of EIP-7910.
    #[error("block {block} is older than Cancun, the first fork with a configuration in the sense of EIP-7910")]
    BeforeBlobs {
        /// The block.
        block: u64,
    },
    /// Rules that this EVM does not implement.
    #[error("block {block} follows rules that are not available here: {rules}")]
    Unavailable {
        /// The block.
        block: u64,
        /// Its rules.
        rules: &'static str,
    },
}

/// The rules of a chain, fork by fork.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    chain_id: u64,
    /// Activation block or time of each fork, in the order of the forks.
    forks: Vec<(Fork, From)>,
    /// Blob parameters by activation time, ascending.
    blobs: Vec<(u64, BlobParams)>,
    /// Every height at which any fork began, of the protocol of peers too (EIP-2124).
    heights: Vec<u64>,
    /// Every time at which any fork began or begins.
    times: Vec<u64>,
    /// The contract that takes deposits of validators (EIP-6110), if the chain names one.
    deposits: Option<Address>,
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
enum From {
    Block(u64),
    Time(u64),
}

/// The rules at one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// The chain.
    pub chain_id: u64,
    /// The fork.
    pub fork: SpecId,
    /// Blob parameters; `None` before Cancun.
    pub blobs: Option<BlobParams>,
}

impl Schedule {
    /// The rules of Mainnet, Sepolia, Holesky or Hoodi.
    #[must_use]
    pub fn of_chain(chain_id: u64) -> Option<Self> {
        let forks = match chain_id {
            1 => EthereumHardfork::mainnet().to_vec(),
            11_155_111 => EthereumHardfork::sepolia().to_vec(),
            17_000 => EthereumHardfork::holesky().to_vec(),
            560_048 => EthereumHardfork::hoodi().to_vec(),
            _ => return None,
        };
        let start = |condition: &ForkCondition| match *condition {
            ForkCondition::Block(number) => Some(From::Block(number)),
            ForkCondition::Timestamp(time) => Some(From::Time(time)),
            _ => None,
        };
        let known = |(fork, condition): &(EthereumHardfork, ForkCondition)| Some((known(*fork)?, start(condition)?));
        let priced = |(fork, condition): &(EthereumHardfork, ForkCondition)| match start(condition)? {
            From::Time(time) => Some((time, blobs_of(*fork)?)),
            From::Block(_) => None,
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
        })
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

    /// The chain.
    pub(super) fn chain_id(&self) -> u64 {
        self.chain_id
    }

    /// The rules at a block.
    ///
    /// # Errors
    ///
    /// If the EVM does not implement the fork of the block.
    pub fn at(&self, block: &BlockContext) -> Result<Rules, RulesError> {
        let has_begun = |from: &From| match *from {
            From::Block(number) => number <= block.number,
            From::Time(time) => time <= block.timestamp,
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
        Ok(Rules { chain_id: self.chain_id, fork, blobs })
    }

    /// Blob parameters at a time in seconds since 1970; `None` before Cancun.
    #[must_use]
    pub fn blobs_at(&self, timestamp: u64) -> Option<BlobParams> {
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

fn forks_of(config: &ChainConfig) -> Vec<(Fork, From)> {
    let block = |fork, number: Option<u64>| number.map(|number| (Fork::Known(fork), From::Block(number)));
    let time = |fork, time: Option<u64>| time.map(|time| (fork, From::Time(time)));
    // Without Petersburg in the configuration, it came together with Constantinople.
    let petersburg = config.petersburg_block.or(config.constantinople_block);
    [
        block(SpecId::HOMESTEAD, config.homestead_block),
        block(SpecId::TANGERINE, config.eip150_block),
        block(SpecId::SPURIOUS_DRAGON, config.eip158_block),
        block(SpecId::BYZANTIUM, config.byzantium_block),
        config.constantinople_block.map(|number| (Fork::Constantinople, From::Block(number))),
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

/// The blob parameters of the configuration; for a fork without any, its defaults. From Osaka on blobs have a price of gas
/// that is no member of them (EIP-7918).
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

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::U256;

    fn at(schedule: &Schedule, number: u64, timestamp: u64, difficulty: u64) -> Result<SpecId, RulesError> {
        let block = BlockContext { number, timestamp, difficulty: U256::from(difficulty), ..BlockContext::default() };
        schedule.at(&block).map(|rules| rules.fork)
    }

    #[test]
    fn mainnet_follows_its_forks() {
        let mainnet = Schedule::of_chain(1).expect("a known chain");
        // EIP-606, 607, 608, 609, 1716, 1679, 2070, London's EIP-1559; the merge at 15,537,394; EIP-4895 and on by time.
        for (number, time, difficulty, fork) in [
            (1, 1_438_269_988, 1, SpecId::FRONTIER),
            (1_150_000, 0, 1, SpecId::HOMESTEAD),
            (2_463_000, 0, 1, SpecId::TANGERINE),
            (2_675_000, 0, 1, SpecId::SPURIOUS_DRAGON),
            (4_370_000, 0, 1, SpecId::BYZANTIUM),
            (7_280_000, 0, 1, SpecId::PETERSBURG),
            (9_069_000, 0, 1, SpecId::ISTANBUL),
            (12_244_000, 0, 1, SpecId::BERLIN),
            (12_965_000, 0, 1, SpecId::LONDON),
            (15_537_393, 1_663_224_162, 1, SpecId::LONDON),
            (15_537_394, 1_663_224_179, 0, SpecId::MERGE),
            (17_034_870, 1_681_338_455, 0, SpecId::SHANGHAI),
            (19_426_587, 1_710_338_135, 0, SpecId::CANCUN),
            (22_431_084, 1_746_612_311, 0, SpecId::PRAGUE),
            (23_935_694, 1_764_798_551, 0, SpecId::OSAKA),
        ] {
            assert_eq!(at(&mainnet, number, time, difficulty), Ok(fork), "{number}");
        }
    }

    #[test]
    fn a_genesis_has_its_forks() {
        let text = include_str!("../../../tests/fixtures/hive/genesis.json");
        let genesis: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let hive = Schedule::of_genesis(7, &genesis["config"].to_string()).expect("all known");
        assert_eq!(at(&hive, 2, 20, 1), Ok(SpecId::HOMESTEAD));
        assert_eq!(at(&hive, 11, 110, 1), Ok(SpecId::BYZANTIUM));
        let between = at(&hive, 12, 120, 1).expect_err("never on a public chain").to_string();
        assert_eq!(between, "block 12 follows rules that are not available here: Constantinople without Petersburg");
        assert_eq!(at(&hive, 15, 150, 1), Ok(SpecId::PETERSBURG));
        assert_eq!(at(&hive, 38, 380, 0), Ok(SpecId::MERGE));
        let last = BlockContext { number: 54, timestamp: 540, ..BlockContext::default() };
        let rules = hive.at(&last).expect("known");
        assert_eq!((rules.fork, rules.blobs.map(|blobs| blobs.max_blob_count)), (SpecId::OSAKA, Some(21)));
        let costs = [450, 480, 540].map(|time| hive.blobs_at(time).map(|blobs| blobs.blob_base_cost));
        assert_eq!(costs, [Some(0), Some(8_192), Some(8_192)], "EIP-7918");
    }

    #[test]
    fn an_unknown_rule_is_named() {
        let error = Schedule::of_genesis(10, r#"{"chainId": 10, "optimism": {"eip1559Elasticity": 6}}"#);
        assert_eq!(error, Err(RulesError::UnknownRule("optimism".into())));
    }
}
