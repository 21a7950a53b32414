//! What is known of the chain by the blocks that are settled.

use trawl_core::primitives::BlockRange;
use trawl_core::store::{Head, Reader};
use trawl_node::{KnownBlock, KnownChain};

/// The chain with this id: its lowest settled block above the genesis, and its highest. `None` if ClickHouse does not
/// say.
pub(super) async fn known_chain(reader: &Reader, id: u64) -> Option<KnownChain> {
    let head = Head::load(reader).await.ok()?;
    let ranges = head.blocks.settled().ranges();
    let lowest = ranges.iter().find(|range| range.last() > 0).map(|range| range.first().max(1));
    let highest = ranges.last().map(|range| range.last()).filter(|highest| Some(*highest) > lowest);
    let mut settled = Vec::new();
    for number in lowest.into_iter().chain(highest) {
        let hashes = reader.block_hashes(BlockRange::single(number)).await.ok()?;
        settled.extend(hashes.iter().map(|row| KnownBlock { number: row.block_number, hash: row.hash }));
    }
    Some(KnownChain { id, settled })
}
