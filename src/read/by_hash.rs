//! Lookups of readable blocks and transactions by hash.

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::{BlockRow, TransactionRow};
use trawl_core::store::{Batch, Head};
use trawl_query::blocks::BlockCandidate;

impl App {
    /// The height of the readable block with this hash.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn block_with_hash(&self, hash: &B256, head: &Head) -> Result<Option<BlockNumber>, Problem> {
        let blocks = head.blocks.span();
        if let Some((number, _)) = blocks.newest.find_newest("blocks", &[("hash", hash.as_slice())]) {
            return Ok(Some(number));
        }
        let statement = trawl_query::blocks::by_hash(hash, &blocks);
        // Whose generation is another one is of another branch, or not committed.
        let find = |batches: &[Batch<BlockCandidate>]| {
            batches.iter().find_map(|batch| {
                let candidates = batch.view();
                let found = (0..batch.len()).find(|row| {
                    let generation = head.blocks.generation(candidates.block_number[*row]);
                    candidates.hash.bytes(*row) == hash.as_slice() && generation == Some(candidates.generation[*row])
                });
                found.map(|row| candidates.block_number[row])
            })
        };
        match self.found_before(head, &statement, find).await {
            Some(number) => Ok(Some(number)),
            None => self.find(head, &statement, find).await,
        }
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
        let statement = trawl_query::transactions::by_hash(hash);
        let find = |batches: &[Batch<TransactionRow>]| {
            batches.iter().find_map(|batch| {
                let is_settled = |row: &usize| head.blocks.settled().contains(batch.view().block_number[*row]);
                Some((batch.clone(), (0..batch.len()).find(is_settled)?))
            })
        };
        if let Some(found) = self.found_before(head, &statement, find).await {
            return Ok(Some(found));
        }
        let blocks = head.blocks.span();
        let newest = self.reader().all(&trawl_query::transactions::newest_by_hash(hash, &blocks)).await?;
        if let Some(batch) = newest.into_iter().next() {
            return Ok(Some((batch, 0)));
        }
        self.find(head, &statement, find).await
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
        Ok(self.rows_of(head, &trawl_query::blocks::at(&block)).await?.first().cloned())
    }
}
