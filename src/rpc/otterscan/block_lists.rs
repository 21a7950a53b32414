//! `ots_getBlockTransactions`: the transactions of a block, page by page from its end.

use std::ops::Range;

use super::blocks::block;
use super::params;
use crate::error::Problem;
use crate::http::values::invalid;
use crate::read::completeness::{require_part, require_receipt, require_transaction};
use crate::read::transactions::outcomes::failures;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_core::schema::BlockPart;
use trawl_json::otterscan::{write_block, write_short_receipt, write_short_transaction};

/// Most transactions of a page.
const MAX_PAGE: u64 = 100;

/// A page of the transactions of a block with their receipts; `null` if the block is not readable.
pub(in crate::rpc) async fn transactions(call: Context<'_>) -> Result<Answer, Problem> {
    let [name, page, size] = call.exactly()?;
    let (name, page, size) = (params::block(name)?, params::count(page, "page")?, params::count(size, "page size")?);
    if !(1..=MAX_PAGE).contains(&size) {
        return Err(invalid(&format!("Invalid page size: 1 to {MAX_PAGE}")));
    }
    let (app, head) = (call.app, call.head()?);
    let Some(number) = name.number(head) else { return Ok(Answer::null()) };
    let Some(block) = block(app, number, head).await? else { return Ok(Answer::null()) };
    require_part(head, BlockPart::Receipts, number)?;
    let shown = shown(block.view().transactions_count[0].into(), page, size);
    let statement = trawl_query::transactions::in_block_after(
        &head.receipts.at(number),
        shown.start.checked_sub(1),
        shown.end - shown.start,
    );
    let batches = if shown.is_empty() { Default::default() } else { app.rows_of(head, &statement).await? };
    for batch in batches.iter() {
        let view = batch.view();
        (0..batch.len())
            .try_for_each(|row| require_transaction(&view, row).and_then(|()| require_receipt(&view, row)))?;
    }
    let failures = failures(app, head, &batches).await?;
    for batch in batches.iter() {
        let view = batch.view();
        (0..batch.len()).try_for_each(|row| failures.require(&view, row))?;
    }
    Ok(Answer::of(|writer| {
        let rows = || batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row)));
        writer.object(|answer| {
            write_block(answer.key("fullblock"), &block.view(), 0, |object| {
                object.key("transactions").array(|list| {
                    rows().for_each(|(batch, row)| write_short_transaction(list.item(), &batch.view(), row));
                });
            });
            answer.key("receipts").array(|list| {
                rows().for_each(|(batch, row)| {
                    let view = batch.view();
                    write_short_receipt(list.item(), &view, row, failures.of(&view, row));
                });
            });
        });
    }))
}

/// The positions of a page of `count`: page 0 is the tail, as Otterscan shows the last transaction first.
fn shown(count: u64, page: u64, size: u64) -> Range<u64> {
    let end = count.saturating_sub(page.saturating_mul(size));
    end.saturating_sub(size)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_begin_at_the_end() {
        assert_eq!([0, 1, 2, 3].map(|page| shown(80, page, 25)), [55..80, 30..55, 5..30, 0..5]);
        assert_eq!((shown(80, 4, 25), shown(0, 0, 25), shown(80, u64::MAX, 25)), (0..0, 0..0, 0..0));
    }
}
