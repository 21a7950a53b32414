//! Hashes of blocks, for rows that have only the height of their block.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber, BlockRange};
use trawl_core::readable::Span;
use trawl_core::statement::Statement;
use trawl_query::blocks::{BlockHash, hashes, hashes_at};

/// Most heights of one statement; they are part of its URL.
const MAX_HEIGHTS: usize = 2_048;

/// The block hashes of the rows of a scan. Blocks that are not settled are read once, so their hashes stay those of one
/// branch; of settled blocks only those of the last batch are retained (of at most 8,192 rows, so up to twice as
/// many hashes).
pub(crate) struct BlockHashes {
    app: App,
    newest: HashMap<BlockNumber, B256>,
    settled: HashMap<BlockNumber, B256>,
}

impl BlockHashes {
    /// Reads the hashes of those of `blocks` that are not settled.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn open(app: &App, blocks: &Span) -> Result<Self, Problem> {
        let mut opened = Self { app: app.clone(), newest: HashMap::new(), settled: HashMap::new() };
        opened.newest = read(app, &hashes(&blocks.without_settled())).await?.collect();
        Ok(opened)
    }

    /// Looks up the blocks at these ascending heights.
    ///
    /// # Errors
    ///
    /// When the store fails, or [`Problem::Reorganised`] when a block moved in the meantime.
    pub async fn look_up(&mut self, numbers: impl Iterator<Item = BlockNumber>) -> Result<(), Problem> {
        let mut heights: Vec<BlockNumber> = numbers.filter(|number| !self.newest.contains_key(number)).collect();
        heights.dedup();
        if heights.iter().all(|number| self.settled.contains_key(number)) {
            return Ok(());
        }
        self.settled.clear();
        let range = heights.first().zip(heights.last()).and_then(|(first, last)| BlockRange::new(*first, *last));
        match range {
            // The heights cover at least half of their range: one read of the range.
            Some(range) if range.count() <= 2 * heights.len() as u64 => {
                self.settled.extend(read(&self.app, &hashes(&vec![range].into())).await?);
            }
            _ => {
                for some in heights.chunks(MAX_HEIGHTS) {
                    self.settled.extend(read(&self.app, &hashes_at(some.to_vec())).await?);
                }
            }
        }
        // A block that is no longer among the newest ones is missing: the branch may have changed.
        if heights.iter().all(|number| self.settled.contains_key(number)) { Ok(()) } else { Err(Problem::Reorganised) }
    }

    /// The hash of a block that was looked up; zero for any other.
    pub fn of(&self, number: BlockNumber) -> B256 {
        self.newest.get(&number).or_else(|| self.settled.get(&number)).copied().unwrap_or_default()
    }
}

async fn read(
    app: &App,
    statement: &Statement<BlockHash>,
) -> Result<impl Iterator<Item = (BlockNumber, B256)>, Problem> {
    let rows = app.reader().rows(statement).await?;
    Ok(rows.into_iter().map(|block| (block.block_number, block.hash)))
}
