//! Uncles of a block whose source left out the hash of them.

use trawl_chains::Family;

use crate::block::Block;
use crate::verify::header::is_short;

/// Forgets the uncles of a block, also that there are none, if its header lacks their hash and is not one of ten
/// fields, which has none: nothing says then that they are all.
pub(super) fn forget_unproven(block: &mut Block, family: &Family) {
    if block.header.lacking.contains(&"sha3_uncles") && !is_short(&block.header, family) {
        (block.uncle_hashes, block.uncles) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use trawl_chains::ETHEREUM;

    use super::*;
    use crate::decode::decode;

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
}
