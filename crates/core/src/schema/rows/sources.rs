//! `contract_sources` and `source_contents`.

use crate::primitives::{Address, B256, Bytes, Timestamp};
use crate::schema::columns::table;

table! {
    /// The source code of a contract as its compiler was given it.
    pub struct ContractSourceRow / ContractSourceView / ContractSourceBuilder in "contract_sources" {
        /// The contract whose source it is.
        address: Address,
        /// The load it belongs to.
        generation: u64,
        /// Name of the contract in its source.
        name: String,
        /// File that declares it; empty if not stated.
        file_path: String,
        /// `Solidity`, `Vyper`, `Yul` and so on; empty if not stated.
        language: String,
        /// With its commit and without a leading v; empty if not stated.
        compiler_version: String,
        /// JSON object of the compiler's settings; empty if not stated.
        settings: String,
        /// `sourcify`, `etherscan` or `blockscout`; empty if no service did.
        verifier: String,
        /// `exact` or `partial`; empty if not stated.
        match_type: String,
        /// ABI-encoded; empty for none or if not stated.
        constructor_arguments: Bytes,
        /// When the service verified it.
        verified_at: Option<Timestamp>,
        /// Paths of its files.
        paths: Vec<String>,
        /// Keccak-256 of the text of each file.
        content_hashes: Vec<B256>,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}

table! {
    /// The text of a source file.
    pub struct SourceContentRow / SourceContentView / SourceContentBuilder in "source_contents" {
        /// Keccak-256 of the text.
        content_hash: B256,
        /// The text of the file.
        content: String,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}
