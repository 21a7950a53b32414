//! Checks that a node is of the expected chain: by its id, and by the hashes of final blocks.

use serde_json::{Value, json};

use super::known_block::KnownBlock;
use super::message;
use crate::error::call::Answer;
use crate::error::failure::Failure;

/// A chain, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownChain {
    /// Chain id (EIP-155), as `eth_chainId` returns it.
    pub id: u64,
    /// Blocks of it that cannot change any more. One of its beginning tells it from a chain that was begun anew, one
    /// further on from a fork; that of the genesis tells nothing, chains may share it.
    pub settled: Vec<KnownBlock>,
}

impl KnownChain {
    /// A chain of which only the id is known.
    pub fn of_id(id: u64) -> Self {
        Self { id, settled: Vec::new() }
    }

    /// The calls whose answers [`KnownChain::compare`] takes.
    pub(crate) fn calls(&self) -> Vec<(&'static str, Value)> {
        let block = |block: &KnownBlock| ("eth_getBlockByNumber", json!([format!("{:#x}", block.number), false]));
        std::iter::once(("eth_chainId", json!([]))).chain(self.settled.iter().map(block)).collect()
    }

    /// Whether the answers of a node are those of this chain. One that does not have a block may be of it.
    pub(crate) fn compare(&self, answers: Vec<Answer>) -> Result<(), Failure> {
        let mut answers = answers.into_iter();
        let id = message::quantity(&answers.next().ok_or_else(|| Failure::transient("no answer"))??)?;
        if id != self.id {
            return Err(Failure::other_chain(id, self.id));
        }
        let hash = |answer: Answer| message::block_hash(&answer.ok()?);
        let other = self.settled.iter().zip(answers).find_map(|(known, answer)| {
            let found = hash(answer).filter(|hash| *hash != known.hash)?;
            Some(Failure::other_block(*known, found))
        });
        other.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use trawl_core::primitives::B256;

    use super::*;
    use crate::error::failure::FailureKind;

    fn raw(text: &str) -> Answer {
        Ok(RawValue::from_string(text.into()).expect("JSON"))
    }

    #[test]
    fn chains_differ_by_id_and_by_settled_blocks() {
        let hash = B256::repeat_byte(7);
        let known = KnownChain { id: 5, settled: vec![KnownBlock { number: 1, hash }, KnownBlock { number: 9, hash }] };
        let block = |hash: B256| raw(&format!(r#"{{"number":"0x1","hash":"{hash}"}}"#));
        let kind = |answers| known.compare(answers).map_err(|failure| failure.kind());
        assert_eq!(kind(vec![raw(r#""0x5""#), block(hash), block(hash)]), Ok(()));
        assert_eq!(kind(vec![raw(r#""0x5""#), raw("null"), raw("null")]), Ok(()), "it may have dropped it");
        assert_eq!(kind(vec![raw(r#""0x6""#), block(hash)]), Err(FailureKind::OtherChain));
        assert_eq!(kind(vec![raw(r#""0x5""#), block(B256::ZERO)]), Err(FailureKind::OtherChain));
        assert_eq!(kind(vec![raw(r#""0x5""#), block(hash), block(B256::ZERO)]), Err(FailureKind::OtherChain));
        assert_eq!(known.calls().len(), 3);
        assert_eq!(KnownChain::of_id(5).calls().len(), 1);
    }
}
