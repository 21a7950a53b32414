//! What a chain does to accounts outside its transactions, fork by fork.

use std::collections::BTreeMap;

use alloy_eips::{eip2935, eip4788};
use serde_json::Value;
use trawl_core::primitives::{Address, U256};

/// Gwei and ether in wei.
const ETHER: u64 = 1_000_000_000_000_000_000;

/// The rules of a chain, as far as they touch accounts outside transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    /// What miners get while there are any.
    pub rewards: Rewards,
    /// Whether the contract of EIP-4788 is there from its fork on.
    pub beacon_roots: bool,
    /// Whether the contract of EIP-2935 is there from its fork on.
    pub block_hashes: bool,
    /// A block that changes accounts outside of any rule: the DAO fork.
    pub irregular: Option<u64>,
}

/// What mining a block earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rewards {
    /// Nothing: signers take turns.
    None,
    /// Proof of work: less from two forks on (EIP-649, EIP-1234).
    Ethash {
        /// First block of Byzantium.
        byzantium: u64,
        /// First block of Constantinople.
        constantinople: u64,
    },
}

impl Rewards {
    /// Wei for the block `number`, uncles not counted. After the merge, when the difficulty is zero, none.
    pub fn base(self, number: u64, difficulty: U256) -> U256 {
        match self {
            Self::Ethash { byzantium, constantinople } if !difficulty.is_zero() => {
                let ether = if number >= constantinople {
                    2
                } else if number >= byzantium {
                    3
                } else {
                    5
                };
                U256::from(ether) * U256::from(ETHER)
            }
            _ => U256::ZERO,
        }
    }
}

impl Schedule {
    /// The rules of a public chain: Mainnet, Goerli, Sepolia, Holesky or Hoodi.
    pub fn of_chain(chain_id: u64) -> Option<Self> {
        let (rewards, irregular) = match chain_id {
            1 => (Rewards::Ethash { byzantium: 4_370_000, constantinople: 7_280_000 }, Some(1_920_000)),
            11_155_111 => (Rewards::Ethash { byzantium: 0, constantinople: 0 }, None),
            5 | 17_000 | 560_048 => (Rewards::None, None),
            _ => return None,
        };
        Some(Self { rewards, beacon_roots: true, block_hashes: true, irregular })
    }

    /// The rules in the `config` of a genesis file; the first member that means nothing here is the error: a rule that
    /// is not known may touch accounts.
    pub fn of_config(
        config: &serde_json::Map<String, Value>,
        has_code: impl Fn(Address) -> bool,
    ) -> Result<Self, String> {
        let unknown = |(name, value): &(&String, &Value)| !value.is_null() && !KNOWN.contains(&name.as_str());
        if let Some((name, _)) = config.iter().find(unknown) {
            return Err(name.clone());
        }
        let numbers: BTreeMap<&str, u64> =
            config.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_u64()?))).collect();
        let fork = |name: &str| numbers.get(name).copied();
        let rewards = if config.get("clique").is_some_and(|clique| !clique.is_null()) {
            Rewards::None
        } else {
            Rewards::Ethash {
                byzantium: fork("byzantiumBlock").unwrap_or(u64::MAX),
                constantinople: fork("constantinopleBlock").unwrap_or(u64::MAX),
            }
        };
        let supports_dao = config.get("daoForkSupport") == Some(&Value::Bool(true));
        Ok(Self {
            rewards,
            beacon_roots: has_code(eip4788::BEACON_ROOTS_ADDRESS),
            block_hashes: has_code(eip2935::HISTORY_STORAGE_ADDRESS),
            irregular: fork("daoForkBlock").filter(|_| supports_dao),
        })
    }
}

/// Members of a configuration whose rules are known, or that touch no account outside transactions.
const KNOWN: [&str; 33] = [
    "chainId",
    "homesteadBlock",
    "daoForkBlock",
    "daoForkSupport",
    "eip150Block",
    "eip150Hash",
    "eip155Block",
    "eip158Block",
    "byzantiumBlock",
    "constantinopleBlock",
    "petersburgBlock",
    "istanbulBlock",
    "muirGlacierBlock",
    "berlinBlock",
    "londonBlock",
    "arrowGlacierBlock",
    "grayGlacierBlock",
    "mergeNetsplitBlock",
    "shanghaiTime",
    "cancunTime",
    "pragueTime",
    "osakaTime",
    "bpo1Time",
    "bpo2Time",
    "bpo3Time",
    "bpo4Time",
    "bpo5Time",
    "terminalTotalDifficulty",
    "terminalTotalDifficultyPassed",
    "depositContractAddress",
    "ethash",
    "clique",
    "blobSchedule",
];

#[cfg(test)]
mod tests {
    use alloy_primitives::uint;
    use serde_json::json;

    use super::*;

    #[test]
    fn mainnet_pays_what_it_paid() {
        let rewards = Schedule::of_chain(1).expect("a known chain").rewards;
        let work = U256::ONE;
        // Five, three from EIP-649 and two from EIP-1234; none after the merge.
        assert_eq!(rewards.base(1_755_634, work), uint!(5_000000000000000000_U256));
        assert_eq!(rewards.base(4_369_999, work), uint!(5_000000000000000000_U256));
        assert_eq!(rewards.base(4_662_649, work), uint!(3_000000000000000000_U256));
        assert_eq!(rewards.base(12_000_000, work), uint!(2_000000000000000000_U256));
        assert_eq!(rewards.base(15_537_394, U256::ZERO), U256::ZERO);
    }

    #[test]
    fn a_rule_that_is_not_known_is_named() {
        let read = |config: Value| {
            Schedule::of_config(config.as_object().expect("an object"), |_| false).map(|schedule| schedule.rewards)
        };
        assert_eq!(read(json!({"chainId": 5, "clique": {"period": 15}})), Ok(Rewards::None));
        assert_eq!(
            read(json!({"byzantiumBlock": 9, "ethash": {}})),
            Ok(Rewards::Ethash { byzantium: 9, constantinople: u64::MAX })
        );
        assert_eq!(read(json!({"chainId": 10, "optimism": {}})), Err("optimism".to_owned()));
    }
}
