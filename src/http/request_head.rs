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
pub(crate) struct RequestHead(Result<Arc<Head>, Problem>);

impl RequestHead {
    /// The head as of now.
    pub fn take(app: &App) -> Self {
        Self(app.head())
    }

    /// The head.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while no head is known. A handler checks its parameters first.
    pub fn get(self) -> Result<Arc<Head>, Problem> {
        self.0
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
