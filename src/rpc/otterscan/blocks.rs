//! `ots_getBlockDetails`, `ots_getBlockDetailsByHash` and `erigon_getHeaderByNumber`.

use super::params;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_shown_block;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_chains::Issuance as ChainIssuance;
use trawl_core::primitives::{B256, BlockNumber, U256};
use trawl_core::schema::{BlockPart, BlockRow, Column};
use trawl_core::store::{Batch, Head};
use trawl_json::blocks::withdrawals::write_rpc_withdrawal;
use trawl_json::blocks::write_rpc_header;
use trawl_json::otterscan::{Issuance, write_block, write_issuance};

/// Where the rewards of a block stand: they belong to no transaction.
const NO_TRANSACTION: u32 = u32::MAX;

/// The block that a call names, with the columns of JSON-RPC.
pub(super) async fn block(app: &App, number: BlockNumber, head: &Head) -> Result<Option<Batch<BlockRow>>, Problem> {
    let block = app.block_at(number, head).await?;
    block.as_ref().map_or(Ok(()), |block| require_shown_block(&block.view(), 0, app.family(head)))?;
    Ok(block)
}

/// The header of a block; `null` if it is not readable.
pub(in crate::rpc) async fn header(call: Context<'_>) -> Result<Answer, Problem> {
    let [name] = call.exactly()?;
    let head = call.head()?;
    let Some(number) = params::block(name)?.number(head) else { return Ok(Answer::null()) };
    let Some(block) = block(call.app, number, head).await? else { return Ok(Answer::null()) };
    Ok(Answer::of(|writer| write_rpc_header(writer, &block.view(), 0)))
}

/// A block by height or name, with what it issued and what its transactions paid; `null` if it is not readable.
pub(in crate::rpc) async fn details_by_number(call: Context<'_>) -> Result<Answer, Problem> {
    let [name] = call.exactly()?;
    match params::block(name)?.number(call.head()?) {
        Some(number) => details(call, number).await,
        None => Ok(Answer::null()),
    }
}

/// The same of a block with a hash.
pub(in crate::rpc) async fn details_by_hash(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash] = call.exactly()?;
    match call.app.block_with_hash(&params::hash(hash)?, call.head()?).await? {
        Some(number) => details(call, number).await,
        None => Ok(Answer::null()),
    }
}

async fn details(call: Context<'_>, number: BlockNumber) -> Result<Answer, Problem> {
    let (app, head) = (call.app, call.head()?);
    let withdrawals = trawl_query::blocks::withdrawals::in_block(&head.blocks.at(number));
    let (block, withdrawals) = tokio::try_join!(block(app, number, head), app.rows_of(head, &withdrawals))?;
    let Some(block) = block else { return Ok(Answer::null()) };
    let view = block.view();
    let missing = |part| Problem::PartMissing { part, block: number };
    let has_withdrawals = Option::<B256>::get(&view.withdrawals_root, 0).is_some();
    if has_withdrawals && !head.withdrawals.contains(number) {
        return Err(missing(BlockPart::Withdrawals));
    }
    let fees = Option::<U256>::get(&view.transaction_fees, 0);
    let fees = fees.filter(|_| view.lacking.items::<String>(0).all(|column| column != "transaction_fees"));
    let fees = fees.ok_or_else(|| missing(BlockPart::Receipts))?;
    let issuance = issuance(app, head, &block).await?;
    Ok(Answer::of(|writer| {
        writer.object(|details| {
            write_block(details.key("block"), &view, 0, |object| {
                if has_withdrawals {
                    object.key("withdrawals").array(|list| {
                        for batch in withdrawals.iter() {
                            let view = batch.view();
                            (0..batch.len()).for_each(|row| write_rpc_withdrawal(list.item(), &view, row));
                        }
                    });
                }
            });
            write_issuance(details.key("issuance"), issuance);
            details.key("totalFees").quantity_256(fees);
        });
    }))
}

/// What a block issued: nothing by proof of stake, else what a tracing node reported as rewards; `None` if none did.
async fn issuance(app: &App, head: &Head, block: &Batch<BlockRow>) -> Result<Option<Issuance>, Problem> {
    let number = block.view().block_number[0];
    let mut issuance = Issuance { block: U256::ZERO, uncles: U256::ZERO };
    let issues = app.family(head).is_none_or(|family| family.issuance == ChainIssuance::ProofOfWork);
    if number == 0 || !issues || U256::get(&block.view().difficulty, 0).is_zero() {
        return Ok(Some(issuance));
    }
    if !head.rewards.contains(number) {
        return Ok(None);
    }
    let rewards = trawl_query::transactions::internal::of_transaction(&head.traces.at(number), NO_TRANSACTION);
    for reward in app.reader().rows(&rewards).await? {
        let sum = if reward.call_type == "uncle" { &mut issuance.uncles } else { &mut issuance.block };
        *sum = sum.saturating_add(reward.value);
    }
    Ok(Some(issuance))
}
