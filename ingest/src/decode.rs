//! Text to blocks: one JSON object in node field conventions becomes one typed [`Block`]. Pure.
//!
//! Every source hands over the same shape (that of a dump line), so there is one decoder:
//! `{"block": …, "receipts": […], "uncleHeaders": […], "traces": […], "parityTraces": […], "parityRewards": […],
//! "totalDifficulty": …}`; unknown keys are ignored.

mod error;
mod json;
mod parts;
mod peek;
mod quantity;
mod receipts;
mod state;
mod traces;
mod transaction;

use alloy_primitives::b256;
use serde_json::value::RawValue;
use trawl_core::primitives::{B256, U256};

use crate::block::{Block, Header, Receipt, Transaction, Withdrawal};
pub use error::{DecodeError, StateError};
pub use parts::{BlockParts, Part};
pub use peek::{BlockPeek, HeaderPeek, ReceiptsFit, peek_block, peek_header, peek_number, receipts_fit};
pub(crate) use quantity::Word;
pub use state::state_fits;
pub use traces::{call_traces_fit, traces_fit};

use error::unreadable;
use json::{JsonBody, JsonHeader, Line};
use quantity::Quantity;
use receipts::receipts;
use traces::TracedBlock;
use transaction::transaction;

/// Reads one block from its text.
///
/// # Errors
///
/// When the text is no block in this shape, or its parts do not belong together.
pub fn decode(text: &str) -> Result<Block, DecodeError> {
    block(&line(text)?, text.len())
}

/// Reads one block from the pieces that a node gave.
///
/// # Errors
///
/// When the pieces are no block in this shape, or do not belong together.
pub fn decode_parts(parts: &BlockParts) -> Result<Block, DecodeError> {
    block(&parts.line(), parts.bytes())
}

/// Reads a transaction of a chain's own type again, from its JSON alone.
///
/// # Errors
///
/// When the text is no transaction.
pub(crate) fn decode_transaction(number: u64, index: u32, json: &str) -> Result<Transaction, DecodeError> {
    let raw = serde_json::from_str(json).map_err(|source| unreadable(number, "transaction", source))?;
    transaction(number, index as usize, raw)
}

/// Reads the receipt of a transaction of a chain's own type again, from its JSON without logs.
///
/// # Errors
///
/// When the text is no receipt.
pub(crate) fn decode_receipt(number: u64, json: &str) -> Result<Receipt, DecodeError> {
    receipts::without_logs_again(number, json)
}

fn line(text: &str) -> Result<Line<'_>, DecodeError> {
    serde_json::from_str(text).map_err(|source| unreadable("?", "block", source))
}

fn block(line: &Line<'_>, source_bytes: usize) -> Result<Block, DecodeError> {
    let header: JsonHeader =
        serde_json::from_str(line.block.get()).map_err(|source| unreadable("?", "header", source))?;
    let number = header.number.0;
    let body: JsonBody =
        serde_json::from_str(line.block.get()).map_err(|source| unreadable(number, "block", source))?;
    let transactions: Vec<Transaction> = body
        .transactions
        .iter()
        .enumerate()
        .map(|(position, raw)| transaction(number, position, raw))
        .collect::<Result<_, _>>()?;
    let traced = TracedBlock {
        number,
        hash: header.hash.unwrap_or_default(),
        transactions: transactions.len(),
        last_transaction: transactions.last().map(|last| last.hash),
    };
    let traces = traces::traces(traced, line)?;
    let receipts = line.receipts.map(|raw| receipts(number, raw, &transactions)).transpose()?;
    let ends = state::Ends { is_cancun: header.parent_beacon_block_root.is_some(), traces: traces.as_ref() };
    let state =
        state::state(number, line, &transactions, &ends).map_err(|source| DecodeError::State { number, source })?;
    // Zero is the hash of nothing: it stands for a header of ten fields, which has none.
    let no_uncles = header.sha3_uncles.is_none_or(|hash| hash == NO_UNCLES || hash.is_zero());
    let uncle_hashes = listed(number, body.uncles, no_uncles, "uncles")?;
    let uncles = match line.uncle_headers {
        Some(raw) => Some(uncle_headers(number, raw)?),
        // A block without uncles lacks nothing.
        None => uncle_hashes.is_empty().then(Vec::new),
    };
    let no_withdrawals = header.withdrawals_root.is_none_or(|root| root == NO_ITEMS);
    let withdrawals = listed(number, body.withdrawals, no_withdrawals, "withdrawals")?;
    Ok(Block {
        total_difficulty: total_difficulty(&header, line.total_difficulty.or(body.total_difficulty)),
        uncle_hashes: Some(uncle_hashes),
        uncles,
        transactions,
        receipts,
        block_receipt: None,
        withdrawals: Some(withdrawals.into_iter().map(Withdrawal::from).collect()),
        state,
        header: self::header(number, header)?,
        traces,
        source_bytes,
    })
}

