//! `trawl_getReceiptProof`: a receipt that anyone who knows the hash of its block can check; and `eth_getProof`, which
//! only a node can answer.

use super::answer::Answer;
use super::context::Context;
use super::params::value;
use crate::error::Problem;
use crate::values::{bytes32, invalid};

/// The receipt of a transaction with its path in the trie of its block; `null` if the transaction is not readable.
pub(super) async fn receipt(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash] = call.exactly()?;
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(Answer::null()) };
    let place = (batch.view().block_number[row], batch.view().transaction_index[row]);
    let proof = app.receipt_proof(head, place).await?;
    Ok(Answer::of(|writer| proof.write_rpc(writer)))
}

/// Refuses to prove state: that takes the tries, of which the tables have the values alone.
pub(super) async fn state(_: Context<'_>) -> Result<Answer, Problem> {
    Err(Problem::NoStateProofs)
}
