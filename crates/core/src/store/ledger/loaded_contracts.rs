//! ABIs and sources of contracts that are stored, which a further load compares with.

use super::labels::MAX_KEYS;
use crate::primitives::{Address, B256};
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

columns! {
    /// How much of an ABI a load brought.
    pub struct StoredAbi / StoredAbiView {
        /// The contract that was loaded.
        address: Address,
        /// The load that brought it.
        generation: u64,
        /// Entries that are there.
        entries: u64,
    }
}

columns! {
    /// A load that brought the source of a contract.
    pub struct StoredSource / StoredSourceView {
        /// The contract that was loaded.
        address: Address,
        /// The load that brought it.
        generation: u64,
    }
}

columns! {
    /// A text of a source file that is stored.
    pub struct StoredContent / StoredContentView {
        /// Keccak-256 of the text.
        content_hash: B256,
    }
}

impl Reader {
    /// The entries of ABIs that some contracts have, by load.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_abis(&self, addresses: &[Address]) -> Result<Vec<StoredAbi>, StoreError> {
        let mut stored = Vec::new();
        for some in addresses.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/stored_abis.sql");
            stored.extend(self.rows(&Statement::page(sql).with("addresses", some)).await?);
        }
        Ok(stored)
    }

    /// The loads that brought sources of some contracts.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_sources(&self, addresses: &[Address]) -> Result<Vec<StoredSource>, StoreError> {
        let mut stored = Vec::new();
        for some in addresses.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/stored_sources.sql");
            stored.extend(self.rows(&Statement::page(sql).with("addresses", some)).await?);
        }
        Ok(stored)
    }

    /// Which texts of source files are stored.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_contents(&self, hashes: &[B256]) -> Result<Vec<StoredContent>, StoreError> {
        let mut stored = Vec::new();
        for some in hashes.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/stored_contents.sql");
            stored.extend(self.rows(&Statement::page(sql).with("hashes", some)).await?);
        }
        Ok(stored)
    }
}