/// Hash of an empty list: the `sha3Uncles` of a block without uncles.
pub(crate) const NO_UNCLES: B256 = b256!("1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347");
/// Root of an empty trie: the `withdrawalsRoot` of a block without withdrawals.
pub(crate) const NO_ITEMS: B256 = b256!("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");

/// The sum of difficulties that a node gives. Some give 0 where they have not read it (Nethermind's `BlockForRpc`),
/// which is none: the block's own difficulty is part of it.
fn total_difficulty(header: &JsonHeader, given: Option<Quantity<U256>>) -> Option<U256> {
    let has_own = header.difficulty.as_ref().is_some_and(|own| !own.0.is_zero());
    given.map(|total| total.0).filter(|total| !(has_own && total.is_zero()))
}

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
    headers.into_iter().map(|uncle| fields(number, uncle)).collect()
}

/// The header of a block. Headers of ten fields have neither hash of uncles nor difficulty nor gas limit; all others
/// have all of them.
fn header(number: u64, json: JsonHeader) -> Result<Header, DecodeError> {
    let is_short = json.sha3_uncles.is_none() && json.mix_hash.is_none() && json.nonce.is_none();
    match absent(&json).next().filter(|_| !is_short) {
        Some((_, field)) => Err(DecodeError::Missing { number, part: "header".into(), field }),
        None => fields(number, json),
    }
}

/// The fields that may be absent and have no null in their tables, each with its column.
fn absent(json: &JsonHeader) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
    let optional = [
        ("sha3_uncles", "sha3Uncles", json.sha3_uncles.is_none()),
        ("difficulty", "difficulty", json.difficulty.is_none()),
        ("gas_limit", "gasLimit", json.gas_limit.is_none()),
    ];
    optional.into_iter().filter(|(_, _, is_absent)| *is_absent).map(|(column, field, _)| (column, field))
}

