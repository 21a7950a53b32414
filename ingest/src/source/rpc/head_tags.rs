//! What a node shows of the end of the chain.

use serde_json::json;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_node::{Answer, ErrorKind, Failure, MAX_BATCH, NodeClient};

use crate::decode::{HeaderPeek, peek_header};
use crate::source::SourceError;

/// The end of the chain as a node sees it, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadTags {
    /// The newest block.
    pub newest: HeaderPeek,
    /// The newest block that an honest majority will not leave; `None` if the node knows none.
    pub safe: Option<BlockNumber>,
    /// The newest block that can change no more; `None` if the node knows none.
    pub finalized: Option<BlockNumber>,
}

/// Reads the blocks of the tags.
///
/// # Errors
///
/// If no node answers.
pub async fn head_tags(node: &NodeClient) -> Result<HeadTags, SourceError> {
    let calls = ["latest", "safe", "finalized"].map(|tag| ("eth_getBlockByNumber", json!([tag, false])));
    let looked = node
        .retry("the newest block", || async {
            let mut answers = node.batch(&calls).await?.into_iter();
            let newest = header(answers.next())?.ok_or_else(|| Failure::transient("it has no newest block"))?;
            // A node from before the merge, or of another consensus, refuses the tags or has no block for them.
            let mut tagged = || header(answers.next()).ok().flatten().map(|header| header.number);
            Ok(HeadTags { newest, safe: tagged(), finalized: tagged() })
        })
        .await;
    Ok(looked?)
}

/// The headers of a range, ascending; fewer if the node does not have all of them.
///
/// # Errors
///
/// If no node answers.
pub async fn headers(node: &NodeClient, range: BlockRange) -> Result<Vec<HeaderPeek>, SourceError> {
    let mut headers = Vec::new();
    let numbers: Vec<BlockNumber> = (range.first()..=range.last()).collect();
    for some in numbers.chunks(MAX_BATCH) {
        let calls: Vec<_> =
            some.iter().map(|number| ("eth_getBlockByNumber", json!([format!("{number:#x}"), false]))).collect();
        let found = node
            .retry(&format!("headers {range}"), || async {
                node.batch(&calls).await?.into_iter().map(|answer| header(Some(answer))).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        headers.extend(found.into_iter().map_while(|header| header));
    }
    Ok(headers)
}

fn header(answer: Option<Answer>) -> Result<Option<HeaderPeek>, Failure> {
    let value = match answer.ok_or_else(|| Failure::transient("no answer"))? {
        // Some nodes refuse what others answer with null.
        Err(error) if error.kind() == ErrorKind::UnknownBlock => return Ok(None),
        answer => answer?,
    };
    if value.get() == "null" {
        return Ok(None);
    }
    peek_header(&value).map(Some).map_err(|error| Failure::transient(trawl_core::error_chain(&error)))
}
