//! The place where a scan may be taken up again: a row, the hash of its block, and the filter it belongs to.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::keccak256;

use crate::app::App;
use crate::error::Problem;
use crate::log_filter::Request;
use trawl_core::primitives::{Address, B256, BlockNumber, Position};
use trawl_core::store::Head;

/// A place behind a row. Its text is the numbers of the place, the block first, then hash and filter, with `-` between:
/// numbers in decimal digits, the rest in hexadecimal ones. Of a log it is `block-index-hash-filter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor<P> {
    /// The row.
    pub position: P,
    block_hash: B256,
    fingerprint: u64,
}

/// Lost blocks that are looked through for the way back to the chain.
const LOST_BLOCKS: u64 = 4_096;

impl<P: Position> Cursor<P> {
    /// Behind a row.
    pub fn of(position: P, block_hash: B256, fingerprint: u64) -> Self {
        Self { position, block_hash, fingerprint }
    }

    /// Reads the text of one.
    pub fn read(text: &str) -> Option<Self> {
        let (rest, filter) = text.rsplit_once('-')?;
        let (numbers, hash) = rest.rsplit_once('-')?;
        let numbers: Vec<u64> = numbers.split('-').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        Some(Self {
            position: P::from_numbers(&numbers)?,
            block_hash: Some(hash).filter(|digits| digits.len() == 64)?.parse().ok()?,
            fingerprint: u64::from_str_radix(filter, 16).ok()?,
        })
    }

    /// Refused if it belongs to another filter, or if its block has lost its place: then the answer names the block
    /// from which on the chain is another one.
    pub async fn require(&self, app: &App, head: &Arc<Head>, fingerprint: u64) -> Result<(), Problem> {
        if self.fingerprint != fingerprint {
            return Err(Problem::invalid_parameter("cursor", "belongs to another filter"));
        }
        let number = self.position.block_number();
        if hash_at(app, number, head).await? == Some(self.block_hash) {
            return Ok(());
        }
        Err(Problem::Forked { block: number, hash: self.block_hash, fork: self.fork(app, head).await? })
    }

    /// The newest block below that both branches have; `None` if the cursor's block is not known at all.
    async fn fork(&self, app: &App, head: &Arc<Head>) -> Result<Option<(BlockNumber, B256)>, Problem> {
        let before = self.position.block_number().saturating_add(1);
        let lost = app.reader().rows(&trawl_query::reorged::newest(&head.blocks.span(), before, LOST_BLOCKS)).await?;
        let mut hash = self.block_hash;
        while let Some(block) = lost.iter().find(|block| block.hash == hash) {
            let Some(below) = block.block_number.checked_sub(1) else { return Ok(None) };
            if hash_at(app, below, head).await? == Some(block.parent_hash) {
                return Ok(Some((below, block.parent_hash)));
            }
            hash = block.parent_hash;
        }
        Ok(None)
    }
}

impl<P: Position> fmt::Display for Cursor<P> {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.position.numbers().iter().try_for_each(|number| write!(text, "{number}-"))?;
        write!(text, "{}-{:016x}", const_hex::encode(self.block_hash), self.fingerprint)
    }
}

async fn hash_at(app: &App, number: BlockNumber, head: &Head) -> Result<Option<B256>, Problem> {
    Ok(app.block_at(number, head).await?.map(|batch| B256::from(batch.view().hash.bytes(0))))
}

/// Eight bytes that stand for the emitters and topics of a request, in whatever order it names them.
pub(super) fn fingerprint(request: &Request) -> u64 {
    let filter = request.filter();
    let mut text = Vec::new();
    text.extend(filter.addresses.iter().flatten());
    for topic in &filter.topics {
        text.push(0xff);
        text.extend(topic.iter().flatten());
    }
    trawl_core::primitives::hash_prefix(&keccak256(text))
}

/// The same of another scan: what is scanned, the lists of addresses that narrow it, and words that do.
pub(super) fn fingerprint_of(name: &str, lists: &[&[Address]], words: &[&str]) -> u64 {
    let mut text = name.as_bytes().to_vec();
    for list in lists {
        text.push(0xff);
        text.extend(list.iter().flatten());
    }
    for word in words {
        text.push(0xff);
        text.extend(word.as_bytes());
    }
    trawl_core::primitives::hash_prefix(&keccak256(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{FramePosition, LogPosition};

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let cursor = Cursor {
            position: LogPosition { block_number: 7, log_index: 3 },
            block_hash: B256::repeat_byte(0xab),
            fingerprint: 0x12,
        };
        assert_eq!(cursor.to_string(), format!("7-3-{}-0000000000000012", "ab".repeat(32)));
        // A place of another kind of rows is none.
        assert_eq!(Cursor::<FramePosition>::read(&cursor.to_string()), None);
        assert_eq!(Cursor::read(&cursor.to_string()), Some(cursor));
        for bad in ["", "7-3", "7-3-ab-12", "x-3-00-1", "7--3"] {
            assert_eq!(Cursor::<LogPosition>::read(bad), None, "{bad}");
        }
    }
}
