//! Token contracts by whether their metadata is stored.

use crate::primitives::Address;
use crate::schema::TokenRow;
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

/// Which of the known contracts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenSelection {
    /// All contracts whose metadata is stored.
    All,
    /// Those without a name, a symbol or decimals that their standard has: ERC-1155 has none of them, ERC-721 no
    /// decimals.
    Incomplete,
}

columns! {
    /// A contract whose metadata is stored.
    pub struct FetchedToken / FetchedTokenView {
        /// The token contract.
        address: Address,
    }
}

columns! {
    /// A contract whose metadata is not stored yet.
    pub struct UnfetchedToken / UnfetchedTokenView {
        /// The token contract.
        address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`: the shape of its first transfer.
        token_type: String,
    }
}

impl Reader {
    /// Those of `addresses` whose metadata is stored. Takes a thousand at most, as they are sent in the URL.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn fetched_tokens(&self, addresses: &[Address]) -> Result<Vec<Address>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/fetched_tokens.sql");
        let statement = Statement::<FetchedToken>::page(sql).with("addresses", addresses);
        Ok(self.rows(&statement).await?.into_iter().map(|row| row.address).collect())
    }

    /// The newest metadata of contracts behind `after`, in the order of the contracts; `limit` of them at most.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn tokens_after(
        &self,
        after: Address,
        selection: TokenSelection,
        limit: u64,
    ) -> Result<Vec<TokenRow>, StoreError> {
        let statement = Statement::<TokenRow>::scan(include_str!("../../../../../sql/queries/tokens_after.sql"))
            .with("after", &after)
            .with("are_all", u64::from(selection == TokenSelection::All))
            .with("limit", limit);
        self.rows(&statement).await
    }

    /// Contracts with transfers whose metadata is not stored; not more than 100,000. Reads all transfers, without a
    /// time limit.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn unfetched_tokens(&self) -> Result<Vec<UnfetchedToken>, StoreError> {
        let statement =
            Statement::<UnfetchedToken>::scan(include_str!("../../../../../sql/queries/unfetched_tokens.sql"));
        self.rows(&statement).await
    }
}
