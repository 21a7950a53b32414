//! Hashes of blocks, for rows that only say how high theirs is.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, Span};
use trawl_core::statement::Statement;
use trawl_query::blocks::{BlockHash, hashes, hashes_at};

/// Blocks that are looked up one by one in a statement, whose address they are part of.
const AT_ONCE: usize = 2_048;

/// The hashes of the blocks that rows of a scan lie in: of all that are not settled, which stay those of the branch that
/// was read first, and of the settled ones of the last batch (8,192 rows at most, so up to twice as many hashes).
pub(crate) struct BlockHashes {
    app: App,
    hot: HashMap<BlockNumber, B256>,
    settled: HashMap<BlockNumber, B256>,
}

impl BlockHashes {
    /// For rows of `blocks`.
    pub async fn open(app: &App, blocks: &Span) -> Result<Self, Problem> {
        let mut opened = Self { app: app.clone(), hot: HashMap::new(), settled: HashMap::new() };
        if !blocks.hot.is_empty() {
            let hot = Span { settled: Vec::new(), hot: blocks.hot.clone() };
            opened.hot = read(app, &hashes(&hot)).await?.collect();
        }
        Ok(opened)
    }

    /// Looks up the blocks with these heights, which ascend.
    pub async fn look_up(&mut self, numbers: impl Iterator<Item = BlockNumber>) -> Result<(), Problem> {
        let mut wanted: Vec<BlockNumber> = numbers.filter(|number| !self.hot.contains_key(number)).collect();
        wanted.dedup();
        if wanted.iter().all(|number| self.settled.contains_key(number)) {
            return Ok(());
        }
        self.settled.clear();
        let range = wanted.first().zip(wanted.last()).and_then(|(first, last)| BlockRange::new(*first, *last));
        match range {
            // Nearly all blocks of a range: one read of it.
            Some(range) if range.count() <= 2 * wanted.len() as u64 => {
                self.settled.extend(read(&self.app, &hashes(&vec![range].into())).await?);
            }
            _ => {
                for some in wanted.chunks(AT_ONCE) {
                    self.settled.extend(read(&self.app, &hashes_at(some.to_vec())).await?);
                }
            }
        }
        // A block that left the newest ones meanwhile is not there: the branch may be another one.
        if wanted.iter().all(|number| self.settled.contains_key(number)) { Ok(()) } else { Err(Problem::Busy) }
    }

    /// The hash of a block that was looked up.
    pub fn of(&self, number: BlockNumber) -> B256 {
        self.hot.get(&number).or_else(|| self.settled.get(&number)).copied().unwrap_or_default()
    }
}

async fn read(
    app: &App,
    statement: &Statement<BlockHash>,
) -> Result<impl Iterator<Item = (BlockNumber, B256)>, Problem> {
    let rows = app.reader().rows(statement).await?;
    Ok(rows.into_iter().map(|block| (block.block_number, block.hash)))
}
