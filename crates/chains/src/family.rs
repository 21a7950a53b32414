//! What a family of chains does in its own way, as one value.

use std::ops::Range;

use alloy_primitives::{Address, U256};
use serde_json::{Map, Value};

use crate::bridge::BridgeEvent;
use crate::bridge::deposits::DepositList;
use crate::bridge::messages::MessageList;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::execution::{BlobRule, ChainFork, ForkRules, ForkSchedule};
use crate::facts::ReaderFacts;
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::header::copies::CopyRule;
use crate::producer::ProducerRule;
use crate::rest::{RestFacts, RestMembers, RestSource, RestValue};
use crate::transaction_type::FamilyTransactionType;
use crate::transaction_type::legacy::LegacyRule;
use crate::unsigned::UnsignedRule;

pub(crate) mod opening;
pub(crate) mod total_difficulty;

use opening::OpeningTransaction;
use total_difficulty::TotalDifficulty;

/// Name of the family whose rules hold for every chain that is not listed.
pub(crate) const ETHEREUM_NAME: &str = "ethereum";

/// First block of Mainnet with Byzantium (EIP-609).
const BYZANTIUM_BLOCK: u64 = 4_370_000;
/// Times of the blocks of Mainnet from the first one to that.
const BEFORE_BYZANTIUM: Range<u64> = 1_438_269_988..1_508_131_331;

/// A family of chains: those that share their rules.
#[derive(Debug)]
pub struct Family {
    /// Name, such as `optimism`.
    pub name: &'static str,
    /// Its chains that are known by their ids.
    pub chains: &'static [Chain],
    /// How the block hash comes from the header.
    pub header: HeaderRule,
    /// Transaction types that Ethereum does not have. A byte means nothing without its family.
    pub transaction_types: &'static [FamilyTransactionType],
    /// What each block begins with, if the protocol makes such a transaction.
    pub opening: Option<OpeningTransaction>,
    /// Members of a header in the JSON of nodes that together no other family has; none if there are no such.
    pub header_signs: &'static [&'static str],
    /// What legacy transactions are made of.
    pub legacy: LegacyRule,
    /// What transactions without the signature of an account are.
    pub unsigned: UnsignedRule,
    /// What a receipt's effective gas price follows from.
    pub price: PriceRule,
    /// What the withdrawals root of a header is the root of.
    pub withdrawals_root: WithdrawalsRoot,
    /// What the total difficulty of a block follows from.
    pub total_difficulty: TotalDifficulty,
    /// When its blocks can change no more.
    pub finality: Finality,
    /// Who makes a block, and gets its tips.
    pub producer: ProducerRule,
    /// What becomes of the base fee.
    pub burnt: BurntFees,
    /// Whether blocks bring new coins.
    pub issuance: Issuance,
    /// The field of a receipt with what was paid for data on L1 beside the gas, in wei.
    pub l1_fee: Option<&'static str>,
    /// The field of receipts that shows that this fee is beside the gas, if it was part of the gas before.
    pub l1_fee_sign: Option<&'static str>,
    /// How transactions run, for the chains of which that is known.
    pub schedules: &'static [ForkSchedule],
    /// What REST says of a transaction beyond Ethereum's members.
    pub rest: RestMembers,
    /// Messages to L1, if its contracts write a log for each.
    pub messages: Option<&'static MessageList>,
    /// Transactions from L1, if they have types of their own.
    pub deposits: Option<&'static DepositList>,
    /// The same of a block.
    pub block_rest: RestMembers,
    /// What readers are shown beyond Ethereum's facts.
    pub reader: ReaderFacts,
    /// Logs by which its bridges say what came and what left, the most telling first.
    pub bridges: &'static [BridgeEvent],
    /// What its rules of blocks were tried on.
    pub evidence: Evidence,
    /// What the hash of its headers was tried on.
    pub header_evidence: Evidence,
    /// Fields of headers that repeat others.
    pub copies: CopyRule,
    /// Fields of headers that nodes give and no hash covers, beyond Ethereum's.
    pub unhashed: &'static [&'static str],
    /// What nodes of these chains count in their own way.
    pub quirks: NodeQuirks,
}

/// A family is its name.
impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Family {}

impl Family {
    /// Whether the fees of transactions of one of Ethereum's types, `byte` (EIP-2718; 0 for legacy ones), are paid in
    /// the chain's coin, and not in a token that the transaction or its receipt may name.
    #[must_use]
    pub fn has_coin_fees(&self, byte: u8) -> bool {
        let may_name_token = byte == 0 && self.legacy == LegacyRule::GatewayFee;
        !may_name_token && self.reader.transaction.iter().all(|fact| fact.source != RestSource::Receipt("feeToken"))
    }

    /// The token that a transaction pays its gas with, of what nodes give of it beside Ethereum's fields.
    #[must_use]
    pub fn gas_token(&self, transaction: &Map<String, Value>) -> Option<Address> {
        let source = self.rest.token()?;
        let facts = RestFacts { transaction, receipt: &Map::new(), gas_used: 0, price: U256::ZERO };
        match source.value(&facts) {
            Some(RestValue::Token(address)) => Some(address),
            _ => None,
        }
    }

    /// Whether it says what fields beyond Ethereum's mean, and was tried on real blocks: Ethereum's rules, which hold
    /// for every chain that is not listed, say nothing of them.
    #[must_use]
    pub fn knows_its_fields(&self) -> bool {
        self.name != ETHEREUM_NAME && self.evidence == Evidence::Blocks
    }

