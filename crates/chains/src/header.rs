//! How the block hash of a family comes from its header.

use alloy_consensus::Header;
use alloy_primitives::{B256, Bytes, U256, keccak256};
use alloy_rlp::Encodable;
use serde_json::{Map, Value};

use crate::fields::{RawList, integer, quantity};
use access_lists::AccessListFields;

pub(crate) mod access_lists;
mod committee;
pub(crate) mod copies;

/// How the block hash comes from the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderRule {
    /// As on Ethereum: Keccak-256 of the list of all fields.
    Ethereum,
    /// As on Ethereum, but where the header has a step and a seal: they stand for mix hash and nonce (Authority Round).
    AuthorityRound,
    /// Ethereum's header inside of another list.
    Tempo,
    /// Avalanche's fields between Ethereum's.
    Avalanche,
    /// As on Ethereum, and then who proposed the block below, where the header says it (Berachain, BRIP-0004).
    Proposer,
    /// As on Ethereum since Celo is a rollup; before, without the seal of a committee, and at first of ten fields
    /// ([`HeaderRule::short_hash`]).
    Committee,
    /// No hash over fields that nodes give: the reason.
    Unproven(&'static str),
}

/// The step under the names of Erigon, and of Nethermind and OpenEthereum.
const STEP: [&str; 2] = ["auraStep", "step"];
/// The seal likewise.
const SEAL: [&str; 2] = ["auraSeal", "signature"];
/// The key of who proposed the block below, under its names.
const PROPOSER: [&str; 2] = ["parentProposerPubkey", "prevProposerPubkey"];
const TEMPO: [&str; 4] = ["mainBlockGeneralGasLimit", "sharedGasLimit", "timestampMillisPart", "consensusContext"];
const AVALANCHE: [&str; 5] =
    ["extDataHash", "extDataGasUsed", "blockGasCost", "timestampMilliseconds", "minDelayExcess"];

/// The atomic transactions of a block, as nodes of Avalanche give them.
const ATOMIC: &str = "blockExtraData";

/// Whether the atomic transactions that a node gives are those whose hash the header has (ava-labs/coreth,
/// `CalcExtDataHash`): some of the first blocks have zeros for it.
fn has_hashed_atomic(extra: &Map<String, Value>) -> bool {
    let given = bytes(extra, ATOMIC).map(|data| keccak256(alloy_rlp::encode(data)));
    given.is_ok() && given == hash(extra, "extDataHash")
}

