//! Plans for the source code of contracts that operators loaded.

use trawl_core::primitives::{Address, B256};
use trawl_core::schema::{ContractSourceRow, SourceContentRow};
use trawl_core::statement::Statement;

/// Most texts of one statement, as their hashes are sent in the URL of a request.
pub const MAX_CONTENTS: usize = 400;

/// The source of a contract that the load `generation` brought.
#[must_use]
pub fn of_contract(contract: &Address, generation: u64) -> Statement<ContractSourceRow> {
    Statement::page(include_str!("../../../sql/queries/source_of_contract.sql"))
        .with("address", contract)
        .with("generation", generation)
}

/// The newest source of each contract, without its files.
#[must_use]
pub fn compilers(contracts: &[Address]) -> Statement<ContractSourceRow> {
    Statement::page(include_str!("../../../sql/queries/sources_of_contracts.sql")).with("addresses", contracts)
}

/// Texts by their hashes, [`MAX_CONTENTS`] at most.
#[must_use]
pub fn contents(hashes: &[B256]) -> Statement<SourceContentRow> {
    Statement::page(include_str!("../../../sql/queries/contents_by_hash.sql")).with("hashes", hashes)
}
