//! What a fill works with: a source, and the right to write.

use std::sync::Arc;

use trawl_core::store::{Reader, Writer};

use crate::load::prepare::Inspection;
use crate::source::rpc::RpcSource;
use crate::write::lease::LeaseGuard;

/// What a fill works with.
pub struct FillContext {
    /// Where the parts come from.
    pub source: RpcSource,
    /// Where to look.
    pub reader: Reader,
    /// Where to write, for a run with a name of [`trawl_core::store::FILL_RUNS`].
    pub writer: Writer,
    /// The right to.
    pub guard: LeaseGuard,
    /// How blocks are checked.
    pub inspection: Arc<Inspection>,
    /// Blocks decoded at the same time.
    pub decoders: usize,
}
