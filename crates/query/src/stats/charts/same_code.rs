//! Who created contracts of the same code.

use super::{MAX_GROUPS, MAX_NEWEST, of_blocks};
use crate::select::{Select, settled_blocks};
use trawl_core::primitives::{Address, B256, BlockRange, Timestamp};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// What an account created.
    pub struct CreatorSum / CreatorSumView {
        /// The sender, or the contract that ran the creation.
        creator: Address,
        /// Contracts of this code that it created.
        creations: u64,
        /// Block of the first one.
        first_block: u64,
        /// Timestamp of that block.
        first_at: Timestamp,
        /// Block of the last one.
        last_block: u64,
        /// Timestamp of that block.
        last_at: Timestamp,
    }
}

columns! {
    /// A creation of a contract, with what creators are counted by.
    pub struct Creation / CreationView {
        /// Height of its block.
        block_number: u64,
        /// Time of its block.
        block_timestamp: Timestamp,
        /// Who created it.
        creator: Address,
        /// Hash of its code; none where it is not known.
        code_hash: Option<B256>,
    }
}

columns! {
    /// How much there is to read.
    pub struct CreationsSize / CreationsSizeView {
        /// Creations of contracts.
        found: u64,
    }
}

/// Most creations among which those of a code are looked for: the table is ordered by contract, not by code.
pub const MAX_CREATIONS: u64 = 40_000_000;

/// How many creations there are, about: those of blocks that are not readable are counted too.
#[must_use]
pub fn size() -> Statement<CreationsSize> {
    let mut statement = Statement::page("SELECT count() AS found FROM contracts");
    statement.workload = Workload::Scan;
    statement
}

/// The creations of contracts of a code in settled blocks, by who created them.
#[must_use]
pub fn sums(code_hash: &B256, settled: &[BlockRange]) -> Statement<CreatorSum> {
    let sql = format!(
        "SELECT creator, count() AS creations,
  min(block_number) AS first_block, min(block_timestamp) AS first_at,
  max(block_number) AS last_block, max(block_timestamp) AS last_at
FROM contracts
WHERE code_hash = toFixedString(unhex({{code_hash:String}}), 32)
  AND {}
GROUP BY creator
ORDER BY creator
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    of_blocks(settled, sql).with("code_hash", code_hash).with("limit", MAX_GROUPS)
}

/// All creations in the blocks of `span`.
#[must_use]
pub fn newest(span: &Span) -> Statement<Creation> {
    Select::default().blocks("block_number", span).page("contracts", "block_number, transaction_index", MAX_NEWEST)
}
