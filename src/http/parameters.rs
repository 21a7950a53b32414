//! What a handler takes of a request's path and query, read before it runs: wrong ones never reach it.

use std::marker::PhantomData;
use std::ops::Deref;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::query::{BlockId, ParameterGroup, Query, address, block_id, token_id, transaction_hash};
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, U256};

/// The query parameters that an endpoint declares.
pub(crate) trait QueryParameters {
    /// All of them; others are refused.
    const GROUPS: &'static [ParameterGroup];
}

/// Declares the query parameters of endpoints: a type that stands for the groups it takes.
macro_rules! query_parameters {
    ($($(#[$doc:meta])* $visibility:vis $name:ident: [$($group:expr),* $(,)?];)*) => {$(
        $(#[$doc])*
        $visibility struct $name;

        impl $crate::http::parameters::QueryParameters for $name {
            const GROUPS: &'static [$crate::http::query::ParameterGroup] = &[$($group),*];
        }
    )*};
}

pub(crate) use query_parameters;

query_parameters! {
    /// Of an endpoint that takes no parameters of its own.
    pub(crate) NoParameters: [];
}

/// The query of a request, with the parameters that `P` declares.
pub(crate) struct Parameters<P> {
    query: Query,
    declared: PhantomData<P>,
}

impl<P> Parameters<P> {
    /// The query itself.
    pub fn into_query(self) -> Query {
        self.query
    }
}

impl<P> Deref for Parameters<P> {
    type Target = Query;

    fn deref(&self) -> &Query {
        &self.query
    }
}

impl<S: Sync, P: QueryParameters> FromRequestParts<S> for Parameters<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let query = Query::read(parts.uri.query().unwrap_or_default(), P::GROUPS)?;
        Ok(Self { query, declared: PhantomData })
    }
}

/// The address of a path, in any letter case.
pub(crate) struct AddressPath(pub Address);

impl<S: Send + Sync> FromRequestParts<S> for AddressPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await?;
        address(&text).map(Self)
    }
}

/// The hash of a transaction in a path, in any letter case.
pub(crate) struct TransactionPath(pub B256);

impl<S: Send + Sync> FromRequestParts<S> for TransactionPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await?;
        transaction_hash(&text).map(Self)
    }
}

/// The height or hash of a block in a path.
pub(crate) struct BlockPath(pub BlockId);

impl<S: Send + Sync> FromRequestParts<S> for BlockPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await?;
        block_id(&text).map(Self)
    }
}

/// A token and one of its ids in a path.
pub(crate) struct InstancePath {
    /// Address of the token contract.
    pub token: Address,
    /// The id in it.
    pub id: U256,
}

impl<S: Send + Sync> FromRequestParts<S> for InstancePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Path((token, id)) = Path::<(String, String)>::from_request_parts(parts, state).await?;
        Ok(Self { token: address(&token)?, id: token_id(&id)? })
    }
}

/// A path whose percent-escapes are no UTF-8.
impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Self {
        Self::Malformed
    }
}
