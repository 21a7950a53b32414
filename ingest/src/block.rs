//! A block as the later stages see it: typed, with a list of what it lacks. No JSON, no SQL.

use std::collections::BTreeSet;

use alloy_primitives::FixedBytes;
use serde_json::{Map, Value};
use trawl_chains::Family;
use trawl_core::primitives::{Address, B64, B256, Bytes, TransactionType, U256};
use trawl_core::schema::{AccessListItem, Authorization, BlockPart};

use state_diff::{Scope, StateDiff};

pub mod range_list;
pub mod state_diff;
pub mod trace;

/// The fields of a header. Those of later forks are `None` before them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Height of the block.
    pub number: u64,
    /// Hash as the source gave it.
    pub hash: B256,
    /// Hash of the block before.
    pub parent_hash: B256,
    /// Hash of the list of uncle headers.
    pub sha3_uncles: B256,
    /// Beneficiary of fees and rewards.
    pub miner: Address,
    /// State trie after the block.
    pub state_root: B256,
    /// Root of the transactions trie.
    pub transactions_root: B256,
    /// Root of the receipts trie.
    pub receipts_root: B256,
    /// Bloom filter over the logs.
    pub logs_bloom: FixedBytes<256>,
    /// Proof-of-work difficulty of this header alone; zero after the merge.
    pub difficulty: U256,
    /// Gas the block may use.
    pub gas_limit: u64,
    /// Gas it used.
    pub gas_used: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Any bytes, 32 at most on mainnet.
    pub extra_data: Bytes,
    /// Mix hash or randomness; `None` on chains that seal otherwise.
    pub mix_hash: Option<B256>,
    /// Nonce; `None` on chains that seal otherwise.
    pub nonce: Option<B64>,
    /// Wei per gas, from London on (EIP-1559).
    pub base_fee_per_gas: Option<U256>,
    /// Root of the withdrawals trie, from Shanghai on (EIP-4895).
    pub withdrawals_root: Option<B256>,
    /// Blob gas of the transactions, from Cancun on (EIP-4844).
    pub blob_gas_used: Option<u64>,
    /// Running excess of blob gas, from Cancun on (EIP-4844).
    pub excess_blob_gas: Option<u64>,
    /// Root of the parent's beacon block, from Cancun on (EIP-4788).
    pub parent_beacon_block_root: Option<B256>,
    /// SHA-256 over the requests of the execution layer, from Prague on (EIP-7685).
    pub requests_hash: Option<B256>,
    /// Bytes of the block, as the source states it.
    pub size: Option<u64>,
    /// Columns of `blocks` that the source did not have; their values here are placeholders.
    pub lacking: Vec<&'static str>,
    /// The fields of the source's JSON that no column has: an object as text.
    pub extra: Option<String>,
}

impl Header {
    /// The fields of the source's JSON that no column has.
    #[must_use]
    pub fn extra_fields(&self) -> Map<String, Value> {
        self.extra.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// A block with everything the source had of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Header as the source gave it.
    pub header: Header,
    /// Sum of difficulties, if the source gave it.
    pub total_difficulty: Option<U256>,
    /// Hashes of its uncles, in order; `None` if the source did not have them.
    pub uncle_hashes: Option<Vec<B256>>,
    /// Headers of its uncles, in order; `None` if the source did not have them.
    pub uncles: Option<Vec<Header>>,
    /// Its transactions, in order.
    pub transactions: Vec<Transaction>,
    /// Their receipts, in order, as many but for chains whose nodes leave some out; `None` if the source did not have
    /// them.
    pub receipts: Option<Vec<Receipt>>,
    /// The receipt that names the block itself, of calls that the chain makes; `None` if there is none, or the source
    /// did not have it.
    pub block_receipt: Option<Box<Receipt>>,
    /// Its withdrawals; empty before Shanghai, `None` if the source did not have them.
    pub withdrawals: Option<Vec<Withdrawal>>,
    /// What it changes of the accounts; `None` if the source did not have it.
    pub state: Option<StateDiff>,
    /// Its call frames; `None` if the source did not have them.
    pub traces: Option<trace::Traces>,
    /// Bytes of text it was read from, for batch limits and rates.
    pub source_bytes: usize,
}

impl Block {
    /// Logs of all receipts.
    #[must_use]
    pub fn log_count(&self) -> usize {
        self.receipts.iter().flatten().map(|receipt| receipt.logs.len()).sum()
    }

    /// Each transaction with its receipt; `None` where the source did not have it.
    pub fn outcomes(&self) -> impl Iterator<Item = (&Transaction, Option<&Receipt>)> {
        let mut receipts = self.receipts.iter().flatten().peekable();
        let of = move |transaction: &Transaction| {
            receipts.next_if(|receipt: &&Receipt| receipt.transaction_hash == transaction.hash)
        };
        self.transactions.iter().scan(of, |of, transaction| Some((transaction, of(transaction))))
    }

