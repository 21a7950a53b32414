//! How code and transactions run in the blocks of a fork.

use alloy_primitives::Address;

use super::instructions::InstructionRule;
use super::precompiles::PrecompileRule;
use crate::fees::rollup_fee::{L1FeeFormula, OperatorFeeFormula};

/// How code and transactions run in the blocks of a fork. [`ExecutionRules::of`] is what Ethereum's fork does, for all
/// that a chain does not do otherwise.
#[derive(Debug, PartialEq, Eq)]
pub struct ExecutionRules {
    /// Ethereum's fork whose instructions, prices of gas and precompiles hold.
    pub hardfork: Hardfork,
    /// Where precompiles differ from those of that fork.
    pub precompiles: &'static [PrecompileRule],
    /// Where instructions differ.
    pub instructions: &'static [InstructionRule],
    /// Most bytes of a contract, where they are not Ethereum's.
    pub longest_code: Option<usize>,
    /// Code that is not the EVM's.
    pub foreign_code: Option<ForeignCode>,
    /// How refunds of gas are treated.
    pub refunds: Refunds,
    /// Blobs, if blocks have any.
    pub blobs: Option<BlobRule>,
    /// The `NUMBER` that code sees.
    pub number: NumberSource,
    /// The `COINBASE` that code sees.
    pub coinbase: Coinbase,
    /// How tips are treated.
    pub tips: Tips,
    /// Why the gas of a transaction cannot be estimated, if so.
    pub no_estimates: Option<&'static str>,
    /// What transactions pay and to whom.
    pub transactions: TransactionRules,
    /// The forms that `extraData` of headers can have beside being empty; none where its bytes mean nothing.
    pub extra_data: &'static [ExtraDataForm],
}

impl ExecutionRules {
    /// Those of a fork of Ethereum, without blobs; who gets fees is not known.
    #[must_use]
    pub const fn of(hardfork: Hardfork) -> Self {
        Self {
            hardfork,
            precompiles: &[],
            instructions: &[],
            longest_code: None,
            foreign_code: None,
            refunds: Refunds::Ethereums,
            blobs: None,
            number: NumberSource::Header,
            coinbase: Coinbase::Beneficiary,
            tips: Tips::Paid,
            no_estimates: None,
            transactions: TransactionRules::Unknown("who gets their fees is not known here"),
            extra_data: &[],
        }
    }

    /// What a rollup takes of transactions; `None` if it is none.
    #[must_use]
    pub fn rollup(&self) -> Option<&RollupRules> {
        match &self.transactions {
            TransactionRules::Rollup(rules) => Some(rules),
            TransactionRules::Unknown(_) => None,
        }
    }

    /// Whether a header with this `extraData` can be of the fork, and not only of one after it.
    #[must_use]
    pub fn knows_extra_data(&self, bytes: &[u8]) -> bool {
        let is_form = |form: &ExtraDataForm| bytes.first() == Some(&form.version) && bytes.len() == form.bytes;
        self.extra_data.is_empty() || bytes.is_empty() || self.extra_data.iter().any(is_form)
    }
}

/// A fork of Ethereum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hardfork {
    /// October 2017 (EIP-609).
    Byzantium,
    /// February 2019, with Constantinople (EIP-1716).
    Petersburg,
    /// December 2019 (EIP-1679).
    Istanbul,
    /// April 2021: access lists (EIP-2930).
    Berlin,
    /// 2021. A block without difficulty is one after the merge.
    London,
    /// September 2022: proof of stake (EIP-3675).
    Merge,
    /// April 2023: withdrawals (EIP-4895).
    Shanghai,
    /// March 2024: blobs (EIP-4844).
    Cancun,
    /// May 2025: delegations of accounts (EIP-7702).
    Prague,
    /// December 2025: the meta EIP-7607.
    Osaka,
}

/// What transactions pay and to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionRules {
    /// They also pay for their data on L1.
    Rollup(RollupRules),
    /// It is not known, and why: they cannot be replayed.
    Unknown(&'static str),
}

/// What a rollup takes of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollupRules {
    /// The type of transactions that L1 paid for, which run without fees.
    pub deposit: u8,
    /// What is paid for data on L1.
    pub l1_fee: L1FeeFormula,
    /// What is paid to the operator of the chain.
    pub operator_fee: Option<OperatorFeeFormula>,
}

/// Contracts whose code is not the EVM's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignCode {
    /// How it begins.
    pub prefix: &'static [u8],
    /// What the chain calls it.
    pub name: &'static str,
}

/// How refunds of gas are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refunds {
    /// It lowers the gas of the transaction, as on Ethereum.
    Ethereums,
    /// It lowers nothing: what was used before refunds is paid.
    Nothing,
}

/// How many blobs blocks have and what they cost (EIP-7840).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobRule {
    /// Blobs of a block at which the price stays.
    pub target: u64,
    /// Most blobs of a block.
    pub max: u64,
    /// How fast the price moves.
    pub update_fraction: u128,
    /// The least price, in wei.
    pub least_price: u128,
}

/// The `NUMBER` that code sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberSource {
    /// That of the header.
    Header,
    /// That of L1, which the header tells: see [`super::VersionedHeader`].
    L1,
}

/// The `COINBASE` that code sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coinbase {
    /// The beneficiary of the header.
    Beneficiary,
    /// Who made the block, whatever its header names.
    Producer,
    /// This account, whatever the header names.
    Account(Address),
}

/// How tips are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tips {
    /// Transactions pay them.
    Paid,
    /// There are none: the price is the base fee.
    Dropped,
}

/// A form of `extraData`, which a fork brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraDataForm {
    /// Its first byte.
    pub version: u8,
    /// Its length, the first byte counted.
    pub bytes: usize,
}
