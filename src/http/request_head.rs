//! The head of a request: taken once, by the first that needs it, and handed down.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;

use crate::app::App;
use crate::error::Problem;
use trawl_core::store::Head;

/// What is readable for this request: the head that a middleware took, else the newest one.
#[derive(Clone)]
pub(crate) struct RequestHead {
    known: Option<Arc<Head>>,
    usable: Result<Arc<Head>, Problem>,
}

impl RequestHead {
    /// The head as of now.
    pub fn take(app: &App) -> Self {
        let known = app.known_head();
        Self { usable: known.clone().and_then(|head| app.while_reachable(head)), known: known.ok() }
    }

    /// The head that is known, also while the store is away: under it, answers in memory are good.
    pub fn known(&self) -> Option<&Arc<Head>> {
        self.known.as_ref()
    }

    /// The head, for an answer that is read.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while no head is known, [`Problem::Unreachable`] while the store is away. A handler checks
    /// its parameters first.
    pub fn get(self) -> Result<Arc<Head>, Problem> {
        self.usable
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestHead
where
    App: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().cloned().unwrap_or_else(|| Self::take(&App::from_ref(state))))
    }
}
