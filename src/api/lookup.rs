//! Finding blocks and transactions by hash, among what is readable.

use super::{App, Problem};
use crate::primitives::{B256, BlockNumber};
use crate::query;
use crate::schema::{BlockRow, TransactionRow};
use crate::store::{Batch, Head};

impl App {
    /// The height of the readable block with this hash.
    pub(super) async fn block_with_hash(&self, hash: &B256, head: &Head) -> Result<Option<BlockNumber>, Problem> {
        for batch in self.reader().all(&query::blocks::by_hash(hash)).await? {
            let candidates = batch.view();
            let found = (0..batch.len()).find(|row| {
                candidates.hash.bytes(*row) == hash.as_slice() && head.blocks.contains(candidates.block_number[*row])
            });
            if let Some(row) = found {
                return Ok(Some(candidates.block_number[row]));
            }
        }
        Ok(None)
    }

    /// The readable transaction with this hash, as a row of a batch.
    pub(super) async fn transaction(
        &self,
        hash: &B256,
        head: &Head,
    ) -> Result<Option<(Batch<TransactionRow>, usize)>, Problem> {
        for batch in self.reader().all(&query::transactions::by_hash(hash)).await? {
            let found = (0..batch.len()).find(|row| head.blocks.contains(batch.view().block_number[*row]));
            if let Some(row) = found {
                return Ok(Some((batch, row)));
            }
        }
        Ok(None)
    }

    /// The block at a height, if it is readable: a batch of one row.
    pub(super) async fn block_at(&self, number: BlockNumber, head: &Head) -> Result<Option<Batch<BlockRow>>, Problem> {
        if !head.blocks.contains(number) {
            return Ok(None);
        }
        Ok(self.reader().all(&query::blocks::at(number)).await?.into_iter().next())
    }
}
