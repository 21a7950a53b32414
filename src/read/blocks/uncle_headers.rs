//! The headers of the uncles that a block names, in the shape that is hashed.

use alloy_consensus::Header;
use alloy_primitives::{Bloom, keccak256};

use crate::app::App;
use crate::error::Problem;
use crate::read::transactions::receipt_trie::Reason;
use trawl_core::schema::{BlockPart, BlockRow, UncleRow};
use trawl_core::store::Head;

/// Most uncles of a block that are put together; Ethereum allows two.
const MAX_UNCLES: usize = 16;

impl App {
    /// The headers of the uncles of a block, in order. Each hashes to the hash by which the block names it.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where a row does not; [`Problem::PartMissing`] without the uncles; or when the store
    /// fails.
    pub(crate) async fn uncle_headers(&self, head: &Head, block: &BlockRow) -> Result<Vec<Header>, Problem> {
        let number = block.block_number;
        let not_encodable = |reason| Problem::NotEncodable(number, reason);
        if block.uncles.len() > MAX_UNCLES {
            return Err(not_encodable(format!("it has more than {MAX_UNCLES} uncles")));
        }
        let missing = || Problem::PartMissing { part: BlockPart::Uncles, block: number };
        if !block.uncles.is_empty() && !head.uncles.contains(number) {
            return Err(missing());
        }
        let mut headers = Vec::with_capacity(block.uncles.len());
        for hash in &block.uncles {
            let statement = trawl_query::blocks::uncles::of_nephew(&head.uncles.at(number), number, hash);
            let rows = self.rows_of(head, &statement).await?;
            let row = rows.iter().flat_map(|batch| batch.rows()).next().ok_or_else(missing)?;
            headers.push(header(row).map_err(not_encodable)?);
        }
        Ok(headers)
    }
}

fn header(uncle: UncleRow) -> Result<Header, Reason> {
    let base_fee_per_gas = uncle.base_fee_per_gas.map(u64::try_from).transpose();
    let header = Header {
        parent_hash: uncle.parent_hash,
        ommers_hash: uncle.sha3_uncles,
        beneficiary: uncle.miner,
        state_root: uncle.state_root,
        transactions_root: uncle.transactions_root,
        receipts_root: uncle.receipts_root,
        logs_bloom: Bloom(uncle.logs_bloom),
        difficulty: uncle.difficulty,
        number: uncle.block_number,
        gas_limit: uncle.gas_limit,
        gas_used: uncle.gas_used,
        timestamp: uncle.timestamp.seconds(),
        extra_data: uncle.extra_data,
        mix_hash: uncle.mix_hash.unwrap_or_default(),
        nonce: uncle.nonce.unwrap_or_default(),
        base_fee_per_gas: base_fee_per_gas.map_err(|_| "the base fee of an uncle has more than 64 bits")?,
        ..Header::default()
    };
    let found = keccak256(alloy_rlp::encode(&header));
    if found != uncle.hash {
        return Err(format!("what is indexed of the uncle {} has the hash {found}", uncle.hash));
    }
    Ok(header)
}
