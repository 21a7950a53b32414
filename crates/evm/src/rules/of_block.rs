//! The rules at one block.

use alloy_eips::eip7840::BlobParams;
use revm::primitives::hardfork::SpecId;
use trawl_chains::{ExecutionRules, RollupRules, Tips, TransactionRules};

use super::error::RulesError;

/// The rules at one block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// Chain id (EIP-155).
    pub chain_id: u64,
    /// Ethereum's fork that the rules are those of.
    pub fork: SpecId,
    /// Blob parameters; `None` before Cancun.
    pub blobs: Option<BlobParams>,
    /// What becomes of tips.
    pub tips: Tips,
    /// What the chain adds to the rules of the fork.
    pub chain: Option<&'static ExecutionRules>,
}

impl Rules {
    /// What the chain takes of transactions as a rollup; `None` if it is none.
    #[must_use]
    pub fn rollup(&self) -> Option<&'static RollupRules> {
        self.chain.and_then(ExecutionRules::rollup)
    }

    /// Refuses transactions of a chain of which it is not known what they pay and to whom.
    ///
    /// # Errors
    ///
    /// [`RulesError::TransactionsUnknown`] if it is not.
    pub fn require_transactions(&self) -> Result<(), RulesError> {
        match self.chain.map(|chain| &chain.transactions) {
            Some(TransactionRules::Unknown(reason)) => {
                Err(RulesError::TransactionsUnknown { chain: self.chain_id, reason })
            }
            _ => Ok(()),
        }
    }
}
