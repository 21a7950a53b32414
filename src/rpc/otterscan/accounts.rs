//! Facts about one account: `ots_hasCode`, `ots_getTransactionBySenderAndNonce`, `ots_getContractCreator`; and the
//! version of these methods.

use std::sync::Arc;

use super::params;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::gaps_from;
use crate::read::state::State;
use crate::read::transactions::sent::sent;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::BlockId;
use crate::rpc::state::height;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::store::Head;
use trawl_json::otterscan::write_creator;

/// The version of the methods that Otterscan requires.
const API_LEVEL: u64 = 8;

/// The version of these methods.
pub(in crate::rpc) async fn api_level(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.number(API_LEVEL)))
}

/// Whether an account has code after a block.
pub(in crate::rpc) async fn has_code(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, block] = call.exactly()?;
    let (address, block) = (params::address(account)?, params::block(block)?);
    let (app, head) = (call.app, call.head()?);
    let number = height(BlockId::Name(block), app, head).await?;
    let has_code = has_code_after(app, head, number, address).await?;
    Ok(Answer::of(|writer| writer.bool(has_code)))
}

async fn has_code_after(app: &App, head: &Arc<Head>, number: BlockNumber, address: Address) -> Result<bool, Problem> {
    let account = State::after(app, number, head).await?.account(address).await?;
    Ok(account.code_hash != revm::primitives::KECCAK_EMPTY)
}

/// The hash of the transaction of a sender with a nonce; `null` if there is none.
pub(in crate::rpc) async fn transaction_of_nonce(call: Context<'_>) -> Result<Answer, Problem> {
    let [sender, nonce] = call.exactly()?;
    let (sender, nonce) = (params::address(sender)?, params::count(nonce, "nonce")?);
    let found = sent(call.app, call.head()?, &sender, nonce).await?;
    let Some(batch) = found.first() else { return Ok(Answer::null()) };
    Ok(Answer::of(|writer| writer.hex(batch.view().hash.bytes(0))))
}

/// The transaction that created the contract at an address, and its creator; `null` for an address without code, and
/// for a contract of the genesis, which has no creator.
pub(in crate::rpc) async fn contract_creator(call: Context<'_>) -> Result<Answer, Problem> {
    let [account] = call.exactly()?;
    let address = params::address(account)?;
    let (app, head) = (call.app, call.head()?);
    let number = head.number().ok_or(Problem::BlockNotFound)?;
    let has_code = match has_code_after(app, head, number, address).await {
        Err(Problem::StateMissing(_)) => None,
        known => Some(known?),
    };
    if has_code == Some(false) {
        return Ok(Answer::null());
    }
    let creation =
        app.reader().rows(&trawl_query::transactions::participation::creation(&address, &head.blocks.span())).await?;
    match creation.first() {
        Some(creation) if creation.creation_type == "genesis" => Ok(Answer::null()),
        Some(creation) => {
            Ok(Answer::of(|writer| write_creator(writer, creation.transaction_hash.as_slice(), &creation.creator)))
        }
        None => match gaps_from(head, &head.traces, 1, app.options().gaps) {
            missing if missing.is_empty() => Ok(Answer::null()),
            missing => Err(Problem::TracesMissing(missing)),
        },
    }
}