    /// How many receipts are missing of those of its transactions; `None` if the source had no receipts.
    #[must_use]
    pub fn missing_receipts(&self) -> Option<usize> {
        self.receipts.as_ref().map(|receipts| self.transactions.len().saturating_sub(receipts.len()))
    }

    /// Removes the receipts of system transactions that nodes of the family give beside those of the block, which no row
    /// can hold, and says how many there were.
    pub fn remove_system_receipts(&mut self, family: &Family) -> usize {
        let Some(receipts) = self.receipts.as_mut().filter(|_| family.quirks.system_receipts.is_some()) else {
            return 0;
        };
        let known: BTreeSet<B256> = self.transactions.iter().map(|transaction| transaction.hash).collect();
        let all = receipts.len();
        receipts.retain(|receipt| receipt.cumulative_gas_used != 0 || known.contains(&receipt.transaction_hash));
        all - receipts.len()
    }

    /// Sets apart the receipt that names the block itself, which belongs to no transaction.
    pub fn separate_block_receipt(&mut self, family: &Family) {
        let hash = self.header.hash;
        let receipts = self.receipts.as_mut().filter(|_| family.quirks.block_receipt.is_some());
        let Some(receipts) = receipts.filter(|receipts| receipts.len() == self.transactions.len() + 1) else { return };
        if let Some(last) = receipts.pop_if(|last| last.transaction_hash == hash) {
            self.block_receipt = Some(Box::new(last));
        }
    }

    /// Which parts the source had.
    #[must_use]
    pub fn parts(&self) -> Parts {
        Parts {
            receipts: self.receipts.is_some(),
            uncles: self.uncles.is_some(),
            withdrawals: self.withdrawals.is_some(),
            state: self.state.as_ref().map(|state| state.scope),
            traces: self.traces.is_some(),
            rewards: self.traces.as_ref().is_some_and(|traces| traces.rewards.is_some()),
        }
    }

    /// The chain its transactions are signed for, if one names it.
    #[must_use]
    pub fn chain_id(&self) -> Option<u64> {
        self.transactions.iter().find_map(|transaction| transaction.chain_id)
    }

    /// The family of the chain that it names; `None` if it names none and yet is no plain block of Ethereum, so that
    /// its rules depend on the chain.
    #[must_use]
    pub fn family(&self) -> Option<&'static Family> {
        let receipts = || self.receipts.iter().flatten();
        let is_plain = self.header.extra.is_none()
            && self.transactions.iter().all(|transaction| transaction.raw.is_none() && transaction.extra.is_none())
            && receipts().all(|receipt| receipt.extra.is_none());
        let named = self.chain_id().map(trawl_chains::by_chain_id);
        named.or(is_plain.then_some(&trawl_chains::ETHEREUM))
    }
}

/// What a source may or may not have of a block, beyond header and transactions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    /// Receipts and logs.
    pub receipts: bool,
    /// Headers of the uncles.
    pub uncles: bool,
    /// Withdrawals of validators (EIP-4895).
    pub withdrawals: bool,
    /// What is known of its state.
    pub state: Option<Scope>,
    /// Call frames of all transactions.
    pub traces: bool,
    /// Rewards for making the block, which not every tracer reports.
    pub rewards: bool,
}

impl Parts {
    /// The names `ingest_commits` knows them by.
    #[must_use]
    pub fn names(self) -> Vec<String> {
        let optional = [
            (BlockPart::Withdrawals, self.withdrawals),
            (BlockPart::Uncles, self.uncles),
            (BlockPart::Receipts, self.receipts),
            (BlockPart::State, self.state == Some(Scope::Block)),
            // All of it where the system contracts have no code.
            (BlockPart::StateButSystem, self.state == Some(Scope::AllButSystem)),
            // Without what happens outside of them: state after a block cannot be answered from these alone.
            (BlockPart::StateTransactions, self.state.is_some_and(|scope| scope < Scope::AllButSystem)),
            (BlockPart::Traces, self.traces),
            (BlockPart::Rewards, self.rewards),
        ];
        let there = optional.iter().filter(|(_, is_there)| *is_there).map(|(part, _)| *part);
        [BlockPart::Blocks, BlockPart::Transactions].into_iter().chain(there).map(|part| part.name().into()).collect()
    }
}

