//! Plans for the fields of headers that code can read.

use trawl_core::primitives::{Address, B256, BlockNumber, Bytes, Timestamp, U256};
use trawl_core::schema::columns::{Columns as _, columns};
use trawl_core::statement::{Parameter, Statement, Workload};

columns! {
    /// The fields of a header that code can read.
    pub struct CallHeader / CallHeaderView {
        /// Height of the block.
        block_number: u64,
        /// When the block was made.
        timestamp: Timestamp,
        /// Recipient of the fees.
        miner: Address,
        /// Who made the block.
        producer: Address,
        /// Gas the block may use.
        gas_limit: u64,
        /// Wei a unit of gas (EIP-1559).
        base_fee_per_gas: Option<U256>,
        /// Difficulty under proof of work.
        difficulty: U256,
        /// The randomness beacon (EIP-4399).
        mix_hash: Option<B256>,
        /// Running excess of blob gas (EIP-4844).
        excess_blob_gas: Option<u64>,
        /// Bytes that code cannot read, but whose form shows a fork of some chains.
        extra_data: Bytes,
        /// Columns of the block that its source did not have.
        lacking: Vec<String>,
    }
}

/// Blocks whose headers are read together: a granule of `blocks` has several times as many.
pub const HEADERS_IN_GROUP: BlockNumber = 32;

/// The headers of settled blocks by groups of [`HEADERS_IN_GROUP`]: group 0 begins with block 0.
#[must_use]
pub fn headers(groups: Vec<u64>) -> Statement<CallHeader> {
    let columns = CallHeader::select_list();
    let sql = format!(
        "SELECT {columns}
FROM blocks
WHERE intDiv(block_number, {HEADERS_IN_GROUP}) IN {{groups:Array(UInt64)}}"
    );
    Statement::page(sql).on_behalf_of(Workload::Call).with("groups", Parameter::Numbers(groups))
}
