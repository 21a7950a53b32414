//! The allocation of a genesis file in geth's form: what the accounts hold at block 0.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alloy_primitives::{KECCAK256_EMPTY, keccak256};
use alloy_trie::root::{state_root_unhashed, storage_root_unhashed};
use alloy_trie::{EMPTY_ROOT_HASH, TrieAccount};
use serde::Deserialize;
use trawl_core::primitives::{Address, B256, Bytes, U256};

use super::schedule::Schedule;
use crate::block::Header;
use crate::block::state_diff::{AccountDiff, Scope, StateDiff};
use crate::decode::Word;
use crate::verify::{Check, VerifyError};

/// A genesis file that is none.
#[derive(Debug, thiserror::Error)]
pub enum GenesisError {
    /// It cannot be opened or read.
    #[error("genesis {} cannot be read", file.display())]
    File {
        /// Path of the file.
        file: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// Not the JSON that was expected.
    #[error("genesis {} is not in geth's form", file.display())]
    Json {
        /// Path of the file.
        file: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
}

/// A genesis: its allocation, and the rules of its chain as far as they are known.
#[derive(Debug, Clone)]
pub struct Genesis {
    accounts: Arc<BTreeMap<Address, AccountDiff>>,
    chain_id: Option<u64>,
    schedule: Option<Schedule>,
    configuration: Option<String>,
}

#[derive(Deserialize)]
struct JsonGenesis {
    #[serde(default)]
    config: serde_json::Map<String, serde_json::Value>,
    alloc: BTreeMap<Address, JsonAccount>,
}

#[derive(Deserialize)]
struct JsonAccount {
    /// Hexadecimal with `0x`, else decimal.
    #[serde(default, alias = "wei")]
    balance: U256,
    #[serde(default)]
    nonce: U256,
    #[serde(default)]
    code: Bytes,
    #[serde(default)]
    storage: BTreeMap<Word, Word>,
}

impl Genesis {
    /// Reads a genesis file in geth's form.
    pub fn read(file: &Path) -> Result<Self, GenesisError> {
        let text = std::fs::read_to_string(file).map_err(|source| GenesisError::File { file: file.into(), source })?;
        let genesis = Self::parse(&text).map_err(|source| GenesisError::Json { file: file.into(), source })?;
        Ok(genesis)
    }

    fn parse(text: &str) -> Result<Self, serde_json::Error> {
        let JsonGenesis { config, alloc } = serde_json::from_str(text)?;
        let accounts: BTreeMap<Address, AccountDiff> = alloc
            .into_iter()
            .map(|(address, account)| Ok((address, account.values()?)))
            .collect::<Result<_, serde_json::Error>>()?;
        let has_code = |address| {
            accounts.get(&address).and_then(|account| account.code.as_ref()).is_some_and(|code| !code.is_empty())
        };
        let schedule = (!config.is_empty()).then(|| Schedule::of_config(&config, has_code));
        let schedule = schedule.and_then(|schedule| {
            schedule
                .inspect_err(|name| {
                    tracing::warn!(
                        name,
                        "the genesis file has an unknown rule; state changes of blocks outside transactions are not \
                         derived"
                    );
                })
                .ok()
        });
        let chain_id = config.get("chainId").and_then(serde_json::Value::as_u64);
        let configuration = (!config.is_empty()).then(|| serde_json::Value::from(config).to_string());
        Ok(Self { accounts: Arc::new(accounts), chain_id, schedule, configuration })
    }

    /// The chain it is of.
    #[must_use]
    pub fn chain_id(&self) -> Option<u64> {
        self.chain_id
    }

    /// The rules of its chain as the file states them: JSON in geth's form.
    #[must_use]
    pub fn configuration(&self) -> Option<&str> {
        self.configuration.as_deref()
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        self.schedule.clone()
    }

    /// The allocation as the state of block 0; refused if `header` has another state root.
    ///
    /// Development nodes (anvil) write the root of nothing into block 0 whatever the accounts hold: nothing to compare
    /// with.
    pub(super) fn state_of(&self, header: &Header) -> Result<StateDiff, VerifyError> {
        let root = self.state_root();
        if header.state_root == EMPTY_ROOT_HASH && root != EMPTY_ROOT_HASH {
            tracing::warn!(
                "the state root of block 0 is that of an empty state; using the allocation of the genesis file \
                 unverified"
            );
        } else if root != header.state_root {
            return Err(VerifyError {
                number: header.number,
                check: Check::GenesisState,
                expected: header.state_root.to_string(),
                found: root.to_string(),
            });
        }
        Ok(StateDiff { scope: Scope::Block, accounts: (*self.accounts).clone(), credits: Vec::new() })
    }

    fn state_root(&self) -> B256 {
        state_root_unhashed(self.accounts.iter().map(|(address, account)| {
            let slots = account.storage.iter().map(|(slot, value)| (*slot, U256::from_be_bytes(value.0)));
            let account = TrieAccount {
                nonce: account.nonce.unwrap_or_default(),
                balance: account.balance.unwrap_or_default(),
                storage_root: storage_root_unhashed(slots),
                code_hash: account.code.as_ref().map_or(KECCAK256_EMPTY, keccak256),
            };
            (*address, account)
        }))
    }
}

impl JsonAccount {
    /// All it holds; slots that hold zero are no slots.
    fn values(self) -> Result<AccountDiff, serde_json::Error> {
        let nonce = u64::try_from(self.nonce).map_err(serde::de::Error::custom)?;
        let storage = self.storage.into_iter().map(|(slot, value)| (slot.0, value.0));
        Ok(AccountDiff {
            destroyed: false,
            balance: Some(self.balance),
            nonce: Some(nonce),
            code: Some(self.code),
            code_before: None,
            storage: storage.filter(|(_, value)| !value.is_zero()).collect(),
        })
    }
}
