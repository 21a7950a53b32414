//! Text to blocks: one JSON object in node field conventions becomes one typed [`Block`]. Pure.
//!
//! Every source hands over the same shape (that of a dump line), so there is one decoder:
//! `{"block": …, "receipts": […], "uncleHeaders": […], "traces": […], "parityTraces": […], "parityRewards": […],
//! "totalDifficulty": …}`; unknown keys are ignored.

mod json;
mod quantity;
mod state;
mod traces;

use std::collections::BTreeMap;

use alloy_primitives::b256;
use serde::Deserialize;
use serde_json::value::RawValue;
use trawl_core::primitives::{B256, U256};

use crate::block::{Block, Header, LAST_KNOWN_TYPE, Log, Receipt, Transaction, Withdrawal};
pub(crate) use quantity::Word;
pub use state::StateError;

use json::{JsonBody, JsonHeader, JsonLog, JsonReceipt, JsonTransaction, Line};
use quantity::Quantity;

pub use traces::{call_traces_fit, traces_fit};

/// Text that is not a block.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// Not the JSON that was expected.
    #[error("{part} of block {number} cannot be read")]
    Json {
        /// Height, or `?` if not even that could be read.
        number: String,
        /// `block`, `receipts`, `uncle headers` or `transaction N`.
        part: String,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// A field that every such object has is not there.
    #[error("{part} of block {number} has no `{field}`")]
    Missing {
        /// Height.
        number: u64,
        /// Where.
        part: String,
        /// The field.
        field: &'static str,
    },
    /// What the source tells of the state does not belong to the block.
    #[error("state differences of block {number} are refused")]
    State {
        /// Height.
        number: u64,
        /// Why.
        source: StateError,
    },
}

impl DecodeError {
    /// The height of the block, if that much could be read.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Json { number, .. } => number.parse().ok(),
            Self::Missing { number, .. } | Self::State { number, .. } => Some(*number),
        }
    }
}

/// The height of a dump line, without reading the rest.
pub fn peek_number(text: &str) -> Result<u64, DecodeError> {
    #[derive(Deserialize)]
    struct Peek {
        block: PeekBlock,
    }
    #[derive(Deserialize)]
    struct PeekBlock {
        number: Quantity<u64>,
    }
    let peek: Peek = serde_json::from_str(text).map_err(|source| unreadable("?", "block", source))?;
    Ok(peek.block.number.0)
}

fn unreadable(number: impl ToString, part: impl Into<String>, source: serde_json::Error) -> DecodeError {
    DecodeError::Json { number: number.to_string(), part: part.into(), source }
}

/// Reads one block.
pub fn decode(text: &str) -> Result<Block, DecodeError> {
    let line: Line = serde_json::from_str(text).map_err(|source| unreadable("?", "block", source))?;
    let header: JsonHeader =
        serde_json::from_str(line.block.get()).map_err(|source| unreadable("?", "header", source))?;
    let number = header.number.0;
    let block: JsonBody =
        serde_json::from_str(line.block.get()).map_err(|source| unreadable(number, "block", source))?;
    let transactions: Vec<Transaction> = block
        .transactions
        .iter()
        .enumerate()
        .map(|(position, raw)| transaction(number, position, raw))
        .collect::<Result<_, _>>()?;
    let traces = traces::traces(number, transactions.len(), &line)?;
    let receipts = line.receipts.map(|raw| receipts(number, raw, &transactions)).transpose()?;
    let ends = state::Ends { is_cancun: header.parent_beacon_block_root.is_some(), traces: traces.as_ref() };
    let state =
        state::state(number, &line, &transactions, &ends).map_err(|source| DecodeError::State { number, source })?;
    let no_uncles = header.sha3_uncles == NO_UNCLES;
    let uncle_hashes = listed(number, block.uncles, no_uncles, "uncles")?;
    let uncles = match line.uncle_headers {
        Some(raw) => Some(uncle_headers(number, raw)?),
        // A block without uncles lacks nothing.
        None => uncle_hashes.is_empty().then(Vec::new),
    };
    let no_withdrawals = header.withdrawals_root.is_none_or(|root| root == NO_ITEMS);
    let withdrawals = listed(number, block.withdrawals, no_withdrawals, "withdrawals")?;
    Ok(Block {
        total_difficulty: line.total_difficulty.or(block.total_difficulty).map(|difficulty| difficulty.0),
        uncle_hashes: Some(uncle_hashes),
        uncles,
        transactions,
        receipts,
        withdrawals: Some(withdrawals.into_iter().map(Withdrawal::from).collect()),
        state,
        header: self::header(number, header)?,
        traces,
        source_bytes: text.len(),
    })
}

