//! Which token contracts are known, and which have been asked what they are.

use super::{Reader, StoreError};
use crate::primitives::Address;
use crate::schema::Column;
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
    /// The contracts that were asked what they are.
    pub async fn asked_tokens(&self) -> Result<Vec<Address>, StoreError> {
        let statement = Statement::<AskedToken>::page(include_str!("../../sql/queries/asked_tokens.sql"));
        let mut asked = Vec::new();
        for batch in self.all(&statement).await? {
            let view = batch.view();
            asked.extend((0..batch.len()).map(|row| Address::from(*view.address.bytes(row))));
        }
        Ok(asked)
    }

    /// Contracts with transfers that were never asked; not more than 100,000.
    pub async fn unasked_tokens(&self) -> Result<Vec<UnaskedToken>, StoreError> {
        let statement = Statement::<UnaskedToken>::page(include_str!("../../sql/queries/unasked_tokens.sql"));
        let mut unasked = Vec::new();
        for batch in self.all(&statement).await? {
            let view = batch.view();
            unasked.extend((0..batch.len()).map(|row| UnaskedToken {
                address: (*view.address.bytes(row)).into(),
                token_type: String::get(&view.token_type, row).into(),
            }));
        }
        Ok(unasked)
    }
}
