//! Reads only the fields of a block that a source needs for its further requests.

use std::cmp::Ordering;

use serde::Deserialize;
use serde_json::value::RawValue;
use trawl_core::primitives::B256;

use super::error::{DecodeError, unreadable};
use super::quantity::Quantity;

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

/// The fields of a block that a source needs for its further requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockPeek {
    /// Height of the block.
    pub number: u64,
    /// Hash as the source gave it.
    pub hash: B256,
    /// How many uncles.
    pub uncles: usize,
    /// Hashes of the transactions, in order.
    pub transactions: Vec<B256>,
    /// Hash of the block before.
    pub parent_hash: B256,
    /// Hash over the requests (EIP-7685); `None` before Prague.
    pub requests_hash: Option<B256>,
}

/// Where a block stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderPeek {
    /// Height of the block.
    pub number: u64,
    /// Hash as the source gave it.
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

/// How receipts fit a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptsFit {
    /// As many as transactions, none of another block.
    Whole,
    /// Fewer than transactions, none of another block.
    Fewer,
    /// More than transactions, none of another block.
    More,
    /// One more than transactions, none of another block, and the last one names the block instead of a transaction.
    WithBlockReceipt,
    /// They are not those of the block.
    Other,
}

/// Whether receipts belong to the block `peek` tells of.
pub fn receipts_fit(receipts: &RawValue, peek: &BlockPeek) -> Result<ReceiptsFit, DecodeError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Peek {
        block_hash: Option<B256>,
        transaction_hash: Option<B256>,
    }
    let receipts: Vec<Option<Peek>> =
        serde_json::from_str(receipts.get()).map_err(|source| unreadable(peek.number, "receipts", source))?;
    let is_ours = |receipt: &Peek| receipt.block_hash.is_none_or(|hash| hash == peek.hash);
    let given = receipts.iter().flatten().count();
    let last = receipts.iter().flatten().last();
    let names_block = last.is_some_and(|receipt| receipt.transaction_hash == Some(peek.hash));
    Ok(match given.cmp(&peek.transactions.len()) {
        _ if !receipts.iter().flatten().all(is_ours) => ReceiptsFit::Other,
        Ordering::Equal => ReceiptsFit::Whole,
        Ordering::Less => ReceiptsFit::Fewer,
        Ordering::Greater if given == peek.transactions.len() + 1 && names_block => ReceiptsFit::WithBlockReceipt,
        Ordering::Greater => ReceiptsFit::More,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_fit_the_block_that_they_name() {
        let (hash, other) = (B256::repeat_byte(1), B256::repeat_byte(2));
        let peek = BlockPeek {
            number: 7,
            hash,
            uncles: 0,
            transactions: vec![B256::repeat_byte(3); 2],
            parent_hash: B256::ZERO,
            requests_hash: None,
        };
        for (blocks, expected) in [
            (vec![hash; 2], ReceiptsFit::Whole),
            (vec![hash; 1], ReceiptsFit::Fewer),
            (vec![hash; 3], ReceiptsFit::More),
            (vec![hash, other], ReceiptsFit::Other),
        ] {
            let items: Vec<String> = blocks.iter().map(|block| format!(r#"{{"blockHash":"{block}"}}"#)).collect();
            let answer = RawValue::from_string(format!("[{}]", items.join(","))).expect("JSON");
            assert_eq!(receipts_fit(&answer, &peek).ok(), Some(expected), "{blocks:?}");
        }
        let with_last = |count: usize, named: B256| {
            let others = "{},".repeat(count - 1);
            let answer = RawValue::from_string(format!(r#"[{others}{{"transactionHash":"{named}"}}]"#)).expect("JSON");
            receipts_fit(&answer, &peek).ok()
        };
        assert_eq!(with_last(3, hash), Some(ReceiptsFit::WithBlockReceipt));
        assert_eq!((with_last(3, other), with_last(4, hash)), (Some(ReceiptsFit::More), Some(ReceiptsFit::More)));
    }
}