/// Hash of an empty list: the `sha3Uncles` of a block without uncles.
pub(crate) const NO_UNCLES: B256 = b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
/// Root of an empty trie: the `withdrawalsRoot` of a block without withdrawals.
pub(crate) const NO_ITEMS: B256 = b256!("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");

/// A list of the block. A source may leave out an empty one, and nothing else: a list the header speaks of is not
/// taken for empty.
fn listed<T>(number: u64, list: Option<Vec<T>>, is_empty: bool, field: &'static str) -> Result<Vec<T>, DecodeError> {
    match list {
        Some(list) => Ok(list),
        None if is_empty => Ok(Vec::new()),
        None => Err(DecodeError::Missing { number, part: "body".into(), field }),
    }
}

fn uncle_headers(number: u64, raw: &RawValue) -> Result<Vec<Header>, DecodeError> {
    let headers: Vec<JsonHeader> =
        serde_json::from_str(raw.get()).map_err(|source| unreadable(number, "uncle headers", source))?;
    headers.into_iter().map(|uncle| header(number, uncle)).collect()
}

fn header(number: u64, json: JsonHeader) -> Result<Header, DecodeError> {
    let missing = |field| DecodeError::Missing { number, part: "header".into(), field };
    Ok(Header {
        number: json.number.0,
        hash: json.hash.ok_or_else(|| missing("hash"))?,
        parent_hash: json.parent_hash,
        sha3_uncles: json.sha3_uncles,
        miner: json.miner.or(json.author).ok_or_else(|| missing("miner"))?,
        state_root: json.state_root,
        transactions_root: json.transactions_root,
        receipts_root: json.receipts_root,
        logs_bloom: json.logs_bloom,
        difficulty: json.difficulty.0,
        gas_limit: json.gas_limit.0,
        gas_used: json.gas_used.0,
        timestamp: json.timestamp.0,
        extra_data: json.extra_data,
        mix_hash: json.mix_hash,
        nonce: json.nonce,
        base_fee_per_gas: json.base_fee_per_gas.map(|fee| fee.0),
        withdrawals_root: json.withdrawals_root,
        blob_gas_used: json.blob_gas_used.map(|gas| gas.0),
        excess_blob_gas: json.excess_blob_gas.map(|gas| gas.0),
        parent_beacon_block_root: json.parent_beacon_block_root,
        requests_hash: json.requests_hash,
        size: json.size.map(|size| size.0),
        lacking: Vec::new(),
        foreign: Vec::new(),
    })
}

/// The fields of a dump line's block that Ethereum's headers and blocks do not have: signs of another chain's rules.
pub fn foreign_fields(text: &str) -> Result<Vec<String>, DecodeError> {
    let line: Line = serde_json::from_str(text).map_err(|source| unreadable("?", "block", source))?;
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(line.block.get()).map_err(|source| unreadable("?", "block", source))?;
    Ok(fields.into_keys().filter(|field| !json::BLOCK_FIELDS.contains(&field.as_str())).collect())
}

fn transaction(number: u64, position: usize, raw: &RawValue) -> Result<Transaction, DecodeError> {
    let part = || format!("transaction {position}");
    let json: JsonTransaction = serde_json::from_str(raw.get()).map_err(|source| unreadable(number, part(), source))?;
    let transaction_type = json.transaction_type.map_or(0, |kind| kind.0);
    let is_known = transaction_type <= LAST_KNOWN_TYPE;
    // A signed type cannot do without these; a chain's own types may, and then `raw` is what is shown.
    let missing = |field| DecodeError::Missing { number, part: part(), field };
    let required = |value: Option<Quantity<U256>>, field| match value {
        Some(value) => Ok(value.0),
        None if !is_known => Ok(U256::ZERO),
        None => Err(missing(field)),
    };
    if is_known && json.nonce.is_none() {
        return Err(missing("nonce"));
    }
    let input = json.input.or(json.data);
    if is_known && input.is_none() {
        return Err(missing("input"));
    }
    let parity = json.y_parity.map(|parity| parity.0);
    let v = match (transaction_type, json.v) {
        (1.., Some(v)) => parity.unwrap_or(v.0),
        (_, v) => required(v.or(parity.map(Quantity)), "v")?,
    };
    let chain_id = match transaction_type {
        0 => eip155_chain_id(v, json.chain_id.map(|id| id.0)),
        _ => json.chain_id.map(|id| id.0),
    };
    Ok(Transaction {
        hash: json.hash,
        index: json.transaction_index.map_or(u32::try_from(position).unwrap_or(u32::MAX), |index| index.0),
        transaction_type,
        from: json.from,
        to: json.to,
        nonce: json.nonce.map_or(0, |nonce| nonce.0),
        value: required(json.value, "value")?,
        gas: json.gas.0,
        gas_price: json.gas_price.map(|price| price.0),
        max_fee_per_gas: json.max_fee_per_gas.map(|fee| fee.0),
        max_priority_fee_per_gas: json.max_priority_fee_per_gas.map(|fee| fee.0),
        max_fee_per_blob_gas: json.max_fee_per_blob_gas.map(|fee| fee.0),
        input: input.unwrap_or_default(),
        chain_id,
        access_list: json.access_list.unwrap_or_default().into_iter().map(Into::into).collect(),
        blob_versioned_hashes: json.blob_versioned_hashes.unwrap_or_default(),
        authorization_list: json.authorization_list.unwrap_or_default().into_iter().map(Into::into).collect(),
        v,
        r: required(json.r, "r")?,
        s: required(json.s, "s")?,
        raw: (!is_known).then(|| raw.get().to_owned()),
        lacking: Vec::new(),
    })
}

