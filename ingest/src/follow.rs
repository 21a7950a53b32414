//! Keeps up with the head of a node, over reorganisations.
//!
//! The rows of each new block are packed into one value. A row of `ingest_heads` carries those that are new and names
//! which count, so that readers move from one branch to another in one step; large blocks are written to `hot_rows`
//! before. For readers of SQL the same rows follow in the typed hot tables, in groups, if they do not settle before.
//! Blocks that are final are loaded, or written from their packed rows, into the settled tables, where nothing ever
//! changes.
//!
//! In memory: what a load holds, a group of blocks for the typed tables, what is being settled, and a few hundred bytes
//! for every block that is not final.

use tokio::sync::watch;
use trawl_node::NodeError;

use crate::load::error::LoadError;
use crate::source::SourceError;

mod branch;
mod branch_segment;
mod error;
mod extending;
mod follower;
mod fork;
mod hot;
mod pending;
mod publisher;
mod settled;
mod settling;
mod settling_group;
mod stored;
mod unpacked;

pub use error::FollowError;
use follower::{Follower, Step};
pub use follower::{Settings, Tools};

/// Follows until `stop` becomes true.
///
/// # Errors
///
/// If the node gives a block that does not verify, ClickHouse does not answer, or the node's chain is another one.
pub async fn follow(tools: Tools, settings: Settings, mut stop: watch::Receiver<bool>) -> Result<(), FollowError> {
    let mut follower = Follower::start(tools, settings).await?;
    let mut is_away = false;
    while !*stop.borrow() {
        let step = match follower.step(&stop).await {
            Ok(step) => {
                if std::mem::take(&mut is_away) {
                    tracing::info!("the node answers again");
                }
                step
            }
            // Nodes restart, and others stand in for them; the follower waits.
            Err(error) if follower.has_seen() && is_of_nodes(&error) => {
                if !std::mem::replace(&mut is_away, true) {
                    tracing::warn!(error = %trawl_core::error_chain(&error), "waiting for the node");
                }
                follower.rest().await?;
                Step::Idle
            }
            // It is asked for nothing more.
            Err(FollowError::Load(LoadError::Source(SourceError::Node(NodeError::Stopped { .. })))) => break,
            Err(error) => return Err(error),
        };
        if step == Step::Idle {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => {}
                () = tokio::time::sleep(settings.poll) => {}
            }
        }
    }
    follower.finish().await
}

/// Whether the nodes are away, or others than they were: that passes.
fn is_of_nodes(error: &FollowError) -> bool {
    let FollowError::Load(LoadError::Source(SourceError::Node(error))) = error else { return false };
    use NodeError::{Denied, Foreign, UnknownBlock, Unreachable};
    matches!(error, Unreachable { .. } | Denied { .. } | Foreign { .. } | UnknownBlock { .. })
}
