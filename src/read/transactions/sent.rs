//! The transaction of a sender with a nonce.

use std::sync::Arc;

use crate::app::App;
use crate::cache::settled_rows::SharedRows;
use crate::error::Problem;
use crate::read::completeness::{gaps_from, require_table};
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::{Column, OptionalTable, TransactionRow};
use trawl_core::store::{Batch, Head};

/// Most transactions of a sender with one nonce that are looked at: messages of a rollup may repeat it.
const MAX_WITH_NONCE: u64 = 100;

/// The transaction of a sender with a nonce, as the only row; no rows if there is none. Of several it is the newest
/// that was signed.
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
    let mut newest = None;
    // All of a sender are read only if the newest is none that the sender signed.
    for limit in [1, MAX_WITH_NONCE] {
        let found = with_nonce(app, head, sender, nonce, limit).await?;
        if let Some(signed) = found.iter().find(|rows| rows.iter().any(is_signed)) {
            return Ok(Arc::clone(signed));
        }
        newest = found.into_iter().next();
        if newest.is_none() {
            break;
        }
    }
    let missing = gaps_from(head, &head.blocks, 0, app.options().gaps);
    match newest {
        Some(rows) => Ok(rows),
        None if missing.is_empty() => Ok(SharedRows::default()),
        None => Err(Problem::BlocksMissing(missing)),
    }
}

/// The newest transactions of a sender with a nonce, the newest first.
async fn with_nonce(
    app: &App,
    head: &Head,
    sender: &Address,
    nonce: u64,
    limit: u64,
) -> Result<Vec<SharedRows<TransactionRow>>, Problem> {
    let statements = trawl_query::transactions::participation::of_nonce(sender, nonce, &head.blocks.span(), limit);
    let [settled, newest] = &statements;
    let (settled, newest) = tokio::try_join!(app.reader().rows(settled), app.reader().rows(newest))?;
    let mut transactions = Vec::new();
    for position in newest.into_iter().chain(settled) {
        let block = head.blocks.at(position.block_number);
        let statement = trawl_query::transactions::in_block_at(&block, position.transaction_index);
        let rows = app.rows_of(head, &statement).await?;
        if rows.is_empty() {
            return Err(Problem::Internal);
        }
        transactions.push(rows);
    }
    Ok(transactions)
}

/// Whether a transaction has a signature. A message of a rollup has none, and may repeat the nonce of a transaction
/// of the same sender.
fn is_signed(batch: &Batch<TransactionRow>) -> bool {
    let view = batch.view();
    (0..batch.len()).any(|row| !(U256::get(&view.r, row).is_zero() && U256::get(&view.s, row).is_zero()))
}
