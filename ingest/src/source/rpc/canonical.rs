//! Whether a block that a node gave is still the one at its height, after the same node said that it does not know it.

use serde_json::json;
use trawl_node::{Failure, NodeClient};

use super::answer::present;
use crate::decode::{self, BlockPeek};

/// Blocks so far below the newest are known to all nodes behind one address: what one of them does not have of such a
/// block, it does not keep.
const SURELY_KNOWN_DEPTH: u64 = 16;

/// Where a block stands in the chain of the node in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CanonicalStatus {
    /// Another block is at its height, or none.
    Replaced,
    /// It is at the head of the chain.
    New,
    /// It is far below the head.
    Old,
}

impl CanonicalStatus {
    /// Where a block stands now.
    pub async fn of(client: &NodeClient, block: &BlockPeek) -> Result<Self, Failure> {
        let height = json!(format!("{:#x}", block.number));
        let calls =
            ["latest".into(), height].map(|tag: serde_json::Value| ("eth_getBlockByNumber", json!([tag, false])));
        let mut answers = client.batch(&calls).await?.into_iter();
        let newest = present(answers.next(), "it has no newest block")?;
        let garbled = |error: decode::DecodeError| Failure::transient(trawl_core::error_chain(&error));
        let newest = decode::peek_header(&newest).map_err(garbled)?.number;
        match answers.next() {
            // Chains that became shorter.
            Some(Ok(value)) if value.get() == "null" => Ok(Self::Replaced),
            answer => {
                let header = decode::peek_header(&present(answer, "its header is not there")?).map_err(garbled)?;
                Ok(match header.hash == block.hash {
                    false => Self::Replaced,
                    true if block.number + SURELY_KNOWN_DEPTH <= newest => Self::Old,
                    true => Self::New,
                })
            }
        }
    }
}