/// A header, with the columns that it lacks.
fn fields(number: u64, json: JsonHeader) -> Result<Header, DecodeError> {
    let missing = |field| DecodeError::Missing { number, part: "header".into(), field };
    let lacking = absent(&json).map(|(column, _)| column).collect();
    Ok(Header {
        number: json.number.0,
        hash: json.hash.ok_or_else(|| missing("hash"))?,
        parent_hash: json.parent_hash,
        sha3_uncles: json.sha3_uncles.unwrap_or_default(),
        miner: json.miner.or(json.author).ok_or_else(|| missing("miner"))?,
        state_root: json.state_root,
        transactions_root: json.transactions_root,
        receipts_root: json.receipts_root,
        logs_bloom: json.logs_bloom,
        difficulty: json.difficulty.map_or(U256::ZERO, |difficulty| difficulty.0),
        gas_limit: json.gas_limit.map_or(0, |limit| limit.0),
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
        lacking,
        extra: json.extra.text(),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use flate2::read::MultiGzDecoder;

    use super::*;

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

    /// A recorded block without some members of its header.
    fn without(names: &[&str]) -> Result<Block, DecodeError> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut line: serde_json::Value = serde_json::from_str(text.trim()).expect("one line");
        let header = line["block"].as_object_mut().expect("a header");
        names.iter().for_each(|name| drop(header.remove(*name)));
        decode(&line.to_string())
    }

    #[test]
    fn headers_of_ten_fields_lack_the_others() {
        let all = ["sha3Uncles", "difficulty", "gasLimit", "mixHash", "nonce"];
        let block = without(&all).expect("a block");
        assert_eq!(block.header.lacking, ["sha3_uncles", "difficulty", "gas_limit"]);
        // Ethereum's headers have all of them.
        for name in &all[..3] {
            let found = without(&[name]).err();
            assert!(matches!(found, Some(DecodeError::Missing { field, .. }) if field == *name), "{found:?}");
        }
        assert!(without(&["sha3Uncles", "mixHash"]).is_err());
        assert!(without(&["mixHash", "nonce"]).is_ok(), "sealed otherwise");
    }

    #[test]
    fn a_total_difficulty_of_nothing_is_none_where_a_block_has_a_difficulty() {
        let total = |difficulty: &str, total: &str| {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
            let text = std::fs::read_to_string(file).expect("the fixture");
            let mut line: serde_json::Value = serde_json::from_str(text.trim()).expect("one line");
            line["block"]["difficulty"] = difficulty.into();
            line["block"]["totalDifficulty"] = total.into();
            decode(&line.to_string()).expect("a block").total_difficulty
        };
        assert_eq!(total("0xf4240", "0x0"), None);
        assert_eq!(total("0x1", "0xf4243"), Some(U256::from(0xf4243)));
        assert_eq!(total("0x0", "0x0"), Some(U256::ZERO), "a chain that never had any");
    }

    #[test]
    fn a_hash_of_uncles_of_zeros_is_of_none() {
        let block = |hash: B256| {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
            let text = std::fs::read_to_string(file).expect("the fixture");
            let mut line: serde_json::Value = serde_json::from_str(text.trim()).expect("one line");
            line["block"]["sha3Uncles"] = hash.to_string().into();
            drop(line["block"].as_object_mut().expect("a header").remove("uncles"));
            decode(&line.to_string()).map(|block| block.uncle_hashes)
        };
        assert_eq!((block(B256::ZERO).ok(), block(NO_UNCLES).ok()), (Some(Some(vec![])), Some(Some(vec![]))));
        assert!(matches!(block(B256::repeat_byte(1)), Err(DecodeError::Missing { field: "uncles", .. })));
    }

    #[test]
    fn pieces_and_their_line_are_the_same_block() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/hive/chain.ndjson.gz");
        let lines = BufReader::new(MultiGzDecoder::new(std::fs::File::open(file).expect("the fixture"))).lines();
        let mut compared = 0;
        for text in lines.map(|line| line.expect("text")) {
            let line: Line = serde_json::from_str(&text).expect("a line");
            let Some(receipts) = line.receipts else { continue };
            let uncles =
                line.uncle_headers.map_or_else(|| RawValue::from_string("[]".into()).expect("JSON"), ToOwned::to_owned);
            let mut parts = BlockParts::new(line.block.to_owned(), receipts.to_owned(), uncles);
            for (part, value) in [
                (Part::ParityTraces, line.parity_traces),
                (Part::Traces, line.traces),
                (Part::TransactionStateDiffs, line.tx_state_diffs),
                (Part::QueueSlots, line.queue_slots),
            ] {
                parts = value.into_iter().fold(parts, |parts, value| parts.with(part, value.to_owned()));
            }
            let mut whole = decode(&text).expect("a block");
            let mut joined = decode_parts(&parts).expect("a block");
            assert!(joined.source_bytes < whole.source_bytes, "the punctuation is missing");
            // A node's answers have none of these.
            if line.state_diff.is_some() || line.system_diff.is_some() {
                (whole.state, joined.state) = (None, None);
            }
            if let (Some(whole), Some(joined)) = (&mut whole.traces, &mut joined.traces)
                && line.parity_rewards.is_some()
            {
                (whole.rewards, joined.rewards) = (None, None);
            }
            joined.source_bytes = whole.source_bytes;
            joined.total_difficulty = whole.total_difficulty;
            assert_eq!(joined, whole);
            compared += 1;
        }
        assert!(compared > 10, "{compared}");
    }
}
