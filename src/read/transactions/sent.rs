//! The transaction of a sender with a nonce.

use futures_util::future::try_join_all;

use crate::app::App;
use crate::cache::settled_rows::SharedRows;
use crate::error::Problem;
use crate::read::completeness::{gaps_from, require_table};
use trawl_core::primitives::Address;
use trawl_core::schema::{OptionalTable, TransactionRow};
use trawl_core::store::Head;

/// The transaction of a sender with a nonce, as the only row; no rows if there is none.
///
/// # Errors
///
/// [`Problem::LeftOut`] without the table that finds it; [`Problem::BlocksMissing`] if it may be in a block that is not
/// loaded; or when the store fails.
pub(crate) async fn sent(
    app: &App,
    head: &Head,
    sender: &Address,
    nonce: u64,
) -> Result<SharedRows<TransactionRow>, Problem> {
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let statements = trawl_query::transactions::participation::of_nonce(sender, nonce, &head.blocks.span());
    let found = try_join_all(statements.iter().map(|statement| app.reader().rows(statement))).await?;
    let Some(position) = found.into_iter().flatten().next() else {
        return match gaps_from(head, &head.blocks, 0, app.options().gaps) {
            missing if missing.is_empty() => Ok(SharedRows::default()),
            missing => Err(Problem::BlocksMissing(missing)),
        };
    };
    let block = head.blocks.at(position.block_number);
    let statement = trawl_query::transactions::in_block_at(&block, position.transaction_index);
    let rows = app.rows_of(head, &statement).await?;
    if rows.is_empty() { Err(Problem::Internal) } else { Ok(rows) }
}
