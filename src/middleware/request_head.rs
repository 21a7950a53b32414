//! The head of a request: taken once, by the first that needs it, and handed down.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;

use crate::app::App;
use crate::error::Problem;
use crate::options::Gaps;
use trawl_core::store::Head;

/// What is readable for this request: the head that a middleware took, else the newest one.
#[derive(Clone)]
pub(crate) struct RequestHead {
    known: Option<Arc<Head>>,
    usable: Result<Arc<Head>, Problem>,
    gaps: Gaps,
}

impl RequestHead {
    /// The head as of now.
    pub fn take(app: &App) -> Self {
        let known = app.known_head();
        let usable = known.clone().and_then(|head| app.usable(head));
        Self { usable, known: known.ok(), gaps: app.options().gaps }
    }

    /// The head that is known, also while the store is away: under it, answers in memory are good.
    pub fn known(&self) -> Option<&Arc<Head>> {
        self.known.as_ref()
    }

    /// The head, for an answer that may need any block: lists go back as far as the chain, and every object shows what
    /// is known of addresses.
    ///
    /// # Errors
    ///
    /// As [`RequestHead::for_range`]; and, unless the options allow gaps, when rows of some blocks were lost. A handler
    /// checks its parameters first.
    pub fn get(self) -> Result<Arc<Head>, Problem> {
        let gaps = self.gaps;
        let head = self.for_range()?;
        let lost = head.damage.shown();
        if gaps == Gaps::Refuse && !lost.is_empty() {
            return Err(Problem::BlocksMissing(lost.ranges().to_vec()));
        }
        Ok(head)
    }

    /// The head, for an answer that looks for missing blocks itself.
    ///
    /// # Errors
    ///
    /// When nothing can be answered, as [`App::head`] says; and, unless the options allow gaps, when rows about tokens,
    /// labels or signatures were lost.
    pub fn for_range(self) -> Result<Arc<Head>, Problem> {
        let head = self.usable?;
        if self.gaps == Gaps::Refuse && head.damage.hits_descriptions() {
            return Err(Problem::Damaged);
        }
        Ok(head)
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