    /// The fields of a header of whose meaning nothing is known. Of a family that knows its fields there are none: any
    /// other is made up. `extra`: those that nodes give beside Ethereum's.
    pub fn unknown_fields<'f>(&self, extra: &'f Map<String, Value>) -> impl Iterator<Item = &'f str> {
        let (rule, unhashed, knows_all) = (self.header, self.unhashed, self.knows_its_fields());
        let names = extra.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str());
        let is_known = move |name: &str| {
            knows_all || rule.covers(extra, name) || rule.knows_access_list(extra, name) || unhashed.contains(&name)
        };
        names.filter(move |name| !is_known(name))
    }

    /// Whether what its blocks change of accounts beside their transactions is what Ethereum's rules say: rewards and
    /// withdrawals are credited, and no fee goes to accounts that a tracer may not look at.
    #[must_use]
    pub fn credits_as_ethereum(&self) -> bool {
        self.name == ETHEREUM_NAME
    }

    /// Whether the receipts of a block may have been hashed with the state root after each transaction, which not all
    /// nodes keep (EIP-658): a block of the time before Byzantium on Mainnet.
    /// `timestamp`: seconds since 1970.
    #[must_use]
    pub fn may_hash_state_roots(&self, block_number: u64, timestamp: u64) -> bool {
        let is_before = block_number < BYZANTIUM_BLOCK && BEFORE_BYZANTIUM.contains(&timestamp);
        self.name == ETHEREUM_NAME && is_before
    }

    /// What blobs cost on its chains, where that is not Ethereum's schedule.
    pub fn blob_rules(&self) -> impl Iterator<Item = BlobRule> {
        let forks = self.schedules.iter().flat_map(|schedule| schedule.forks);
        forks.filter_map(|fork| match &fork.rules {
            ForkRules::Known(rules) => rules.blobs,
            ForkRules::Unknown(_) => None,
        })
    }

    /// One of its chains.
    #[must_use]
    pub fn chain(&self, chain_id: u64) -> Option<&'static Chain> {
        self.chains.iter().find(|chain| chain.id == chain_id)
    }

    /// The forks of one of its chains, ascending; `None` if they are not known, or are Ethereum's.
    #[must_use]
    pub fn forks(&self, chain_id: u64) -> Option<&'static [ChainFork]> {
        let of_chain = self.schedules.iter().find(|schedule| schedule.chains.contains(&chain_id));
        of_chain.map(|schedule| schedule.forks)
    }

    /// The family's own transaction type of a byte; none of Ethereum's.
    #[must_use]
    pub fn transaction_type(&self, byte: u8) -> Option<&'static FamilyTransactionType> {
        self.transaction_types.iter().find(|known| known.byte == byte)
    }
}

/// Which part of the fees no account receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BurntFees {
    /// The base fee is burnt, by EIP-1559 or by a contract for it.
    BaseFee,
    /// Nothing is burnt: an account of the chain receives the base fee.
    Nothing,
    /// All fees are burnt.
    Everything,
    /// It is not known.
    Unknown,
}

/// Whether blocks bring new coins to those who make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issuance {
    /// Blocks with a difficulty do; how many, traces of a block say.
    ProofOfWork,
    /// None, whatever difficulty headers name.
    Nothing,
}

/// What a receipt's effective gas price follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceRule {
    /// The signed price, or base fee and tip (EIP-1559).
    Signed,
    /// The base fee of the block, whatever was signed: tips are not collected.
    BaseFee,
}

/// What the withdrawals root of a header is the root of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithdrawalsRoot {
    /// The withdrawals of the block (EIP-4895).
    Withdrawals,
    /// The storage of a contract, where the list of withdrawals is empty.
    ContractStorage,
}

/// What nodes of a family count in their own way: named and stored as given, not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeQuirks {
    /// Why the gas of receipts need not add up, if so.
    pub cumulative_gas: Option<&'static str>,
    /// Why logs need not count from 0 through the block, if so.
    pub log_index: Option<&'static str>,
    /// Why transactions and receipts roots and the bloom need not be those of the block, if so.
    pub roots: Option<&'static str>,
    /// Why receipts of some transactions need not be there, if so.
    pub missing_receipts: Option<&'static str>,
    /// Why receipts of the cumulative gas 0 may be of transactions that are not in the block, if so.
    pub system_receipts: Option<&'static str>,
    /// Why a receipt may name the block instead of a transaction, if so: it is the last, and in root and bloom.
    pub block_receipt: Option<&'static str>,
    /// Why the price that a transaction repeats need not be what was paid, if so.
    pub repeated_price: Option<&'static str>,
    /// Why a receipt may name a contract that sender and nonce do not give, also of a call, if so.
    pub contract_address: Option<&'static str>,
}

impl NodeQuirks {
    /// Nodes of the family count as Ethereum's do.
    pub const NONE: Self = Self {
        cumulative_gas: None,
        log_index: None,
        roots: None,
        missing_receipts: None,
        system_receipts: None,
        block_receipt: None,
        repeated_price: None,
        contract_address: None,
    };
}

#[cfg(test)]
mod tests {
    use crate::families::{ETHEREUM, POLYGON};

    #[test]
    fn receipts_have_a_status_since_byzantium() {
        // Blocks 46,147 (the first one with a transaction), 4,369,999 and 4,370,000 of Mainnet.
        for (number, timestamp, expected) in
            [(46_147, 1_438_918_233, true), (4_369_999, 1_508_131_303, true), (4_370_000, 1_508_131_331, false)]
        {
            assert_eq!(ETHEREUM.may_hash_state_roots(number, timestamp), expected, "{number}");
        }
        // A chain of today that has not come so far, and one that never was without.
        assert!(!ETHEREUM.may_hash_state_roots(5, 1_700_000_000) && !ETHEREUM.may_hash_state_roots(5, 50));
        assert!(!POLYGON.may_hash_state_roots(46_147, 1_438_918_233));
    }
}
