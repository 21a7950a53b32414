//! Fields of headers that code can read.

use std::collections::HashMap;
use std::sync::Arc;

use super::{State, block_context};
use crate::error::Problem;
use crate::read::completeness::{is_rpc_block, require_block};
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::schema::BlockRow;
use trawl_core::store::StoreError;
use trawl_evm::{BlockContext, Fact, Key, StateValue};
use trawl_query::state::headers::{CallHeader, HEADERS_IN_GROUP, headers};

impl State {
    /// The header of a block, and those of settled blocks around it that were read with it.
    pub(super) async fn headers(&self, number: BlockNumber) -> Result<Vec<(Key, Fact)>, Problem> {
        let fact = |context: BlockContext| {
            let number = context.number;
            (Key::Block(number), self.fact_of(number, StateValue::Block(Arc::new(context))))
        };
        if self.is_in_settled_tables(number) {
            let group: Vec<_> = self.header_group(number).await?.into_iter().map(fact).collect();
            if group.iter().any(|(key, _)| *key == Key::Block(number)) {
                return Ok(group);
            }
        }
        let batch = self.app.block_at(number, &self.head).await?.ok_or(Problem::BlockNotFound)?;
        require_block(&batch.view(), 0)?;
        let block: BlockRow = batch.rows().next().ok_or(Problem::BlockNotFound)?;
        Ok(vec![fact(block_context(&block))])
    }

    /// Whether a block is read from tables, and never changes.
    fn is_in_settled_tables(&self, number: BlockNumber) -> bool {
        let is_in_memory = !self.newest.recent.within(BlockRange::single(number)).is_empty();
        self.head.blocks.settled().contains(number) && !is_in_memory
    }

    /// Headers of the settled blocks of a group, without those of which the source did not have all.
    async fn header_group(&self, number: BlockNumber) -> Result<Vec<BlockContext>, StoreError> {
        let read = async |groups: Vec<u64>| {
            let rows = self.app.reader().rows(&headers(groups.clone())).await?;
            let mut by_group: HashMap<u64, Vec<CallHeader>> = groups.into_iter().map(|it| (it, Vec::new())).collect();
            for row in rows {
                by_group.entry(row.block_number / HEADERS_IN_GROUP).or_default().push(row);
            }
            Ok(by_group.into_iter().map(|(group, rows)| (group, Arc::from(rows))).collect())
        };
        let group = number / HEADERS_IN_GROUP;
        let found = self.app.state_loads().headers.load((), &[group], read).await?;
        let is_usable = |header: &&CallHeader| {
            self.head.blocks.settled().contains(header.block_number) && is_rpc_block(&header.lacking)
        };
        Ok(found[&group].iter().filter(is_usable).map(context).collect())
    }
}

fn context(header: &CallHeader) -> BlockContext {
    BlockContext {
        number: header.block_number,
        timestamp: header.timestamp.seconds(),
        miner: header.miner,
        producer: header.producer,
        gas_limit: header.gas_limit,
        base_fee_per_gas: header.base_fee_per_gas.unwrap_or(U256::ZERO).saturating_to(),
        difficulty: header.difficulty,
        mix_hash: header.mix_hash,
        excess_blob_gas: header.excess_blob_gas,
        extra_data: header.extra_data.clone(),
    }
}
