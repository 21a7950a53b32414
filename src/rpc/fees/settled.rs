//! The rows from which fees are computed, block by block: settled blocks are read once, however many heads follow.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use trawl_core::primitives::{BlockNumber, BlockRange, Coverage};
use trawl_core::readable::Span;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Head, Reader, StoreError};

/// Rows of settled blocks by height. The lowest blocks are evicted.
pub(crate) struct SettledRows<R>(Mutex<BTreeMap<BlockNumber, Vec<R>>>);

/// Most rows that are cached, each of about a hundred bytes.
const MAX_ROWS: usize = 200_000;

impl<R> Default for SettledRows<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// The statement that reads the rows of some blocks, and the block of a row.
pub(super) type Read<R> = (fn(&Span) -> Statement<R>, fn(&R) -> BlockNumber);

impl<R: Columns + Clone + 'static> SettledRows<R> {
    /// The rows of the blocks of `span`, block by block.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn rows(
        &self,
        reader: &Reader,
        head: &Head,
        span: &Span,
        (statement, number): Read<R>,
    ) -> Result<Vec<R>, StoreError> {
        let heights = || span.settled.iter().flat_map(|range| range.first()..=range.last());
        let mut found = self.known(heights());
        let unknown: Coverage =
            heights().filter(|height| !found.contains_key(height)).map(BlockRange::single).collect();
        if !unknown.is_empty() {
            // Blocks that were settled a short time ago are still in memory.
            let recent = head.recent_span();
            let in_memory: Vec<BlockRange> =
                unknown.ranges().iter().flat_map(|range| recent.within(*range).ranges().to_vec()).collect();
            let there: Coverage = in_memory.iter().copied().collect();
            let rest: Vec<BlockRange> = unknown.ranges().iter().flat_map(|range| there.missing(*range)).collect();
            let mut rows = reader.rows(&statement(&Span { newest: recent.of(in_memory), ..Span::default() })).await?;
            if !rest.is_empty() {
                rows.extend(reader.rows(&statement(&rest.into())).await?);
            }
            // A block without rows is known too.
            let blocks = unknown.ranges().iter().flat_map(|range| range.first()..=range.last());
            let mut read: BTreeMap<BlockNumber, Vec<R>> = blocks.map(|height| (height, Vec::new())).collect();
            for row in rows {
                read.entry(number(&row)).or_default().push(row);
            }
            self.keep(&read);
            found.append(&mut read);
        }
        let mut rows: Vec<R> = found.into_values().flatten().collect();
        rows.extend(reader.rows(&statement(&span.without_settled())).await?);
        rows.sort_by_key(number);
        Ok(rows)
    }

    fn known(&self, heights: impl Iterator<Item = BlockNumber>) -> BTreeMap<BlockNumber, Vec<R>> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heights.filter_map(|height| Some((height, cached.get(&height)?.clone()))).collect()
    }

    fn keep(&self, read: &BTreeMap<BlockNumber, Vec<R>>) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.extend(read.iter().map(|(height, rows)| (*height, rows.clone())));
        let mut rows: usize = cached.values().map(|rows| rows.len() + 1).sum();
        while rows > MAX_ROWS
            && let Some((_, lowest)) = cached.pop_first()
        {
            rows -= lowest.len() + 1;
        }
    }
}
