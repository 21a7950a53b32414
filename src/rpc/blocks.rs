//! `eth_getBlockByNumber` and `eth_getBlockByHash`.

pub(crate) mod encodings;
pub(crate) mod parts;

use serde_json::value::RawValue;

use super::protocol::answer::Answer;
use super::protocol::context::Context;
use super::protocol::params::value;
use crate::app::App;
use crate::cache::settled_rows::SharedRows;
use crate::error::Problem;
use crate::http::values::{block_name, bytes32, invalid};
use crate::read::completeness::{require_shown_block, require_transaction};
use trawl_core::primitives::{B256, BlockNumber};
use trawl_core::schema::{BlockPart, Column, TransactionRow, WithdrawalRow};
use trawl_core::store::{Batch, Head};
use trawl_json::blocks::withdrawals::write_rpc_withdrawal;
use trawl_json::blocks::write_rpc_block;
use trawl_json::transactions::write_transaction;
use trawl_query::transactions::TransactionHash;

/// The block at a height or tag; `null` if it is not readable.
pub(super) async fn by_number(call: Context<'_>) -> Result<Answer, Problem> {
    let [block, full] = call.exactly()?;
    let name = block_name(&value(block)).ok_or_else(|| invalid("Invalid block number"))?;
    let full = is_full(full)?;
    let head = call.head()?;
    match name.number(head) {
        Some(number) => at(call.app, number, full, head).await,
        None => Ok(Answer::null()),
    }
}

/// The block with a hash; `null` if it is not readable.
pub(super) async fn by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash, full] = call.exactly()?;
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Invalid hash"))?;
    let full = is_full(full)?;
    let head = call.head()?;
    match call.app.block_with_hash(&hash, head).await? {
        Some(number) => at(call.app, number, full, head).await,
        None => Ok(Answer::null()),
    }
}

/// How a block shows its transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transactions {
    Hashes,
    Objects,
}

fn is_full(param: &RawValue) -> Result<Transactions, Problem> {
    match param.get() {
        "true" => Ok(Transactions::Objects),
        "false" => Ok(Transactions::Hashes),
        _ => Err(invalid("Invalid bool")),
    }
}

enum Body {
    Hashes(SharedRows<TransactionHash>),
    Objects(SharedRows<TransactionRow>),
}

async fn at(app: &App, number: BlockNumber, full: Transactions, head: &Head) -> Result<Answer, Problem> {
    let span = head.blocks.at(number);
    let body = async {
        Ok(match full {
            Transactions::Hashes => {
                Body::Hashes(app.rows_of(head, &trawl_query::transactions::hashes_of_block(&span)).await?)
            }
            Transactions::Objects => {
                Body::Objects(app.rows_of(head, &trawl_query::transactions::of_block(&span)).await?)
            }
        })
    };
    let withdrawals = trawl_query::blocks::withdrawals::in_block(&span);
    let withdrawals = app.rows_of(head, &withdrawals);
    let (block, body, withdrawals) = tokio::try_join!(app.block_at(number, head), body, withdrawals)?;
    let Some(block) = block else { return Ok(Answer::null()) };
    let view = block.view();
    require_shown_block(&view, 0, app.family(head))?;
    if let Body::Objects(batches) = &body {
        for batch in batches.iter() {
            (0..batch.len()).try_for_each(|row| require_transaction(&batch.view(), row))?;
        }
    }
    let has_withdrawals = Option::<B256>::get(&view.withdrawals_root, 0).is_some();
    if has_withdrawals && !head.withdrawals.contains(number) {
        return Err(Problem::PartMissing { part: BlockPart::Withdrawals, block: number });
    }
    Ok(Answer::of(|writer| {
        write_rpc_block(writer, &view, 0, |object| {
            object.key("transactions").array(|array| write_body(array, &body));
            if has_withdrawals {
                object.key("withdrawals").array(|array| write_withdrawals(array, &withdrawals));
            }
        });
    }))
}

fn write_body(array: &mut trawl_json::Array<'_>, body: &Body) {
    match body {
        Body::Hashes(batches) => {
            for batch in batches.iter() {
                let view = batch.view();
                (0..batch.len()).for_each(|row| array.item().hex(view.hash.bytes(row)));
            }
        }
        Body::Objects(batches) => {
            for batch in batches.iter() {
                let view = batch.view();
                (0..batch.len()).for_each(|row| write_transaction(array.item(), &view, row));
            }
        }
    }
}

fn write_withdrawals(array: &mut trawl_json::Array<'_>, batches: &[Batch<WithdrawalRow>]) {
    for batch in batches {
        let view = batch.view();
        (0..batch.len()).for_each(|row| write_rpc_withdrawal(array.item(), &view, row));
    }
}
