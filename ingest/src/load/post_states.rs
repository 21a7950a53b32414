//! Receipts with both a state root and a status, of which a block hashes one (EIP-658).

use trawl_chains::Family;

use crate::block::{Block, Receipt};
use crate::verify::{Check, Outcome, verify_receipts};

/// Keeps of receipts with both the one that is hashed, which the receipts root tells: some nodes give a status beside a
/// state root, 0 for every transaction before Byzantium, which says nothing of its outcome; others repeat a hash where
/// a state root stood. Where neither is proven, both stay.
pub(super) fn remove_unhashed_outcomes(block: &mut Block, family: &Family) {
    let Some(receipts) = &block.receipts else { return };
    if !receipts.iter().any(has_both) {
        return;
    }
    let with = |change: fn(&mut Receipt)| {
        let mut receipts = receipts.clone();
        receipts.iter_mut().filter(|receipt| has_both(receipt)).for_each(change);
        receipts
    };
    let without_root: fn(&mut Receipt) = |receipt| receipt.root = None;
    let forms = [without_root, |receipt| receipt.status = None];
    let hashed = forms.into_iter().map(with).find(|receipts| is_proven(block, family, receipts));
    if hashed.is_some() {
        block.receipts = hashed;
    }
}

fn has_both(receipt: &Receipt) -> bool {
    receipt.status.is_some() && receipt.root.is_some()
}

/// Whether the receipts root is that of these receipts.
fn is_proven(block: &Block, family: &Family, receipts: &[Receipt]) -> bool {
    let mut outcome = Outcome::default();
    let is_refused = verify_receipts(block, family, receipts, &mut outcome).is_err();
    !is_refused && outcome.has_passed(Check::ReceiptsRoot)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use flate2::read::MultiGzDecoder;
    use trawl_chains::ETHEREUM;
    use trawl_core::primitives::B256;

    use super::*;
    use crate::decode::decode;
    use crate::verify::{Depth, verify};

    /// The first recorded block of a chain that is wanted.
    fn recorded(chain: &str, is_wanted: impl Fn(&Block) -> bool) -> Block {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures");
        let file = std::fs::File::open(format!("{folder}/{chain}/chain.ndjson.gz")).expect("the fixture");
        let mut lines = BufReader::new(MultiGzDecoder::new(file)).lines();
        let found = lines.find_map(|line| decode(&line.expect("text")).ok().filter(|block| is_wanted(block)));
        found.expect("the block")
    }

    fn loaded(block: &Block) -> (Block, Result<Outcome, Check>) {
        let mut block = block.clone();
        remove_unhashed_outcomes(&mut block, &ETHEREUM);
        let outcome = verify(&block, Depth::Full, &ETHEREUM).map_err(|error| error.check);
        (block, outcome)
    }

    /// As Nethermind of some years ago gives them.
    #[test]
    fn a_status_beside_the_state_root_that_was_hashed_is_left_out() {
        let block = recorded("mainnet", |block| block.header.number == 1_755_635);
        let mut given = block.clone();
        given.receipts.iter_mut().flatten().for_each(|receipt| receipt.status = Some(0));
        let (stored, outcome) = loaded(&given);
        assert_eq!(stored, block);
        assert_eq!(outcome.map(|outcome| outcome.verdict(Depth::Full)), Ok("verified"));
        // A root that is not the one that was hashed proves nothing of the status.
        given.receipts.as_mut().expect("receipts")[0].root = Some(B256::repeat_byte(0x12));
        let (stored, outcome) = loaded(&given);
        assert_eq!((stored, outcome), (given, Err(Check::ReceiptsRoot)));
    }

    /// As on chains whose nodes repeat the block's hash there.
    #[test]
    fn a_root_beside_the_status_that_was_hashed_is_left_out() {
        let block = recorded("devchain", |block| block.transactions.len() > 1);
        let mut given = block.clone();
        given.receipts.iter_mut().flatten().for_each(|receipt| receipt.root = Some(block.header.hash));
        let (stored, outcome) = loaded(&given);
        assert_eq!(stored, block);
        assert!(outcome.expect("not refused").has_passed(Check::ReceiptsRoot));
    }
}
