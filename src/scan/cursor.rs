//! The position after which a scan may resume: a row, the hash of its block, and the filter that it belongs to.

use std::fmt;
use std::sync::Arc;

use alloy_primitives::keccak256;

use crate::app::App;
use crate::error::Problem;
use crate::read::log_filter::Request;
use trawl_core::primitives::{Address, B256, BlockNumber, Position};
use trawl_core::store::Head;

/// The position after a row. Its text is the numbers of the position, the block first, then hash and filter, separated
/// by `-`: numbers in decimal digits, hash and filter in hexadecimal ones. For a log it is `block-index-hash-filter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cursor<P> {
    /// The position of the row.
    pub position: P,
    block_hash: B256,
    fingerprint: u64,
}

/// Most reorganised blocks that are searched for the last common block.
const MAX_REORGED_BLOCKS: u64 = 4_096;

impl<P: Position> Cursor<P> {
    /// The cursor after a row.
    pub fn of(position: P, block_hash: B256, fingerprint: u64) -> Self {
        Self { position, block_hash, fingerprint }
    }

    /// Parses the text of a cursor.
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

    /// Checks that the cursor belongs to this filter and that its block is still part of the chain.
    ///
    /// # Errors
    ///
    /// When the cursor belongs to another filter; [`Problem::Forked`], with the last common block, when its block was
    /// reorganised; or when the store fails.
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

    /// The last common block of the cursor's branch and the chain; `None` if the cursor's block is unknown.
    async fn fork(&self, app: &App, head: &Arc<Head>) -> Result<Option<(BlockNumber, B256)>, Problem> {
        let before = self.position.block_number().saturating_add(1);
        let lost = app
            .reader()
            .rows(&trawl_query::blocks::reorged::newest(&head.blocks.span(), before, MAX_REORGED_BLOCKS))
            .await?;
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

/// A 64-bit hash of the emitters and topics of a request, independent of their order.
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

/// A 64-bit hash of the filter of another scan: its name, its lists of addresses, and the token types it selects.
pub(super) fn fingerprint_of(name: &str, lists: &[&[Address]], types: &[&str]) -> u64 {
    let mut text = name.as_bytes().to_vec();
    for list in lists {
        text.push(0xff);
        text.extend(list.iter().flatten());
    }
    for name in types {
        text.push(0xff);
        text.extend(name.as_bytes());
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
        // A cursor of another kind of rows is refused.
        assert_eq!(Cursor::<FramePosition>::read(&cursor.to_string()), None);
        assert_eq!(Cursor::read(&cursor.to_string()), Some(cursor));
        for bad in ["", "7-3", "7-3-ab-12", "x-3-00-1", "7--3"] {
            assert_eq!(Cursor::<LogPosition>::read(bad), None, "{bad}");
        }
    }
}
