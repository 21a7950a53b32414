//! Uncles of a block whose source left out the hash of them, or fields of their own headers.

use trawl_chains::Family;

use crate::block::{Block, Header};
use crate::decode::NO_UNCLES;
use crate::verify::header::{is_short, whole_header};

/// Forgets the uncles of a block, also that there are none, if its header lacks their hash and is not one of ten
/// fields, which has none: nothing says then that they are all.
pub(super) fn forget_unproven(block: &mut Block, family: &Family) {
    if !block.header.lacking.contains(&"sha3_uncles") {
        return;
    }
    if !is_short(&block.header, family) {
        (block.uncle_hashes, block.uncles) = (None, None);
    } else if block.uncle_hashes.is_none() {
        // A file with columns has no list of uncles, and a header of ten fields has none.
        (block.uncle_hashes, block.uncles) = (Some(Vec::new()), Some(Vec::new()));
        block.header.lacking.retain(|column| *column != "uncles");
    }
}

/// Completes the headers of uncles without a hash of uncles of their own: if there are none, their own hash tells.
pub(super) fn complete_uncles(block: &mut Block) {
    let incomplete = block.uncles.iter_mut().flatten().filter(|uncle| uncle.lacking == ["sha3_uncles"]);
    for uncle in incomplete {
        let whole = Header { sha3_uncles: NO_UNCLES, lacking: Vec::new(), ..uncle.clone() };
        if whole_header(&whole).is_some_and(|header| header.hash_slow() == whole.hash) {
            *uncle = whole;
        }
    }
}

/// Forgets the headers of uncles if one lacks a field: no column of theirs can say so. What came of their checks says
/// which one, so this follows them.
pub(super) fn forget_incomplete(block: &mut Block) {
    if block.uncles.iter().flatten().any(|uncle| !uncle.lacking.is_empty()) {
        block.uncles = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use flate2::read::MultiGzDecoder;
    use serde_json::Value;
    use trawl_chains::ETHEREUM;

    use super::*;
    use crate::decode::decode;
    use crate::verify::{Check, Depth, Outcome, verify};

    #[test]
    fn uncles_without_their_hash_are_not_known() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(text.trim()).expect("a block");
        let given = block.clone();
        forget_unproven(&mut block, &ETHEREUM);
        assert_eq!(block, given);
        assert!(block.parts().uncles);
        block.header.lacking = vec!["sha3_uncles"];
        forget_unproven(&mut block, &ETHEREUM);
        assert_eq!((block.uncle_hashes.as_ref(), block.parts().uncles), (None, false));
    }

    /// A recorded block with an uncle, of whose header a field is missing.
    fn with_uncle_without(field: &str) -> Block {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/hive/chain.ndjson.gz");
        let file = std::fs::File::open(file).expect("the fixture");
        let mut lines = BufReader::new(MultiGzDecoder::new(file)).lines().map(|line| line.expect("text"));
        let has_uncle = |line: &Value| line["uncleHeaders"].as_array().is_some_and(|uncles| !uncles.is_empty());
        let found = lines.find_map(|line| serde_json::from_str(&line).ok().filter(has_uncle));
        let mut line: Value = found.expect("a block with an uncle");
        drop(line["uncleHeaders"][0].as_object_mut().expect("a header").remove(field));
        decode(&line.to_string()).expect("a block")
    }

    fn proven(block: &Block) -> Outcome {
        verify(block, Depth::Full, &ETHEREUM).expect("not refused")
    }

    #[test]
    fn an_uncle_without_uncles_is_known_by_its_hash() {
        let whole = with_uncle_without("nothing");
        let mut block = with_uncle_without("sha3Uncles");
        assert_ne!(block.uncles, whole.uncles);
        complete_uncles(&mut block);
        assert_eq!(block.uncles, whole.uncles);
        forget_incomplete(&mut block);
        assert_eq!(block.uncles, whole.uncles);
        assert!(proven(&block).has_passed(Check::UncleHash));
    }

    #[test]
    fn an_uncle_that_is_not_whole_is_not_stored() {
        let mut block = with_uncle_without("gasLimit");
        complete_uncles(&mut block);
        let outcome = proven(&block);
        let reasons = outcome.impossible();
        assert!(reasons.iter().any(|row| row.reason == "the source has no gas_limit"), "{outcome:?}");
        assert_eq!((outcome.verdict(Depth::Full), outcome.has_passed(Check::UncleHash)), ("partial", false));
        forget_incomplete(&mut block);
        assert_eq!((block.uncles.as_ref(), block.parts().uncles), (None, false));
        assert!(block.uncle_hashes.is_some_and(|hashes| !hashes.is_empty()));
        // Of another hash, what is missing is not known.
        let mut block = with_uncle_without("sha3Uncles");
        block.uncles.as_mut().expect("uncles")[0].state_root = block.header.state_root;
        complete_uncles(&mut block);
        assert_eq!(block.uncles.expect("uncles")[0].lacking, ["sha3_uncles"]);
    }
}
