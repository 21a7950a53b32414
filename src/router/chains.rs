//! The chains of a server: each has all routes, as a server of its own has them.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tower::ServiceExt;
use trawl_core::served_chain::ServedChain;
use trawl_metrics::Exposition;

use super::routes::router;
use crate::app::App;
use crate::rpc::Rpc;
use crate::web::Web;

/// One of several chains.
#[derive(Clone)]
pub struct ChainService {
    chain: ServedChain,
    rpc: Rpc,
    has_page: bool,
    routes: Router,
}

impl ChainService {
    /// All routes of a chain, below its name.
    #[must_use]
    pub fn new(chain: ServedChain, rpc: Rpc, web: Web) -> Self {
        let has_page = matches!(web, Web::Index(_));
        Self { chain, has_page, routes: router(rpc.clone(), web), rpc }
    }

    /// What its paths begin with.
    pub(super) fn name(&self) -> &'static str {
        self.chain.name()
    }

    /// As its metrics and its log have it.
    pub(super) fn chain(&self) -> ServedChain {
        self.chain
    }

    pub(super) fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    pub(super) fn app(&self) -> &App {
        self.rpc.app()
    }

    /// Its chain id, if that is known.
    pub(super) fn id(&self) -> Option<u64> {
        self.app().known_chain_id()
    }

    /// Whether it has a page.
    pub(super) fn has_page(&self) -> bool {
        self.has_page
    }

    pub(super) async fn answer(&self, request: Request) -> Response {
        let answer = self.chain.scope(self.routes.clone().oneshot(request));
        answer.await.unwrap_or_else(|never| match never {})
    }
}

/// All chains of a server, in the order of its operator.
#[derive(Clone)]
pub(super) struct Chains {
    pub services: Arc<[ChainService]>,
    pub exposition: Exposition,
}
