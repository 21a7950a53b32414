//! Facts about one account: `ots_hasCode`, `ots_getTransactionBySenderAndNonce`, `ots_getContractCreator`; and the
//! version of these methods.

use std::sync::Arc;

use futures_util::future::try_join_all;

use super::params;
use crate::app::App;
use crate::error::Problem;
use crate::options::Gaps;
use crate::read::completeness::require_table;
use crate::read::state::State;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::BlockId;
use crate::rpc::state::height;
use trawl_core::primitives::{Address, BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::schema::OptionalTable;
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

/// Refuses to say that something is not there while blocks of the chain are missing.
fn require_all(
    call: Context<'_>,
    part: &Readable,
    problem: fn(Vec<BlockRange>) -> Problem,
    first: BlockNumber,
) -> Result<(), Problem> {
    let head = call.head()?;
    let all = head.number().and_then(|newest| BlockRange::new(first, newest));
    let missing = all.map(|all| part.missing(all)).unwrap_or_default();
    if missing.is_empty() || call.app.options().gaps == Gaps::Serve { Ok(()) } else { Err(problem(missing)) }
}

/// The hash of the transaction of a sender with a nonce; `null` if there is none.
pub(in crate::rpc) async fn transaction_of_nonce(call: Context<'_>) -> Result<Answer, Problem> {
    let [sender, nonce] = call.exactly()?;
    let (sender, nonce) = (params::address(sender)?, params::count(nonce, "nonce")?);
    let (app, head) = (call.app, call.head()?);
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let statements = trawl_query::transactions::participation::of_nonce(&sender, nonce, &head.blocks.span());
    let found = try_join_all(statements.iter().map(|statement| app.reader().rows(statement))).await?;
    let Some(position) = found.into_iter().flatten().next() else {
        require_all(call, &head.blocks, Problem::BlocksMissing, 0)?;
        return Ok(Answer::null());
    };
    let block = head.blocks.at(position.block_number);
    let statement = trawl_query::transactions::in_block_at(&block, position.transaction_index);
    let found = app.rows_of(head, &statement).await?;
    let batch = found.first().ok_or(Problem::Internal)?;
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
        None => {
            require_all(call, &head.traces, Problem::TracesMissing, 1)?;
            Ok(Answer::null())
        }
    }
}