/// Legacy transactions carry their chain in `v` (EIP-155): 27 and 28 mean none, whatever the node adds.
fn eip155_chain_id(v: U256, given: Option<u64>) -> Option<u64> {
    if v == U256::from(27) || v == U256::from(28) {
        return None;
    }
    v.checked_sub(U256::from(35)).and_then(|twice| u64::try_from(twice >> 1).ok()).or(given)
}

fn receipts(number: u64, raw: &RawValue, transactions: &[Transaction]) -> Result<Vec<Receipt>, DecodeError> {
    let unreadable = |source| unreadable(number, "receipts", source);
    let mut items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(unreadable)?;
    let mut receipts: Vec<(u32, Receipt)> = Vec::with_capacity(items.len());
    for (position, item) in items.drain(..).enumerate() {
        let json: JsonReceipt = serde_json::from_str(item.get()).map_err(unreadable)?;
        let index = json.transaction_index.map_or(u32::try_from(position).unwrap_or(u32::MAX), |index| index.0);
        let known = transactions.get(index as usize).is_none_or(|transaction| transaction.raw.is_none());
        let raw = if known { None } else { Some(without_logs(item).map_err(unreadable)?) };
        receipts.push((index, receipt(number, json, raw)?));
    }
    receipts.sort_by_key(|(index, _)| *index);
    Ok(receipts.into_iter().map(|(_, receipt)| receipt).collect())
}

fn without_logs(item: &RawValue) -> Result<String, serde_json::Error> {
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(item.get())?;
    fields.remove("logs");
    serde_json::to_string(&fields)
}

fn receipt(number: u64, json: JsonReceipt, raw: Option<String>) -> Result<Receipt, DecodeError> {
    Ok(Receipt {
        transaction_hash: json.transaction_hash,
        block_hash: json.block_hash,
        status: json.status.map(|status| status.0),
        root: json.root,
        cumulative_gas_used: json.cumulative_gas_used.0,
        gas_used: json.gas_used.0,
        effective_gas_price: json.effective_gas_price.map(|price| price.0),
        contract_address: json.contract_address,
        logs_bloom: json.logs_bloom,
        blob_gas_used: json.blob_gas_used.map(|gas| gas.0),
        blob_gas_price: json.blob_gas_price.map(|price| price.0),
        logs: json.logs.into_iter().map(|log| self::log(number, log)).collect::<Result<_, _>>()?,
        raw,
    })
}

fn log(number: u64, json: JsonLog) -> Result<Log, DecodeError> {
    let index =
        json.log_index.ok_or_else(|| DecodeError::Missing { number, part: "a log".into(), field: "logIndex" })?;
    Ok(Log { address: json.address, topics: json.topics, data: json.data, index: index.0 })
}

