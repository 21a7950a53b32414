//! The rows of an answer: cut at a number, as the specification's endpoint does, or complete or refused, as nodes do.
//!
//! Whether an answer is too long must be known before its first byte. Up to [`MAX_HELD_ROWS`] rows are held for that;
//! if there are more, a second read counts the rest, so memory does not grow with the limit.

use std::collections::VecDeque;

use crate::app::App;
use crate::error::Problem;
use crate::read::page_source::PageSource;
use crate::read::row_stream::RowStream;
use trawl_core::primitives::{BlockRange, Position};
use trawl_core::schema::Columns;
use trawl_core::store::Batch;

/// Most rows that are held while the rest is counted, not including those of their last batch. Most answers are short,
/// and a short one is read once.
const MAX_HELD_ROWS: u64 = 5_000;
/// Most bytes of such rows, not including those of their last batch.
const MAX_HELD_BYTES: usize = 4 << 20;

/// The rows of an answer.
pub(super) struct AnswerRows<P: PageSource> {
    held: VecDeque<Batch<P::Row>>,
    rest: RowStream<P>,
}

/// The parameters of [`AnswerRows::complete`].
pub(super) struct CompleteRead<P> {
    /// The read of all rows.
    pub page: P,
    /// Most rows that the client requested; `None` for all.
    pub count: Option<u64>,
    /// Most rows that the server allows; `None` for all.
    pub limit: Option<u64>,
    /// The requested blocks.
    pub range: BlockRange,
}

impl<P: PageSource> AnswerRows<P> {
    /// At most `limit` rows; nothing tells the client whether there are more.
    ///
    /// # Errors
    ///
    /// Those of [`RowStream::open`].
    pub async fn cut(app: &App, page: P, limit: Option<u64>) -> Result<Self, Problem> {
        Ok(Self { held: VecDeque::new(), rest: RowStream::open(app, page, limit).await? })
    }

    /// All rows. Those of a single block are never too many: the block's gas bounds them, and a client cannot
    /// request less.
    ///
    /// # Errors
    ///
    /// [`Problem::TooManyRows`] if there are more than the limit; or those of [`RowStream::open`].
    pub async fn complete(app: &App, read: CompleteRead<P>) -> Result<Self, Problem> {
        let CompleteRead { page, count, limit, range } = read;
        let limit = limit.filter(|limit| range.count() > 1 && count.is_none_or(|count| count > *limit));
        let Some(limit) = limit else { return Self::cut(app, page, count).await };
        let stream = RowStream::open(app, page.clone(), Some(limit.saturating_add(1))).await?;
        let mut rows = Self { held: VecDeque::new(), rest: stream };
        let Some((last, held)) = rows.hold(limit, range).await? else { return Ok(rows) };
        let mut rest = page;
        rest.set_after(Some(last));
        // The counting read replaces the first one: a client never has two statements for one answer.
        drop(rows.rest);
        count_to(app, rest.clone(), held, limit, range).await?;
        let count = count.map(|count| count.saturating_sub(held));
        rows.rest = RowStream::open(app, rest, count).await?;
        Ok(rows)
    }

    /// Holds the first rows. The position and the number of the last one if more may follow, else `None`.
    async fn hold(&mut self, limit: u64, range: BlockRange) -> Result<Option<(P::Position, u64)>, Problem> {
        let (mut held, mut bytes) = (0, 0);
        while let Some(batch) = self.rest.next().await? {
            held += check::<P>(&batch, held, limit, range)?;
            bytes += batch.size_bytes();
            let last = position::<P>(&batch, batch.len() - 1);
            self.held.push_back(batch);
            if held >= MAX_HELD_ROWS || bytes >= MAX_HELD_BYTES {
                return Ok(Some((last, held)));
            }
        }
        Ok(None)
    }

    /// The next rows, ascending; `None` after the last.
    ///
    /// # Errors
    ///
    /// Those of [`RowStream::next`].
    pub async fn next(&mut self) -> Result<Option<Batch<P::Row>>, Problem> {
        match self.held.pop_front() {
            Some(batch) => Ok(Some(batch)),
            None => self.rest.next().await,
        }
    }
}

/// Counts the rows of `rest` in addition to those `before` it, up to `limit`.
async fn count_to<P: PageSource>(
    app: &App,
    rest: P,
    before: u64,
    limit: u64,
    range: BlockRange,
) -> Result<(), Problem> {
    let mut counted = before;
    let mut stream = RowStream::open(app, rest, Some(limit.saturating_add(1) - before)).await?;
    while let Some(batch) = stream.next().await? {
        counted += check::<P>(&batch, counted, limit, range)?;
    }
    Ok(())
}

/// The number of rows of a batch.
///
/// # Errors
///
/// When they and those `before` exceed the limit: the blocks up to that of the first row beyond it are not too many.
fn check<P: PageSource>(batch: &Batch<P::Row>, before: u64, limit: u64, range: BlockRange) -> Result<u64, Problem> {
    let rows = batch.len() as u64;
    if before + rows <= limit {
        return Ok(rows);
    }
    let beyond = usize::try_from(limit.saturating_sub(before)).unwrap_or(usize::MAX).min(batch.len() - 1);
    let block = position::<P>(batch, beyond).block_number();
    Err(Problem::TooManyRows { limit, fitting: blocks_below(range, block) })
}

/// The blocks of a range below `block`; the first one alone if there are none, since a single block always fits.
pub(super) fn blocks_below(range: BlockRange, block: u64) -> BlockRange {
    block
        .checked_sub(1)
        .and_then(|last| BlockRange::new(range.first(), last))
        .unwrap_or(BlockRange::single(range.first()))
}

fn position<P: PageSource>(batch: &Batch<P::Row>, row: usize) -> P::Position
where
    P::Row: Columns,
{
    P::position(&batch.view(), row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_that_fits_has_the_blocks_below_the_first_row_beyond_the_limit() {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        assert_eq!(blocks_below(range(5, 90), 8), range(5, 7));
        assert_eq!(blocks_below(range(5, 90), 5), range(5, 5));
        assert_eq!(blocks_below(range(0, 90), 0), range(0, 0));
    }
}
