//! What the JSON-RPC endpoints share beside the rest of the API: fees that were read, filters, and open connections.

use std::sync::Arc;

use axum::extract::FromRef;

use super::fees::cache::FeeCache;
use super::filters::store::FilterStore;
use super::sockets::connections::Sockets;
use crate::app::App;

/// The state of the JSON-RPC routes, and of those that answer by its methods.
#[derive(Clone)]
pub struct Rpc(Arc<RpcState>);

struct RpcState {
    app: App,
    fees: FeeCache,
    filters: FilterStore,
    sockets: Sockets,
}

impl Rpc {
    /// The endpoints over an application.
    #[must_use]
    pub fn new(app: App) -> Self {
        let sockets = Sockets::new(app.options().sockets);
        Self(Arc::new(RpcState { app, fees: FeeCache::default(), filters: FilterStore::new(), sockets }))
    }

    /// What all routes share: store, head, caches and settings.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.0.app
    }

    pub(super) fn fees(&self) -> &FeeCache {
        &self.0.fees
    }

    pub(super) fn filters(&self) -> &FilterStore {
        &self.0.filters
    }

    pub(super) fn sockets(&self) -> &Sockets {
        &self.0.sockets
    }

    /// Closes all WebSocket connections with a close code, and waits up to two seconds for their clients.
    pub async fn end_sockets(&self) {
        self.0.sockets.end().await;
    }
}

impl FromRef<Rpc> for App {
    fn from_ref(rpc: &Rpc) -> Self {
        rpc.app().clone()
    }
}
