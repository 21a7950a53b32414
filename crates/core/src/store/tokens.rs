//! Which token contracts are known, and which have been asked what they are.

use super::{Reader, StoreError};
use crate::primitives::Address;
use crate::schema::columns::columns;
use crate::statement::Statement;

columns! {
    /// A contract that was asked.
    pub struct AskedToken / AskedTokenView {
        /// The contract.
        address: Address,
    }
}

columns! {
    /// A contract that was not asked yet.
    pub struct UnaskedToken / UnaskedTokenView {
        /// The contract.
        address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`: the shape of its first transfer.
        token_type: String,
    }
}

impl Reader {
    /// Those of `addresses` that were asked what they are; a thousand at most, as they travel in the address of a request.
    pub async fn asked_tokens(&self, addresses: &[Address]) -> Result<Vec<Address>, StoreError> {
        let sql = include_str!("../../../../sql/queries/asked_tokens.sql");
        let statement = Statement::<AskedToken>::page(sql).with("addresses", addresses);
        Ok(self.rows(&statement).await?.into_iter().map(|row| row.address).collect())
    }

    /// Contracts with transfers that were never asked; not more than 100,000. Reads all transfers, however long that
    /// takes.
    pub async fn unasked_tokens(&self) -> Result<Vec<UnaskedToken>, StoreError> {
        let statement = Statement::<UnaskedToken>::scan(include_str!("../../../../sql/queries/unasked_tokens.sql"));
        self.rows(&statement).await
    }
}
