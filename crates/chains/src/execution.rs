//! What the EVM of a chain does beyond Ethereum's, fork by fork.

use crate::rollup_fee::{L1FeeFormula, OperatorFeeFormula};

/// A fork of a chain, and the rules from it on.
#[derive(Debug, PartialEq, Eq)]
pub struct ChainFork {
    /// Its name.
    pub name: &'static str,
    /// Its first block.
    pub start: ForkStart,
    /// The rules of its blocks.
    pub rules: ExecutionRules,
}

/// Where a fork begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForkStart {
    /// At a height.
    Block(u64),
    /// At a time in seconds since 1970.
    Time(u64),
}

impl ForkStart {
    /// Whether a block of a height and a time is at it or after it.
    #[must_use]
    pub fn is_reached(self, number: u64, timestamp: u64) -> bool {
        match self {
            Self::Block(start) => start <= number,
            Self::Time(start) => start <= timestamp,
        }
    }
}

/// How transactions run in the blocks of a fork.
#[derive(Debug, PartialEq, Eq)]
pub struct ExecutionRules {
    /// Ethereum's fork whose instructions, prices of gas and precompiles hold.
    pub hardfork: Hardfork,
    /// Where precompiles differ from those of that fork.
    pub precompiles: &'static [PrecompileRule],
    /// The type of transactions that L1 paid for, which run without fees.
    pub deposit: u8,
    /// What is paid for data on L1.
    pub l1_fee: L1FeeFormula,
    /// What is paid to the operator of the chain.
    pub operator_fee: Option<OperatorFeeFormula>,
    /// The forms that `extraData` of headers can have beside being empty; none where its bytes mean nothing.
    pub extra_data: &'static [ExtraDataForm],
}

impl ExecutionRules {
    /// Whether a header with this `extraData` can be of the fork, and not only of one after it.
    #[must_use]
    pub fn knows_extra_data(&self, bytes: &[u8]) -> bool {
        let is_form = |form: &ExtraDataForm| bytes.first() == Some(&form.version) && bytes.len() == form.bytes;
        self.extra_data.is_empty() || bytes.is_empty() || self.extra_data.iter().any(is_form)
    }
}

/// A form of `extraData`, which a fork brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraDataForm {
    /// Its first byte.
    pub version: u8,
    /// Its length, the first byte counted.
    pub bytes: usize,
}

/// A fork of Ethereum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hardfork {
    /// The merge.
    Merge,
    /// 2023.
    Shanghai,
    /// 2024.
    Cancun,
    /// 2025.
    Prague,
}

/// A difference of the precompiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrecompileRule {
    /// Signatures of P-256 are verified at 0x100, for 3,450 gas (RIP-7212).
    P256Verify,
    /// A longer input fails, with all its gas.
    LongestInput {
        /// The last byte of the address; the others are zero.
        address: u8,
        /// Most bytes.
        bytes: usize,
    },
}

/// The forks of some chains, ascending.
#[derive(Debug)]
pub struct ForkSchedule {
    /// The chains.
    pub chains: &'static [u64],
    /// Their forks; blocks before the first one follow rules that are not known.
    pub forks: &'static [ChainFork],
}
