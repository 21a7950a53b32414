//! `debug_getRawHeader`, `debug_getRawBlock`, `debug_getRawReceipts`, `debug_getRawTransaction`,
//! `eth_getRawTransactionByHash`: the bytes that were hashed.

use crate::error::Problem;
use crate::http::values::{bytes32, invalid};
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::{block_id, value};
use trawl_core::primitives::BlockNumber;

/// The header of a block.
pub(crate) async fn header(call: Context<'_>) -> Result<Answer, Problem> {
    let number = height(call).await?;
    let bytes = call.app.encoded_header(call.head()?, number).await?;
    Ok(Answer::of(|writer| writer.hex(&bytes)))
}

/// A block as it travels between nodes.
pub(crate) async fn block(call: Context<'_>) -> Result<Answer, Problem> {
    let number = height(call).await?;
    let bytes = call.app.encoded_block(call.head()?, number).await?;
    Ok(Answer::of(|writer| writer.hex(&bytes)))
}

/// The receipts of a block, in order.
pub(crate) async fn receipts(call: Context<'_>) -> Result<Answer, Problem> {
    let number = height(call).await?;
    let receipts = call.app.encoded_receipts(call.head()?, number).await?;
    Ok(Answer::of(|writer| writer.array(|array| receipts.iter().for_each(|bytes| array.item().hex(bytes)))))
}

/// A transaction as it was signed; `null` if it is not readable.
pub(crate) async fn transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash] = call.exactly()?;
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let bytes = call.app.encoded_transaction(call.head()?, &hash).await?;
    Ok(bytes.map_or_else(Answer::null, |bytes| Answer::of(|writer| writer.hex(&bytes))))
}

/// The height of the block that the only parameter names.
async fn height(call: Context<'_>) -> Result<BlockNumber, Problem> {
    let [block] = call.exactly()?;
    let block = block_id(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    block.number(call.app, call.head()?).await?.ok_or(Problem::BlockNotFound)
}