/// A transaction. For types other than Ethereum's the fields a source left out are zero and `raw` is the truth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Hash as the source gave it.
    pub hash: B256,
    /// Position in the block.
    pub index: u32,
    /// Its type (EIP-2718).
    pub transaction_type: TransactionType,
    /// Sender, `from` of JSON-RPC.
    pub from: Address,
    /// Recipient; `None` for a creation.
    pub to: Option<Address>,
    /// Sender's count of transactions before this one.
    pub nonce: u64,
    /// Wei sent to the recipient or to the created contract.
    pub value: U256,
    /// Gas that it may use.
    pub gas: u64,
    /// Signed price of types 0 and 1; effective price of others, if the source gave it.
    pub gas_price: Option<U256>,
    /// Wei per gas (EIP-1559); `None` for types 0 and 1.
    pub max_fee_per_gas: Option<U256>,
    /// Wei per gas (EIP-1559); `None` for types 0 and 1.
    pub max_priority_fee_per_gas: Option<U256>,
    /// Wei per blob gas (EIP-4844); `None` but for type 3.
    pub max_fee_per_blob_gas: Option<U256>,
    /// Call data or init code.
    pub input: Bytes,
    /// `None` for legacy transactions without replay protection.
    pub chain_id: Option<u64>,
    /// Accounts and slots announced ahead (EIP-2930); empty for type 0.
    pub access_list: Vec<AccessListItem>,
    /// Versioned hashes of its blobs (EIP-4844); empty but for type 3.
    pub blob_versioned_hashes: Vec<B256>,
    /// Delegations that accounts signed (EIP-7702); empty but for type 4.
    pub authorization_list: Vec<Authorization>,
    /// Signature: `v`, or the parity for typed transactions.
    pub v: U256,
    /// `r` of the signature on secp256k1.
    pub r: U256,
    /// `s` of the signature on secp256k1.
    pub s: U256,
    /// The source's JSON, for types other than Ethereum's only.
    pub raw: Option<String>,
    /// The fields of the source's JSON that no column has, an object as text; for the other types only.
    pub extra: Option<String>,
    /// Columns of `transactions` that the source did not have; their values here are placeholders.
    pub lacking: Vec<&'static str>,
}

impl Transaction {
    /// The same without members that its type does not have (EIP-2930, EIP-1559, EIP-4844, EIP-7702): its hash does not
    /// cover them. Types that are none of Ethereum's keep theirs.
    #[must_use]
    pub fn with_members_of_type(mut self) -> Self {
        let kind = self.transaction_type;
        if !kind.has_columns() {
            return self;
        }
        if kind == TransactionType::Legacy {
            self.access_list.clear();
        }
        if matches!(kind, TransactionType::Legacy | TransactionType::AccessList) {
            self.max_fee_per_gas = None;
            self.max_priority_fee_per_gas = None;
        }
        if kind != TransactionType::Blob {
            self.max_fee_per_blob_gas = None;
            self.blob_versioned_hashes.clear();
        }
        if kind != TransactionType::SetCode {
            self.authorization_list.clear();
        }
        self
    }

    /// Whether the source lacks more of it than fees beside the gas, from which nothing else follows.
    #[must_use]
    pub fn lacks_sources_of_others(&self) -> bool {
        self.lacking.iter().any(|column| !["l1_fee", "operator_fee"].contains(column))
    }

    /// Whether the source has all that tells what the transaction creates: its type, both sides and the nonce.
    #[must_use]
    pub fn has_origin(&self) -> bool {
        let origin = ["transaction_type", "from_address", "to_address", "nonce"];
        !self.lacking.iter().any(|column| origin.contains(column))
    }

    /// The fields of the source's JSON that no column has.
    #[must_use]
    pub fn extra_fields(&self) -> Map<String, Value> {
        self.extra.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The same, with all others if its type is none of Ethereum's.
    #[must_use]
    pub fn own_fields(&self) -> Map<String, Value> {
        let text = self.raw.as_deref().or(self.extra.as_deref());
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

/// The outcome of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Hash of the transaction.
    pub transaction_hash: B256,
    /// Hash of the block, if the source repeats it.
    pub block_hash: Option<B256>,
    /// EIP-658; `None` before Byzantium.
    pub status: Option<u8>,
    /// State root; `None` from Byzantium on.
    pub root: Option<B256>,
    /// Gas used in the block up to and with it.
    pub cumulative_gas_used: u64,
    /// Gas it used.
    pub gas_used: u64,
    /// Wei per gas, if the source gave it.
    pub effective_gas_price: Option<U256>,
    /// Address of the contract of a creation; `None` for a call.
    pub contract_address: Option<Address>,
    /// Bloom filter over its logs, if the source gave it.
    pub logs_bloom: Option<FixedBytes<256>>,
    /// Units of blob gas (EIP-4844); `None` but for type 3.
    pub blob_gas_used: Option<u64>,
    /// Wei per blob gas (EIP-4844); `None` but for type 3.
    pub blob_gas_price: Option<U256>,
    /// Its logs, in order.
    pub logs: Vec<Log>,
    /// The source's JSON without logs, for types other than Ethereum's only.
    pub raw: Option<String>,
    /// The fields of the source's JSON that no column has, an object as text; for the other types only.
    pub extra: Option<String>,
}

/// An event log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Contract that emitted it.
    pub address: Address,
    /// Zero to four words.
    pub topics: Vec<B256>,
    /// Unindexed arguments, encoded by the ABI.
    pub data: Bytes,
    /// Position in the block.
    pub index: u32,
}

/// Gwei in wei.
pub(crate) const GWEI: u64 = 1_000_000_000;

/// An EIP-4895 withdrawal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawal {
    /// Running number over all blocks.
    pub index: u64,
    /// Index of the validator on the beacon chain.
    pub validator_index: u64,
    /// Account that receives the amount.
    pub address: Address,
    /// Gwei, as the chain counts.
    pub amount_gwei: u64,
}