/// Puts the pieces of a block into the shape [`decode`] reads.
#[must_use]
pub fn line(block: &RawValue, receipts: Option<&RawValue>, uncle_headers: &[Box<RawValue>]) -> String {
    let uncles_length: usize = uncle_headers.iter().map(|uncle| uncle.get().len() + 1).sum();
    let length = block.get().len() + receipts.map_or(0, |receipts| receipts.get().len()) + uncles_length + 64;
    let mut text = String::with_capacity(length);
    text.push_str(r#"{"block":"#);
    text.push_str(block.get());
    if let Some(receipts) = receipts {
        text.push_str(r#","receipts":"#);
        text.push_str(receipts.get());
    }
    text.push_str(r#","uncleHeaders":["#);
    for (position, uncle) in uncle_headers.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(uncle.get());
    }
    text.push_str("]}");
    text
}

/// Adds members to a line that [`fn@line`] made.
#[must_use]
pub fn with_members(mut line: String, members: &[(&str, Box<RawValue>)]) -> String {
    for (name, value) in members {
        line = with_part(line, name, value);
    }
    line
}

/// Adds a part that was asked for apart to a `line`.
#[must_use]
pub fn with_part(mut line: String, name: &str, part: &RawValue) -> String {
    let is_object = line.pop() == Some('}');
    debug_assert!(is_object, "a line is a JSON object");
    line.reserve(part.get().len() + name.len() + 5);
    line.extend([",\"", name, "\":", part.get(), "}"]);
    line
}

/// What a source that must ask for more needs to know of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPeek {
    /// Height.
    pub number: u64,
    /// Hash.
    pub hash: B256,
    /// How many uncles.
    pub uncles: usize,
    /// Hashes of the transactions, in order.
    pub transactions: Vec<B256>,
    /// Hash of the block before.
    pub parent_hash: B256,
    /// EIP-7685.
    pub requests_hash: Option<B256>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderPeek {
    /// Height.
    pub number: u64,
    /// Hash.
    pub hash: B256,
    /// Hash of the block below.
    pub parent_hash: B256,
}

/// Reads no more than [`HeaderPeek`].
pub fn peek_header(block: &RawValue) -> Result<HeaderPeek, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        number: Quantity<u64>,
        hash: B256,
        parent_hash: B256,
    }
    let peek: Peek = serde_json::from_str(block.get()).map_err(|source| unreadable("?", "block", source))?;
    Ok(HeaderPeek { number: peek.number.0, hash: peek.hash, parent_hash: peek.parent_hash })
}

/// Reads no more than [`BlockPeek`].
pub fn peek_block(block: &RawValue) -> Result<BlockPeek, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        number: Quantity<u64>,
        hash: B256,
        #[serde(default)]
        uncles: Vec<B256>,
        transactions: Vec<PeekTransaction>,
        parent_hash: B256,
        requests_hash: Option<B256>,
    }
    #[derive(Deserialize)]
    struct PeekTransaction {
        hash: B256,
    }
    let peek: Peek = serde_json::from_str(block.get()).map_err(|source| unreadable("?", "block", source))?;
    Ok(BlockPeek {
        number: peek.number.0,
        hash: peek.hash,
        uncles: peek.uncles.len(),
        transactions: peek.transactions.into_iter().map(|transaction| transaction.hash).collect(),
        parent_hash: peek.parent_hash,
        requests_hash: peek.requests_hash,
    })
}

/// Whether receipts belong to the block `peek` tells of: as many as transactions, none of another block.
pub fn receipts_fit(receipts: &RawValue, peek: &BlockPeek) -> Result<bool, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        block_hash: Option<B256>,
    }
    let receipts: Vec<Peek> =
        serde_json::from_str(receipts.get()).map_err(|source| unreadable(peek.number, "receipts", source))?;
    let is_ours = |receipt: &Peek| receipt.block_hash.is_none_or(|hash| hash == peek.hash);
    Ok(receipts.len() == peek.transactions.len() && receipts.iter().all(is_ours))
}

/// Whether differences are those of the transactions of the block `peek` tells of, one for each.
pub fn state_fits(diffs: &RawValue, peek: &BlockPeek) -> Result<(), StateError> {
    state::fits(diffs.get(), &peek.transactions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replay_protection_is_read_from_the_signature() {
        assert_eq!(eip155_chain_id(U256::from(27), Some(1)), None);
        assert_eq!(eip155_chain_id(U256::from(37), None), Some(1));
        assert_eq!(eip155_chain_id(U256::from(38), Some(1)), Some(1));
        assert_eq!(eip155_chain_id(U256::ZERO, Some(42161)), Some(42161));
    }

    #[test]
    fn signed_types_have_nonce_and_input() {
        let whole = r#"{"hash":"0xHASH","from":"0xFROM","gas":"0x0","value":"0x0","v":"0x1b","r":"0x1","s":"0x1","nonce":"0x2","input":"0x"}"#
            .replace("HASH", &"11".repeat(32))
            .replace("FROM", &"22".repeat(20));
        let read = |text: String| transaction(1, 0, &RawValue::from_string(text).expect("JSON"));
        assert_eq!(read(whole.clone()).map(|transaction| transaction.nonce).ok(), Some(2));
        assert!(read(whole.replace("input", "data")).is_ok(), "the older name");
        for field in ["nonce", "input"] {
            let found = read(whole.replace(field, "other")).err();
            assert!(matches!(found, Some(DecodeError::Missing { field: told, .. }) if told == field), "{found:?}");
        }
        assert!(read(whole.replace("nonce", "other").replace("{", r#"{"type":"0x7e","#)).is_ok(), "a chain's own");
    }

    #[test]
    fn text_that_is_no_block_is_an_error() {
        for text in [
            "",
            "{}",
            "[]",
            "null",
            r#"{"block":null}"#,
            r#"{"block":{"number":"0x1"}}"#,
            r#"{"block":{"number":"1"}}"#,
        ] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
