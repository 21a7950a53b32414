//! One request of an action that reads.

use std::sync::Arc;

use super::params::Params;
use super::rows::ListRequester;
use crate::app::App;
use crate::rpc::Rpc;
use trawl_core::store::Head;

/// What an action works with.
pub(crate) struct Request {
    pub app: App,
    pub rpc: Rpc,
    pub head: Arc<Head>,
    pub params: Params,
    pub requester: ListRequester,
}