/// Why a block hash cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// A field is not there, or not what it should be.
    #[error("the source has no {0}")]
    Missing(&'static str),
    /// The family hashes something else.
    #[error("{0}")]
    Unproven(&'static str),
}

impl HeaderRule {
    /// The hash of a header with all of its fields. `extra`: those that nodes of the family give beside Ethereum's.
    ///
    /// # Errors
    ///
    /// When one that is hashed is missing, or nothing of it can be proven.
    pub fn hash(self, header: &Header, extra: &Map<String, Value>) -> Result<B256, HeaderError> {
        match self {
            Self::Ethereum => Ok(header.hash_slow()),
            Self::AuthorityRound => match first(extra, &SEAL) {
                Some(seal) => authority_round(header, extra, seal),
                None => Ok(header.hash_slow()),
            },
            Self::Tempo => tempo(header, extra),
            Self::Avalanche => avalanche(header, extra),
            Self::Proposer => proposer(header, extra),
            Self::Committee => Ok(committee::hash(header)),
            Self::Unproven(reason) => Err(HeaderError::Unproven(reason)),
        }
    }

    /// Whether the hash covers a field beyond Ethereum's. `extra`: all of them.
    #[must_use]
    pub fn covers(self, extra: &Map<String, Value>, name: &str) -> bool {
        let is_hashed = |names: &[&'static str]| first_name(extra, names) == Some(name);
        match self {
            Self::AuthorityRound => self.is_sealed_otherwise(extra) && (is_hashed(&STEP) || is_hashed(&SEAL)),
            Self::Tempo => TEMPO.contains(&name),
            Self::Avalanche => AVALANCHE.contains(&name) || (name == ATOMIC && has_hashed_atomic(extra)),
            Self::Proposer => is_hashed(&PROPOSER),
            Self::Ethereum | Self::Committee | Self::Unproven(_) => false,
        }
    }

    /// Whether a field is one that Glamsterdam adds, and headers with these fields beside Ethereum's are hashed as
    /// Ethereum's, so that its meaning is known.
    pub(crate) fn knows_access_list(self, extra: &Map<String, Value>, name: &str) -> bool {
        let is_as_ethereum = match self {
            Self::Ethereum | Self::Committee => true,
            Self::AuthorityRound => !self.is_sealed_otherwise(extra),
            Self::Tempo | Self::Avalanche | Self::Proposer | Self::Unproven(_) => false,
        };
        is_as_ethereum && AccessListFields::NAMES.contains(&name)
    }

    /// Whether a header with these fields beside Ethereum's does without mix hash and nonce.
    #[must_use]
    pub fn is_sealed_otherwise(self, extra: &Map<String, Value>) -> bool {
        self == Self::AuthorityRound && first(extra, &SEAL).is_some()
    }

    /// Whether a committee sealed a header, by its extra data: Celo while it was a chain of its own.
    #[must_use]
    pub fn is_sealed_by_committee(self, extra_data: &[u8]) -> bool {
        self == Self::Committee && committee::is_sealed(extra_data)
    }

    /// The same of a header whose extra data may not be known: `None`.
    #[must_use]
    pub fn may_be_sealed_by_committee(self, extra_data: Option<&[u8]>) -> bool {
        self == Self::Committee && extra_data.is_none_or(committee::is_sealed)
    }

    /// The hash of a header of which ten fields are hashed, where those that are not among them (uncles, difficulty,
    /// gas limit, mix hash, nonce, base fee) are not there, or zero, or what a node makes of them; `None` if it cannot
    /// be such a header. Whether it is one, the hash of its block tells.
    #[must_use]
    pub fn short_hash(self, header: &Header) -> Option<B256> {
        if self == Self::Committee { committee::short_hash(header) } else { None }
    }

    /// Whether a header of this extra data is encoded as Ethereum's.
    #[must_use]
    pub fn encodes_as_ethereum(self, extra_data: &[u8]) -> bool {
        self == Self::Ethereum || (self == Self::Committee && !committee::is_sealed(extra_data))
    }
}

/// The first of several names that has a value.
fn first_name(extra: &Map<String, Value>, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| extra.get(*name).is_some_and(|value| !value.is_null()))
}

/// The value of that.
fn first<'v>(extra: &'v Map<String, Value>, names: &[&'static str]) -> Option<&'v Value> {
    extra.get(first_name(extra, names)?)
}

/// Thirteen fields up to the extra data, step, seal, base fee.
fn authority_round(header: &Header, extra: &Map<String, Value>, seal: &Value) -> Result<B256, HeaderError> {
    let mut list = first_fields(header);
    let step = first(extra, &STEP).and_then(integer).ok_or(HeaderError::Missing(STEP[0]))?;
    let seal: Option<Bytes> = seal.as_str().and_then(|seal| seal.parse().ok());
    step.encode(&mut list);
    seal.ok_or(HeaderError::Missing(SEAL[0]))?.encode(&mut list);
    header.base_fee_per_gas.iter().for_each(|fee| fee.encode(&mut list));
    Ok(hash_of(list))
}

/// General and shared gas limit, milliseconds, the header of Ethereum, and the position in consensus if it is given.
fn tempo(header: &Header, extra: &Map<String, Value>) -> Result<B256, HeaderError> {
    let mut list = Vec::new();
    for name in ["mainBlockGeneralGasLimit", "sharedGasLimit", "timestampMillisPart"] {
        number(extra, name)?.encode(&mut list);
    }
    header.encode(&mut list);
    if let Some(context) = extra.get("consensusContext").and_then(Value::as_object) {
        let mut inner = Vec::new();
        for name in ["epoch", "view", "parentView"] {
            number(context, name)?.encode(&mut inner);
        }
        bytes(context, "proposer")?.encode(&mut inner);
        RawList(inner).encode(&mut list);
    }
    Ok(hash_of(list))
}

/// Ethereum's fields, and the key of who proposed the block below.
fn proposer(header: &Header, extra: &Map<String, Value>) -> Result<B256, HeaderError> {
    let Some(name) = first_name(extra, &PROPOSER) else { return Ok(header.hash_slow()) };
    let encoded = alloy_rlp::encode(header);
    let payload = alloy_rlp::Header::decode_bytes(&mut &encoded[..], true);
    let mut list = payload.map_err(|_| HeaderError::Missing(PROPOSER[0]))?.to_vec();
    bytes(extra, name)?.encode(&mut list);
    Ok(hash_of(list))
}

/// Fifteen fields, the hash of the extra data of the atomic transactions, then what each upgrade added.
fn avalanche(header: &Header, extra: &Map<String, Value>) -> Result<B256, HeaderError> {
    // Subnets have no atomic transactions, and hash as Ethereum does but for the cost of blocks.
    if !extra.contains_key("extDataHash") && !extra.contains_key("blockGasCost") {
        return Ok(header.hash_slow());
    }
    let mut list = first_fields(header);
    header.mix_hash.encode(&mut list);
    header.nonce.encode(&mut list);
    if extra.contains_key("extDataHash") {
        hash(extra, "extDataHash")?.encode(&mut list);
    }
    header.base_fee_per_gas.iter().for_each(|fee| fee.encode(&mut list));
    for name in ["extDataGasUsed", "blockGasCost"] {
        optional(extra, name)?.iter().for_each(|number| number.encode(&mut list));
    }
    header.blob_gas_used.iter().for_each(|gas| gas.encode(&mut list));
    header.excess_blob_gas.iter().for_each(|gas| gas.encode(&mut list));
    header.parent_beacon_block_root.iter().for_each(|root| root.encode(&mut list));
    for name in ["timestampMilliseconds", "minDelayExcess"] {
        optional(extra, name)?.iter().for_each(|number| number.encode(&mut list));
    }
    Ok(hash_of(list))
}

/// The fields of the yellow paper up to the extra data.
pub(crate) fn first_fields(header: &Header) -> Vec<u8> {
    let mut list = Vec::new();
    let fields: [&dyn Encodable; 13] = [
        &header.parent_hash,
        &header.ommers_hash,
        &header.beneficiary,
        &header.state_root,
        &header.transactions_root,
        &header.receipts_root,
        &header.logs_bloom,
        &header.difficulty,
        &header.number,
        &header.gas_limit,
        &header.gas_used,
        &header.timestamp,
        &header.extra_data,
    ];
    fields.iter().for_each(|field| field.encode(&mut list));
    list
}

pub(crate) fn hash_of(list: Vec<u8>) -> B256 {
    let mut encoded = Vec::with_capacity(list.len() + 5);
    RawList(list).encode(&mut encoded);
    keccak256(encoded)
}

fn number(extra: &Map<String, Value>, name: &'static str) -> Result<U256, HeaderError> {
    optional(extra, name)?.ok_or(HeaderError::Missing(name))
}

fn optional(extra: &Map<String, Value>, name: &'static str) -> Result<Option<U256>, HeaderError> {
    let given = first(extra, &[name]);
    given
        .map(|value| quantity(value).or_else(|| value.as_u64().map(U256::from)).ok_or(HeaderError::Missing(name)))
        .transpose()
}

fn text<'v>(extra: &'v Map<String, Value>, name: &'static str) -> Result<&'v str, HeaderError> {
    extra.get(name).and_then(Value::as_str).ok_or(HeaderError::Missing(name))
}

fn bytes(extra: &Map<String, Value>, name: &'static str) -> Result<Bytes, HeaderError> {
    text(extra, name)?.parse().map_err(|_| HeaderError::Missing(name))
}

fn hash(extra: &Map<String, Value>, name: &'static str) -> Result<B256, HeaderError> {
    text(extra, name)?.parse().map_err(|_| HeaderError::Missing(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The hash of no atomic transactions is that of the RLP of nothing; the other one was computed with `rlp` and
    /// `eth-utils` for Python.
    #[test]
    fn atomic_transactions_have_the_hash_in_the_header() {
        let none = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
        let some = "0xf830c7c8d666cb3c4ceb946e1f0a31190385452f512a62b68b68c7ee3c898c04";
        for (data, hash, is_covered) in [
            ("0x", none, true),
            ("0x000000000001", some, true),
            ("0x000000000002", some, false),
            ("0x", "0x0000000000000000000000000000000000000000000000000000000000000000", false),
        ] {
            let extra = json!({"blockExtraData": data, "extDataHash": hash});
            let extra = extra.as_object().expect("an object");
            assert_eq!(HeaderRule::Avalanche.covers(extra, "blockExtraData"), is_covered, "{data} {hash}");
        }
        let alone = json!({"blockExtraData": "0x00"});
        assert!(!HeaderRule::Avalanche.covers(alone.as_object().expect("an object"), "blockExtraData"));
    }

    #[test]
    fn a_seal_covers_the_names_that_are_hashed() {
        let both = json!({"auraStep": "0x1", "auraSeal": "0x12", "step": "2", "signature": "34", "author": "0x56"});
        let cases = [
            (both, vec!["auraSeal", "auraStep"]),
            (json!({"step": "2", "signature": "34", "author": "0x56"}), vec!["signature", "step"]),
            (json!({"auraStep": "0x1", "signature": "34", "auraSeal": null}), vec!["auraStep", "signature"]),
            // After the merge.
            (json!({"step": "2", "auraStep": "0x1"}), vec![]),
        ];
        for (extra, expected) in cases {
            let extra = extra.as_object().expect("an object");
            let covered = |name: &&str| HeaderRule::AuthorityRound.covers(extra, name);
            let mut found: Vec<&str> = extra.keys().map(String::as_str).filter(covered).collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{extra:?}");
            assert!(extra.keys().all(|name| !HeaderRule::Ethereum.covers(extra, name)));
        }
    }
}
