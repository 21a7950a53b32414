//! Plans for the source code of contracts that operators loaded.

use trawl_core::primitives::{Address, B256, Bytes, Timestamp};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// The source of a contract, without its texts.
    pub struct LoadedSource / LoadedSourceView {
        /// The contract whose source it is.
        address: Address,
        /// The load it belongs to.
        generation: u64,
        /// Name of the contract in its source.
        name: String,
        /// File that declares it; empty if not stated.
        file_path: String,
        /// `Solidity`, `Vyper` and so on; empty if not stated.
        language: String,
        /// Without a leading v; empty if not stated.
        compiler_version: String,
        /// JSON object; empty if not stated.
        settings: String,
        /// Who verified it; empty if nobody did.
        verifier: String,
        /// `exact` or `partial`; empty if not stated.
        match_type: String,
        /// Empty for none or if not stated.
        constructor_arguments: Bytes,
        /// When it was verified.
        verified_at: Option<Timestamp>,
        /// Paths of its files.
        paths: Vec<String>,
        /// Keccak-256 of the text of each.
        content_hashes: Vec<B256>,
    }
}

columns! {
    /// The text of a source file.
    pub struct LoadedContent / LoadedContentView {
        /// Keccak-256 of the text.
        content_hash: B256,
        /// The text of the file.
        content: String,
    }
}

/// Most texts of one statement, as their hashes are sent in the URL of a request.
pub const MAX_CONTENTS: usize = 400;

/// The newest sources of some contracts, four at most of each; that of the load which its label names counts.
#[must_use]
pub fn of_contracts(contracts: &[Address]) -> Statement<LoadedSource> {
    Statement::page(include_str!("../../../sql/queries/sources_of_contracts.sql")).with("addresses", contracts)
}

/// Texts by their hashes, [`MAX_CONTENTS`] at most.
#[must_use]
pub fn contents(hashes: &[B256]) -> Statement<LoadedContent> {
    Statement::page(include_str!("../../../sql/queries/contents_by_hash.sql")).with("hashes", hashes)
}
