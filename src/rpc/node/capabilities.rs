//! `eth_capabilities`: from which block on this server answers, kind by kind.

use crate::error::Problem;
use crate::read::completeness::require_shown_block;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::store::Head;
use trawl_json::Object;

/// The newest block, and of each kind of data the oldest block from which all up to the newest are readable.
pub(crate) async fn capabilities(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let (app, head) = (call.app, call.head()?);
    let newest = head.number().ok_or(Problem::NothingLoaded)?;
    let block = app.block_at(newest, head).await?.ok_or(Problem::BlockNotFound)?;
    require_shown_block(&block.view(), 0, app.family(head))?;
    let receipts = oldest(&head.receipts, newest);
    let blocks = oldest(&head.blocks, newest);
    let state = state(head, newest);
    Ok(Answer::of(|writer| {
        writer.object(|object| {
            object.key("head").object(|head| {
                head.key("number").quantity(newest);
                head.key("hash").hex(block.view().hash.bytes(0));
            });
            write(object, "state", state);
            write(object, "tx", blocks);
            write(object, "logs", receipts);
            write(object, "receipts", receipts);
            write(object, "blocks", blocks);
            // Tries are not stored.
            write(object, "stateproofs", None);
        });
    }))
}

/// The oldest block of the run that ends with the newest one.
fn oldest(readable: &Readable, newest: BlockNumber) -> Option<BlockNumber> {
    let all = BlockRange::new(0, newest)?;
    let above = readable.missing(all).last().map_or(Some(0), |gap| gap.last().checked_add(1));
    above.filter(|first| *first <= newest)
}

/// State is put together of all changes from genesis on.
fn state(head: &Head, newest: BlockNumber) -> Option<BlockNumber> {
    let all = BlockRange::new(0, newest)?;
    let is_whole = head.state.missing(all).is_empty() || head.state_but_system.missing(all).is_empty();
    is_whole.then_some(0)
}

fn write(object: &mut Object<'_>, kind: &str, oldest: Option<BlockNumber>) {
    object.key(kind).object(|object| {
        object.key("disabled").bool(oldest.is_none());
        if let Some(oldest) = oldest {
            object.key("oldestBlock").quantity(oldest);
        }
    });
}
