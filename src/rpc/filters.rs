//! Filters that the server keeps: `eth_newFilter`, `eth_newBlockFilter`, `eth_newPendingTransactionFilter`,
//! `eth_getFilterChanges`, `eth_getFilterLogs`, `eth_uninstallFilter`.

pub(super) mod changes;
mod mark;
mod orphans;
mod recorder;
pub(crate) mod store;

use super::ids::{new_id, read_id};
use super::logs;
use super::protocol::answer::Answer;
use super::protocol::context::Context;
use super::protocol::params::value;
use crate::error::Problem;
use crate::http::values::invalid;
use crate::read::log_filter::Request;
use mark::mark_of;
use store::FilterKind;

/// Longest filter object, in bytes. One with as many addresses as are allowed has some 230,000.
const MAX_TEXT: usize = 512 << 10;

/// Stores a filter of logs, and answers with its id.
pub(super) async fn new_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [filter] = call.exactly()?;
    Request::read(&value(filter))?;
    if filter.get().len() > MAX_TEXT {
        return Err(invalid("the filter is too long: at most 512 KiB"));
    }
    add(call, FilterKind::Logs(filter.get().into())).await
}

/// Stores a filter of new blocks, and answers with its id.
pub(super) async fn new_blocks(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    add(call, FilterKind::Blocks).await
}

/// Stores a filter of pending transactions, of which none comes. Clients may ask for whole transactions.
pub(super) async fn new_pending(call: Context<'_>) -> Result<Answer, Problem> {
    let [is_whole] = call.with_optional()?;
    if is_whole.map(value).is_some_and(|is_whole| !is_whole.is_boolean() && !is_whole.is_null()) {
        return Err(invalid("Invalid bool"));
    }
    add(call, FilterKind::Pending).await
}

/// Removes a filter, and answers whether there was one.
pub(super) async fn uninstall(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let removed = call.rpc.filters().remove(&read_id(id)?);
    Ok(Answer::of(|writer| writer.bool(removed)))
}

/// All logs of a filter, as `eth_getLogs` answers with the same object.
pub(super) async fn all_logs(call: Context<'_>) -> Result<Answer, Problem> {
    let [id] = call.exactly()?;
    let filter = call.rpc.filters().get(&read_id(id)?).ok_or(Problem::FilterNotFound)?;
    match &filter.selected {
        FilterKind::Logs(text) => logs::answer(call, &Request::of_text(text)?).await,
        FilterKind::Blocks | FilterKind::Pending => Err(Problem::FilterNotFound),
    }
}

async fn add(call: Context<'_>, selected: FilterKind) -> Result<Answer, Problem> {
    let mark = mark_of(call, call.head()?).await?;
    let id = new_id();
    call.rpc.filters().add(call.client, id.clone(), selected, mark)?;
    Ok(Answer::of(|writer| writer.string(&id)))
}
