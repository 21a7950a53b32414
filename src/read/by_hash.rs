//! Lookups of readable blocks and transactions by hash.

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::{BlockRow, TransactionRow};
use trawl_core::store::{Batch, Head};

impl App {
    /// The height of the readable block with this hash.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn block_with_hash(&self, hash: &B256, head: &Head) -> Result<Option<BlockNumber>, Problem> {
        let blocks = head.blocks.span();
        if let Some(block) = blocks.newest.iter().find(|block| block.hash == *hash) {
            return Ok(Some(block.number));
        }
        for batch in self.reader().all(&trawl_query::blocks::by_hash(hash, &blocks)).await? {
            let candidates = batch.view();
            let found = (0..batch.len()).find(|row| {
                let generation = head.blocks.generation(candidates.block_number[*row]);
                candidates.hash.bytes(*row) == hash.as_slice() && generation == Some(candidates.generation[*row])
            });
            if let Some(row) = found {
                return Ok(Some(candidates.block_number[row]));
            }
        }
        Ok(None)
    }

    /// The readable transaction with this hash, as a batch and a row of it.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn transaction(
        &self,
        hash: &B256,
        head: &Head,
    ) -> Result<Option<(Batch<TransactionRow>, usize)>, Problem> {
        let blocks = head.blocks.span();
        let newest = self.reader().all(&trawl_query::transactions::newest_by_hash(hash, &blocks)).await?;
        if let Some(batch) = newest.into_iter().next() {
            return Ok(Some((batch, 0)));
        }
        for batch in self.reader().all(&trawl_query::transactions::by_hash(hash)).await? {
            let is_settled = |row: &usize| head.blocks.settled().contains(batch.view().block_number[*row]);
            if let Some(row) = (0..batch.len()).find(is_settled) {
                return Ok(Some((batch, row)));
            }
        }
        Ok(None)
    }

    /// The block at a height, if it is readable: a batch of one row.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn block_at(&self, number: BlockNumber, head: &Head) -> Result<Option<Batch<BlockRow>>, Problem> {
        let block = head.blocks.at(number);
        if block.is_empty() {
            return Ok(None);
        }
        Ok(self.reader().all(&trawl_query::blocks::at(&block)).await?.into_iter().next())
    }
}
