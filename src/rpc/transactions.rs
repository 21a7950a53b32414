//! `eth_getTransactionByHash`, `eth_getTransactionBySenderAndNonce` and `eth_getTransactionReceipt`.

use serde_json::value::RawValue;

use super::protocol::answer::Answer;
use super::protocol::context::Context;
use super::protocol::params::{index, value};
use crate::error::Problem;
use crate::http::values::{address, bytes32, invalid};
use crate::read::completeness::{require_part, require_receipt, require_transaction};
use crate::read::transactions::sent::sent;
use trawl_core::primitives::B256;
use trawl_core::schema::BlockPart;
use trawl_json::transactions::{write_receipt, write_transaction};

fn hash(param: &RawValue) -> Result<B256, Problem> {
    bytes32(&value(param)).ok_or_else(|| invalid("Transaction hash is invalid"))
}

/// The transaction with a hash; `null` if it is not readable.
pub(super) async fn by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    let [param] = call.exactly()?;
    let hash = hash(param)?;
    Ok(match call.app.transaction(&hash, call.head()?).await? {
        Some((batch, row)) => {
            require_transaction(&batch.view(), row)?;
            Answer::of(|writer| write_transaction(writer, &batch.view(), row))
        }
        None => Answer::null(),
    })
}

/// The transaction of a sender with a nonce; `null` if there is none.
pub(super) async fn by_sender_and_nonce(call: Context<'_>) -> Result<Answer, Problem> {
    let [sender, nonce] = call.exactly()?;
    let sender = address(&value(sender)).ok_or_else(|| invalid("Invalid address"))?;
    let found = sent(call.app, call.head()?, &sender, index(nonce)?).await?;
    let Some(batch) = found.first() else { return Ok(Answer::null()) };
    require_transaction(&batch.view(), 0)?;
    Ok(Answer::of(|writer| write_transaction(writer, &batch.view(), 0)))
}

/// More logs than any transaction can emit: the cheapest log costs 375 gas.
const UNLIMITED_LOGS: u64 = 10_000_000;

/// The receipt of a transaction; `null` if it is not readable.
pub(super) async fn receipt(call: Context<'_>) -> Result<Answer, Problem> {
    let [param] = call.exactly()?;
    let hash = hash(param)?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(Answer::null()) };
    let transaction = batch.view();
    let block = transaction.block_number[row];
    require_part(head, BlockPart::Receipts, block)?;
    if transaction.has_receipt[row] == 0 {
        // Nodes of its chain have none of it.
        return Ok(Answer::null());
    }
    require_receipt(&transaction, row)?;
    let statement = trawl_query::logs::of_transaction(
        &head.receipts.at(block),
        transaction.transaction_index[row],
        None,
        UNLIMITED_LOGS,
    );
    let has_logs = transaction.logs_count[row] > 0;
    let batches = if has_logs { app.rows_of(head, &statement).await? } else { Default::default() };
    let logs: Vec<_> = batches.iter().map(|batch| (batch.view(), 0..batch.len())).collect();
    Ok(Answer::of(|writer| write_receipt(writer, &transaction, row, &logs)))
}
