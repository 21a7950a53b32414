//! What the forks of a chain configure (EIP-7910): the one that holds, the next, and the last one that is planned.

use std::collections::BTreeMap;

use alloy_eips::eip2124::ForkHash;
use alloy_eips::eip7840::BlobParams;
use alloy_eips::{eip2935, eip4788, eip7002, eip7251};
use revm::handler::EthPrecompiles;
use revm::primitives::hardfork::SpecId;

use super::{BlockContext, RulesError, Schedule};
use trawl_core::primitives::{Address, B256};

/// What a fork configures.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkConfig {
    /// When it begins, in seconds since 1970; 0 if the chain begins with it.
    pub activation_time: u64,
    /// Its blob parameters.
    pub blobs: BlobParams,
    /// Chain id (EIP-155).
    pub chain_id: u64,
    /// The checksum of the genesis and of all forks up to it (EIP-2124).
    pub fork_id: [u8; 4],
    /// Precompiled contracts by their names.
    pub precompiles: BTreeMap<String, Address>,
    /// Contracts that the protocol calls or reads, by their names.
    pub system_contracts: BTreeMap<&'static str, Address>,
}

/// The forks around a block.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkConfigs {
    /// The fork of the block.
    pub current: ForkConfig,
    /// The one after it, if one is planned.
    pub next: Option<ForkConfig>,
    /// The last one that is planned after the block.
    pub last: Option<ForkConfig>,
}

/// The first block of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Genesis {
    /// Keccak-256 of the header.
    pub hash: B256,
    /// Its time in seconds since 1970.
    pub timestamp: u64,
}

impl Genesis {
    /// The genesis of Mainnet, Sepolia, Holesky or Hoodi, as far as forks by time are concerned: all are later.
    #[must_use]
    pub fn of_chain(chain_id: u64) -> Option<Self> {
        use alloy_primitives::b256;
        let hash = match chain_id {
            1 => b256!("d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"),
            11_155_111 => b256!("25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9"),
            17_000 => b256!("b5f7f912443c940f21fd611f12828d75b534364ed9e95ca4e307729a4661bde4"),
            560_048 => b256!("bbe312868b376a3001692a646dd2d7d1e4406380dfd86b98aa8a34d1557c971b"),
            _ => return None,
        };
        Some(Self { hash, timestamp: 0 })
    }
}

impl Schedule {
    /// The forks around a block of a chain that begins with `genesis`.
    ///
    /// # Errors
    ///
    /// When the forks of the chain are not Ethereum's, when the block is older than Cancun, or when a fork that is
    /// planned is not known here.
    pub fn configs(&self, block: &BlockContext, genesis: Genesis) -> Result<ForkConfigs, RulesError> {
        self.require_ethereums_forks()?;
        let (_, mut begins) = self.beginnings();
        begins.insert(0, 0);
        let at = |time: u64| self.config(time, block, genesis);
        let passed = begins.iter().rev().find(|time| **time <= block.timestamp).copied().unwrap_or_default();
        let planned = |time: Option<&u64>| time.map(|time| at(*time)).transpose();
        let future = || begins.iter().filter(|time| **time > block.timestamp);
        Ok(ForkConfigs { current: at(passed)?, next: planned(future().next())?, last: planned(future().next_back())? })
    }

    /// What the fork configures that begins at a time.
    fn config(&self, time: u64, block: &BlockContext, genesis: Genesis) -> Result<ForkConfig, RulesError> {
        let first = BlockContext { number: block.number, timestamp: time, ..BlockContext::default() };
        let rules = self.at(&first)?;
        let blobs = rules.blobs.ok_or(RulesError::BeforeBlobs { block: block.number })?;
        let (heights, times) = self.beginnings();
        let passed = times.into_iter().filter(|begin| *begin > genesis.timestamp && *begin <= time);
        let fork_id = heights.into_iter().chain(passed).fold(ForkHash::from(genesis.hash), |hash, begin| hash + begin);
        Ok(ForkConfig {
            activation_time: time,
            blobs,
            chain_id: self.chain_id(),
            fork_id: fork_id.0,
            precompiles: precompiles(rules.fork),
            system_contracts: self.system_contracts(rules.fork),
        })
    }

    fn system_contracts(&self, fork: SpecId) -> BTreeMap<&'static str, Address> {
        let mut contracts = BTreeMap::from([("BEACON_ROOTS_ADDRESS", eip4788::BEACON_ROOTS_ADDRESS)]);
        if fork >= SpecId::PRAGUE {
            contracts.extend([
                ("CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS", eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS),
                ("HISTORY_STORAGE_ADDRESS", eip2935::HISTORY_STORAGE_ADDRESS),
                ("WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS", eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS),
            ]);
            contracts.extend(self.deposits().map(|contract| ("DEPOSIT_CONTRACT_ADDRESS", contract)));
        }
        contracts
    }
}

/// Precompiled contracts of a fork by their names.
fn precompiles(fork: SpecId) -> BTreeMap<String, Address> {
    let precompiles = EthPrecompiles::new(fork).precompiles;
    let named = |address: &Address| Some((precompiles.get(address)?.id().name().to_owned(), *address));
    precompiles.addresses().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configs(chain_id: u64, timestamp: u64) -> Result<ForkConfigs, RulesError> {
        let schedule = Schedule::of_chain(chain_id).expect("a public chain");
        let block = BlockContext { number: 30_000_000, timestamp, ..BlockContext::default() };
        schedule.configs(&block, Genesis::of_chain(chain_id).expect("a public chain"))
    }

    /// The identifiers that nodes of these chains exchange (EIP-2124), as EIP-6953's and later forks made them.
    #[test]
    fn forks_of_public_chains_have_their_identifiers() {
        for (chain_id, timestamp, id) in [
            (1, 1_710_338_135, "9f3d2254"),
            (1, 1_746_612_311, "c376cf8b"),
            (1, 1_764_798_551, "5167e2a6"),
            (1, 1_765_290_071, "cba2a1c0"),
            (1, 1_767_747_671, "07c9462e"),
            (11_155_111, 1_706_655_072, "88cf81d9"),
            (11_155_111, 1_741_159_776, "ed88b5fd"),
            (560_048, 1_742_999_832, "0929e24e"),
        ] {
            let schedule = Schedule::of_chain(chain_id).expect("a public chain");
            let block = BlockContext { number: 30_000_000, timestamp, ..BlockContext::default() };
            let genesis = Genesis::of_chain(chain_id).expect("a public chain");
            let found = schedule.config(timestamp, &block, genesis).expect("known");
            let hexadecimal: String = found.fork_id.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!((hexadecimal.as_str(), found.activation_time), (id, timestamp), "{chain_id}");
        }
    }

    #[test]
    fn planned_forks_have_their_configuration() {
        let prague = configs(1, 1_750_000_000).expect("known");
        let time = |fork: Option<&ForkConfig>| fork.map(|fork| fork.activation_time);
        assert_eq!(time(prague.next.as_ref()), Some(1_764_798_551), "Osaka");
        assert_eq!(time(prague.last.as_ref()), Some(1_767_747_671), "BPO2");
        assert!(!prague.current.precompiles.contains_key("P256VERIFY"));
        assert!(prague.next.expect("Osaka").precompiles.contains_key("P256VERIFY"));
        assert_eq!(configs(1, 1_700_000_000), Err(RulesError::BeforeBlobs { block: 30_000_000 }));
    }
}
