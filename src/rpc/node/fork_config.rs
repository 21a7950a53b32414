//! `eth_config` (EIP-7910): what the fork of the newest block configures, and the forks that are planned.

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_block;
use crate::read::rules::schedule;
use crate::read::state::block_context;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::schema::BlockRow;
use trawl_core::store::Head;
use trawl_evm::{ForkConfig, Genesis};
use trawl_json::JsonWriter;

/// The forks around the newest block.
pub(crate) async fn config(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let (app, head) = (call.app, call.head()?);
    let schedule = schedule(app, head)?;
    schedule.require_ethereums_forks().map_err(Problem::RulesUnknown)?;
    let newest = block(app, head, head.number().ok_or(Problem::NothingLoaded)?).await?;
    let newest = newest.ok_or(Problem::BlockNotFound)?;
    let genesis = genesis(app, head).await?;
    let forks = schedule.configs(&block_context(&newest), genesis).map_err(Problem::RulesUnknown)?;
    Ok(Answer::of(|writer| {
        writer.object(|object| {
            write(object.key("current"), &forks.current);
            object.key("next").option(forks.next.as_ref(), write);
            object.key("last").option(forks.last.as_ref(), write);
        });
    }))
}

/// The first block of the chain, if it is loaded or everyone knows it.
async fn genesis(app: &App, head: &Head) -> Result<Genesis, Problem> {
    if let Some(block) = block(app, head, 0).await? {
        return Ok(Genesis { hash: block.hash, timestamp: block.timestamp.seconds() });
    }
    let known = app.chain_id(head).and_then(Genesis::of_chain);
    known.ok_or_else(|| Problem::BlocksMissing(vec![BlockRange::single(0)]))
}

async fn block(app: &App, head: &Head, number: BlockNumber) -> Result<Option<BlockRow>, Problem> {
    let Some(batch) = app.block_at(number, head).await? else { return Ok(None) };
    require_block(&batch.view(), 0)?;
    Ok(batch.rows().next())
}

fn write(writer: &mut JsonWriter, fork: &ForkConfig) {
    writer.object(|object| {
        object.key("activationTime").number(fork.activation_time);
        object.key("blobSchedule").object(|blobs| {
            blobs.key("target").number(fork.blobs.target_blob_count);
            blobs.key("max").number(fork.blobs.max_blob_count);
            blobs.key("baseFeeUpdateFraction").number(u64::try_from(fork.blobs.update_fraction).unwrap_or(u64::MAX));
        });
        object.key("chainId").quantity(fork.chain_id);
        object.key("forkId").hex(&fork.fork_id);
        object.key("precompiles").object(|contracts| {
            fork.precompiles.iter().for_each(|(name, address)| contracts.key(name).hex(address.as_slice()));
        });
        object.key("systemContracts").object(|contracts| {
            fork.system_contracts.iter().for_each(|(name, address)| contracts.key(name).hex(address.as_slice()));
        });
    });
}
