//! The JSON of nodes: field names and which of them may be absent.
//!
//! <https://ethereum.github.io/execution-apis/api-documentation/>; older nodes and other chains leave fields out.

use std::borrow::Cow;

use alloy_primitives::FixedBytes;
use serde::de::{Error, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trawl_core::primitives::{Address, B64, B256, Bytes, U256};
use trawl_core::schema::{AccessListItem, Authorization};

use super::quantity::Quantity;
use crate::block::Withdrawal;

/// A block with all its parts, as a dump holds it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    #[serde(borrow)]
    pub block: &'a RawValue,
    #[serde(borrow, default)]
    pub receipts: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub uncle_headers: Option<&'a RawValue>,
    pub total_difficulty: Option<Quantity<U256>>,
    #[serde(borrow, default)]
    pub state_diff: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tx_state_diffs: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub system_diff: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub queue_slots: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub traces: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub parity_traces: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub parity_rewards: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonHeader {
    pub number: Quantity<u64>,
    pub hash: Option<B256>,
    pub parent_hash: B256,
    pub sha3_uncles: Option<B256>,
    pub miner: Option<Address>,
    pub author: Option<Address>,
    pub state_root: B256,
    pub transactions_root: B256,
    pub receipts_root: B256,
    pub logs_bloom: FixedBytes<256>,
    pub difficulty: Option<Quantity<U256>>,
    pub gas_limit: Option<Quantity<u64>>,
    pub gas_used: Quantity<u64>,
    pub timestamp: Quantity<u64>,
    pub extra_data: Bytes,
    pub mix_hash: Option<B256>,
    pub nonce: Option<B64>,
    pub base_fee_per_gas: Option<Quantity<U256>>,
    pub withdrawals_root: Option<B256>,
    pub blob_gas_used: Option<Quantity<u64>>,
    pub excess_blob_gas: Option<Quantity<u64>>,
    pub parent_beacon_block_root: Option<B256>,
    pub requests_hash: Option<B256>,
    pub size: Option<Quantity<u64>>,
    #[serde(rename = "transactions")]
    _transactions: Option<IgnoredAny>,
    #[serde(rename = "uncles")]
    _uncles: Option<IgnoredAny>,
    #[serde(rename = "withdrawals")]
    _withdrawals: Option<IgnoredAny>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonBody<'a> {
    pub total_difficulty: Option<Quantity<U256>>,
    pub uncles: Option<Vec<B256>>,
    #[serde(borrow)]
    pub transactions: Vec<&'a RawValue>,
    pub withdrawals: Option<Vec<JsonWithdrawal>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonTransaction {
    pub hash: B256,
    pub transaction_index: Option<Quantity<u32>>,
    #[serde(rename = "type")]
    pub transaction_type: Option<Quantity<u8>>,
    pub from: Address,
    pub to: Option<Address>,
    pub nonce: Option<Quantity<u64>>,
    pub value: Option<Quantity<U256>>,
    pub gas: Quantity<u64>,
    pub gas_price: Option<Quantity<U256>>,
    pub max_fee_per_gas: Option<Quantity<U256>>,
    pub max_priority_fee_per_gas: Option<Quantity<U256>>,
    pub max_fee_per_blob_gas: Option<Quantity<U256>>,
    pub input: Option<Bytes>,
    pub data: Option<Bytes>,
    pub chain_id: Option<Quantity<u64>>,
    pub access_list: Option<Vec<JsonAccessListItem>>,
    pub blob_versioned_hashes: Option<Vec<B256>>,
    pub authorization_list: Option<Vec<JsonAuthorization>>,
    pub y_parity: Option<Quantity<U256>>,
    pub v: Option<Quantity<U256>>,
    pub r: Option<Quantity<U256>>,
    pub s: Option<Quantity<U256>>,
    #[serde(rename = "blockHash")]
    _block_hash: Option<IgnoredAny>,
    #[serde(rename = "blockNumber")]
    _block_number: Option<IgnoredAny>,
    #[serde(flatten)]
    pub extra: Extra,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonAccessListItem {
    address: Address,
    /// Nodes on polkadot-evm/frontier give it in snake case.
    #[serde(alias = "storage_keys")]
    storage_keys: Vec<B256>,
}

impl From<JsonAccessListItem> for AccessListItem {
    fn from(json: JsonAccessListItem) -> Self {
        Self { address: json.address, storage_keys: json.storage_keys }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum JsonAuthorization {
    Flat(FlatAuthorization),
    Nested(NestedAuthorization),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlatAuthorization {
    chain_id: Quantity<U256>,
    address: Address,
    nonce: Quantity<u64>,
    y_parity: Option<Quantity<u8>>,
    v: Option<Quantity<u8>>,
    r: Quantity<U256>,
    s: Quantity<U256>,
}

/// As nodes on polkadot-evm/frontier give it: the signature is an object.
#[derive(Deserialize)]
pub(super) struct NestedAuthorization {
    chain_id: Quantity<U256>,
    address: Address,
    nonce: Quantity<u64>,
    signature: NestedSignature,
}

#[derive(Deserialize)]
struct NestedSignature {
    odd_y_parity: bool,
    r: Quantity<U256>,
    s: Quantity<U256>,
}

impl From<JsonAuthorization> for Authorization {
    fn from(json: JsonAuthorization) -> Self {
        match json {
            JsonAuthorization::Flat(json) => Self {
                chain_id: json.chain_id.0,
                address: json.address,
                nonce: json.nonce.0,
                y_parity: json.y_parity.or(json.v).map_or(0, |parity| parity.0),
                r: json.r.0,
                s: json.s.0,
            },
            JsonAuthorization::Nested(json) => Self {
                chain_id: json.chain_id.0,
                address: json.address,
                nonce: json.nonce.0,
                y_parity: json.signature.odd_y_parity.into(),
                r: json.signature.r.0,
                s: json.signature.s.0,
            },
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonWithdrawal {
    index: Quantity<u64>,
    validator_index: Quantity<u64>,
    address: Address,
    amount: Quantity<u64>,
}

impl From<JsonWithdrawal> for Withdrawal {
    fn from(json: JsonWithdrawal) -> Self {
        Self {
            index: json.index.0,
            validator_index: json.validator_index.0,
            address: json.address,
            amount_gwei: json.amount.0,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonReceipt {
    pub transaction_hash: B256,
    pub transaction_index: Option<Quantity<u32>>,
    pub block_hash: Option<B256>,
    pub status: Option<Quantity<u8>>,
    #[serde(default, deserialize_with = "bytes_or_none")]
    pub root: Option<B256>,
    pub cumulative_gas_used: Quantity<u64>,
    pub gas_used: Quantity<u64>,
    pub effective_gas_price: Option<Quantity<U256>>,
    pub contract_address: Option<Address>,
    pub logs_bloom: Option<FixedBytes<256>>,
    pub blob_gas_used: Option<Quantity<u64>>,
    pub blob_gas_price: Option<Quantity<U256>>,
    pub logs: Vec<JsonLog>,
    #[serde(rename = "blockNumber")]
    _block_number: Option<IgnoredAny>,
    #[serde(rename = "from")]
    _from: Option<IgnoredAny>,
    #[serde(rename = "to")]
    _to: Option<IgnoredAny>,
    #[serde(rename = "type")]
    _type: Option<IgnoredAny>,
    #[serde(flatten)]
    pub extra: Extra,
}

/// Some nodes give no bytes for what is not there.
fn bytes_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<B256>, D::Error> {
    let text = Option::<Cow<'de, str>>::deserialize(deserializer)?;
    let given = text.filter(|text| text != "0x");
    given.map(|text| text.parse().map_err(D::Error::custom)).transpose()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct JsonLog {
    pub address: Address,
    pub topics: Vec<B256>,
    pub data: Bytes,
    pub log_index: Option<Quantity<u32>>,
}

/// The members that no other field takes: what a chain has and Ethereum does not.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Extra(Map<String, Value>);

/// What clients of Ethereum add, which follows from the rest.
const DERIVED: [&str; 8] =
    ["totalDifficulty", "sealFields", "blockTimestamp", "creates", "publicKey", "raw", "standardV", "condition"];

impl Extra {
    /// Adds a member.
    pub fn insert(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The members as the text of an object, but for those that follow from the rest; `None` if nothing is left.
    pub fn text(mut self) -> Option<String> {
        self.0.retain(|name, _| !DERIVED.contains(&name.as_str()));
        (!self.0.is_empty()).then(|| Value::Object(self.0).to_string())
    }
}
