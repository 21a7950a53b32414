//! Messages that leave a chain for its L1: each is one log of a contract of the chain.

use alloy_primitives::{Address, B256, U256};

/// The list of a family's messages to L1.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageList {
    /// Path of the list, that of Blockscout for chains of the family.
    pub path: &'static str,
    /// The contract that writes a log for each message.
    pub contract: Address,
    /// Topic 0 of these logs.
    pub event: B256,
    /// Members of an item.
    pub members: &'static [MessageMember],
    /// Those of one transaction, if Blockscout's page of a transaction shows them for chains of the family.
    pub of_transaction: Option<TransactionMessageList>,
}

/// The list of the messages of one transaction to L1.
#[derive(Debug, PartialEq, Eq)]
pub struct TransactionMessageList {
    /// Path of the list, whose parameter is the hash of the transaction.
    pub path: &'static str,
    /// Members of an item.
    pub members: &'static [MessageMember],
}

/// A member of an item.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageMember {
    /// Key in the JSON of the item.
    pub key: &'static str,
    /// Where its value comes from.
    pub source: MessageSource,
}

/// Where the value of a member comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSource {
    /// Hash of the transaction that sent the message.
    TransactionHash,
    /// Sender of that transaction, with the facts of the account.
    TransactionSender,
    /// Height of the block.
    BlockNumber,
    /// Time of the block.
    BlockTime,
    /// An amount, as decimal text.
    Amount(Word),
    /// An integer of 256 bits.
    Integer(Word),
    /// The integer in the lower 240 bits.
    VersionedNonce(Word),
    /// The integer in the upper 16 bits.
    NonceVersion(Word),
    /// An account, by its address.
    Account(Word),
    /// Bytes of any length, whose offset is the word of this position.
    Bytes(usize),
    /// It is on L1 only: null here.
    OnL1,
}

/// A word of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// A topic; 0 is the event.
    Topic(usize),
    /// A word of the data.
    Data(usize),
}

/// The log of a message.
#[derive(Debug, Clone, Copy)]
pub struct MessageLog<'a> {
    /// None to four topics; the first is the event.
    pub topics: &'a [B256],
    /// Unindexed arguments, encoded by the ABI.
    pub data: &'a [u8],
}

/// The bits of a nonce below its version.
const VERSION_SHIFT: usize = 240;

impl<'a> MessageLog<'a> {
    /// A word; `None` if the log is shorter.
    #[must_use]
    pub fn word(&self, word: Word) -> Option<B256> {
        match word {
            Word::Topic(position) => self.topics.get(position).copied(),
            Word::Data(position) => self.data.get(position * 32..)?.get(..32).map(B256::from_slice),
        }
    }

    /// A word as a number.
    #[must_use]
    pub fn number(&self, word: Word) -> Option<U256> {
        Some(self.word(word)?.into())
    }

    /// The version and the rest of a nonce.
    #[must_use]
    pub fn nonce(&self, word: Word) -> Option<VersionedNonce> {
        let number = self.number(word)?;
        let version = (number >> VERSION_SHIFT).to::<u16>();
        Some(VersionedNonce { version, nonce: number & ((U256::ONE << VERSION_SHIFT) - U256::ONE) })
    }

    /// Bytes whose offset is at a word of the data; `None` if they do not lie in it.
    #[must_use]
    pub fn bytes(&self, position: usize) -> Option<&'a [u8]> {
        let at = usize::try_from(self.number(Word::Data(position))?).ok()?;
        let rest = self.data.get(at..)?;
        let length = usize::try_from(U256::from_be_slice(rest.get(..32)?)).ok()?;
        rest[32..].get(..length)
    }
}

/// A nonce with its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionedNonce {
    /// Encoding of the message.
    pub version: u16,
    /// Lower 240 bits: a running number.
    pub nonce: U256,
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;
    use crate::registry::by_chain_id;

    #[test]
    fn events_are_the_hashes_of_their_signatures() {
        for (chain, signature) in [
            (10, "MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)"),
            (42_220, "MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)"),
            (42_161, "L2ToL1Tx(address,address,uint256,uint256,uint256,uint256,uint256,uint256,bytes)"),
        ] {
            let list = by_chain_id(chain).messages.expect("a list");
            assert_eq!(list.event, keccak256(signature), "{chain}");
        }
        assert_eq!(by_chain_id(1).messages, None);
    }

    #[test]
    fn bytes_that_do_not_lie_in_the_data_are_not_read() {
        let word = |number: usize| B256::from(U256::from(number)).0;
        let bytes = |data: &[[u8; 32]]| {
            let data = data.concat();
            MessageLog { topics: &[], data: &data }.bytes(0).map(<[u8]>::to_vec)
        };
        assert_eq!(bytes(&[word(32), word(2), [7; 32]]), Some(vec![7, 7]));
        assert_eq!(bytes(&[word(32), word(33), [7; 32]]), None);
        assert_eq!(bytes(&[word(64), word(2)]), None);
        assert_eq!(bytes(&[[0xff; 32], word(2)]), None);
        assert_eq!(bytes(&[]), None);
    }

    #[test]
    fn the_version_of_a_nonce_is_in_its_upper_bits() {
        let topics = [B256::ZERO, B256::from((U256::ONE << VERSION_SHIFT) + U256::from(9))];
        let log = MessageLog { topics: &topics, data: &[] };
        let nonce = log.nonce(Word::Topic(1)).expect("a nonce");
        assert_eq!((nonce.version, nonce.nonce), (1, U256::from(9)));
        assert_eq!(log.nonce(Word::Topic(2)), None);
    }
}
