//! Of which family a chain is whose id is not listed: the first of its blocks may show it.

use futures_util::StreamExt;
use serde_json::Value;
use trawl_chains::{Family, HeaderRule};

use crate::block::{Block, Header};
use crate::decode::{decode, decode_parts};
use crate::load::receipt_versions::verify_any_version;
use crate::source::{BlockSource, RawBody, SourceError};
use crate::verify::header::whole_header;
use crate::verify::{Check, Depth};

/// Most blocks that are looked at: the first ones of a chain are often empty.
const MAX_BLOCKS: usize = 16;

/// A chain of which its own blocks show whose rules it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecognisedChain {
    /// The chain that its transactions name, if one does.
    pub chain_id: Option<u64>,
    /// The family that was recognised.
    pub family: &'static Family,
}

/// The family that the first blocks of a source are of. None if they may be of any: neither a transaction that only one
/// family makes begins the first block with transactions, nor does a header have members that only one family's have;
/// or they do not hold by that family's rules.
///
/// # Errors
///
/// When the source cannot be read.
pub async fn recognise(source: impl BlockSource) -> Result<Option<RecognisedChain>, SourceError> {
    let (mut blocks, mut first) = (source.into_blocks().take(MAX_BLOCKS), FirstBlocks::default());
    while let Some(raw) = blocks.next().await {
        let block = match raw?.body {
            RawBody::Json(text) => decode(&text),
            RawBody::Parts(parts) => decode_parts(&parts),
            RawBody::Block(block) => Ok(*block),
        };
        // What cannot be read, the load says.
        let Ok(block) = block else { return Ok(None) };
        if let Some(found) = first.look_at(block) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The first blocks of a source, as far as they were looked at.
#[derive(Debug, Default)]
struct FirstBlocks {
    /// Whether one had transactions: what a chain begins each block with, it began that one with.
    has_opened: bool,
}

impl FirstBlocks {
    fn look_at(&mut self, block: Block) -> Option<RecognisedChain> {
        let had_opened = self.has_opened;
        self.has_opened |= !block.transactions.is_empty();
        let may_open = !had_opened;
        let opened = if may_open { by_opening(&block) } else { None };
        opened.or_else(|| by_header(block))
    }
}

/// A block with such a transaction is proven by the rules of its family, hash and roots.
fn by_opening(block: &Block) -> Option<RecognisedChain> {
    let first: Value = serde_json::from_str(block.transactions.first()?.raw.as_deref()?).ok()?;
    let family = trawl_chains::by_opening(first.as_object()?)?;
    let outcome = verify_any_version(&mut block.clone(), Depth::Full, family).ok()?;
    let has_receipts_root = block.receipts.is_none() || outcome.has_passed(Check::ReceiptsRoot);
    let is_proven = has_receipts_root
        && [Check::HeaderHash, Check::TransactionsRoot].into_iter().all(|check| outcome.has_passed(check));
    is_proven.then_some(RecognisedChain { chain_id: block.chain_id(), family })
}

/// Of a family with such headers not all may be provable; nothing of it is wrong.
fn by_header(mut block: Block) -> Option<RecognisedChain> {
    let family = trawl_chains::by_header(&block.header.extra_fields())?;
    let chain_id = block.chain_id();
    if matches!(family.header, HeaderRule::Unproven(_)) && !is_unlike_ethereum(&block.header) {
        return None;
    }
    verify_any_version(&mut block, Depth::Full, family).is_ok().then_some(RecognisedChain { chain_id, family })
}

/// Whether a header that proves nothing is at least none of Ethereum's: without roots, and with another hash.
fn is_unlike_ethereum(header: &Header) -> bool {
    let has_roots = !header.transactions_root.is_zero() || !header.receipts_root.is_zero();
    !has_roots && whole_header(header).is_none_or(|whole| whole.hash_slow() != header.hash)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use serde_json::json;

    use super::*;

    const SCROLL: &str = "scroll-534352.ndjson";

    fn of_block(block: Block) -> Option<RecognisedChain> {
        FirstBlocks::default().look_at(block)
    }

    /// The recorded block of a file, with another value of a header's field.
    fn block(name: &str, field: &str, value: &str) -> Option<RecognisedChain> {
        of_block(with(name, json!({ field: value })))
    }

    /// The same with other values of several fields.
    fn with(name: &str, fields: Value) -> Block {
        let file = format!("{}/../tests/fixtures/chains/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        let Value::Object(fields) = fields else { panic!("an object") };
        line["block"].as_object_mut().expect("a block").extend(fields);
        decode(&line.to_string()).expect("a block")
    }

    #[test]
    fn a_block_shows_its_family_if_it_holds_by_its_rules() {
        let of = |name: &str| block(name, "size", "0x1").map(|found| (found.chain_id, found.family.name));
        assert_eq!(of("optimism-11155420.ndjson"), Some((None, "optimism")), "one deposit, which names no chain");
        assert_eq!(of("arbitrum-without-receipts-421614.ndjson"), Some((Some(421_614), "arbitrum")));
        assert_eq!(of("optimism-goerli-5003318.json"), Some((Some(420), "optimism")));
        assert_eq!(of("polygon-137.ndjson"), None);
        assert_eq!(of("scroll-534352.ndjson"), None);
        // Neither by a receipts root nor by a hash of another way to make them.
        assert_eq!(block("optimism-11155420.ndjson", "gasUsed", "0x1"), None);
        let no_root = format!("0x{}", "12".repeat(32));
        assert_eq!(block("arbitrum-without-receipts-421614.ndjson", "receiptsRoot", &no_root), None);
    }

    /// As on a chain of the ZK Stack, where any block may be empty.
    #[test]
    fn a_header_shows_its_family_also_without_transactions_and_after_others() {
        let empty = || {
            let signs = json!({"l1BatchNumber": "0x1", "l1BatchTimestamp": "0x1"});
            let mut block = with(SCROLL, signs);
            (block.header.transactions_root, block.header.receipts_root) = (B256::ZERO, B256::ZERO);
            (block.header.gas_used, block.header.logs_bloom) = (0, alloy_primitives::Bloom::ZERO.0);
            block.transactions.clear();
            block.receipts = Some(Vec::new());
            block
        };
        assert_eq!(of_block(empty()).map(|found| found.family.name), Some("zksync"));
        let mut first = FirstBlocks::default();
        assert_eq!(first.look_at(with("polygon-137.ndjson", json!({}))), None);
        assert_eq!(first.look_at(empty()).map(|found| found.family.name), Some("zksync"));
        // A chain that did not begin its first transactions so does not begin later ones so.
        let mut first = FirstBlocks::default();
        assert_eq!(first.look_at(with(SCROLL, json!({}))), None);
        assert_eq!(first.look_at(with("optimism-11155420.ndjson", json!({}))), None);
    }

    /// Members of a header, which no hash covers: anyone can write them.
    #[test]
    fn members_of_a_header_show_a_family_beside_roots_and_a_hash_of_its_own_alone() {
        let zeros = B256::ZERO.to_string();
        let members = |number: Value, root: Option<&String>| {
            let mut members = json!({"l1BatchNumber": number, "l1BatchTimestamp": "0x1"});
            for name in ["transactionsRoot", "receiptsRoot"] {
                root.into_iter().for_each(|root| members[name] = root.as_str().into());
            }
            members
        };
        let of = |members: Value| of_block(with(SCROLL, members)).map(|found| found.family.name);
        assert_eq!(of(members("0x1".into(), Some(&zeros))), Some("zksync"));
        assert_eq!(of(members(Value::Null, Some(&zeros))), None);
        assert_eq!(of(members("0x1".into(), None)), None, "a real block of Scroll with two members more");
        let mut hashed = with(SCROLL, members("0x1".into(), Some(&zeros)));
        hashed.header.hash = whole_header(&hashed.header).expect("a whole header").hash_slow();
        hashed.receipts.iter_mut().flatten().for_each(|receipt| receipt.block_hash = None);
        assert_eq!(of_block(hashed), None);
    }
}
