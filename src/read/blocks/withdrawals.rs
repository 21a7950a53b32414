//! What withdrawals add up to: of settled blocks by cached runs, of the newest blocks one by one.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};

use crate::app::App;
use crate::cache::settled_rows::Key;
use crate::error::Problem;
use crate::read::days::{CONCURRENT_READS, settled_reads};
use trawl_core::primitives::{BlockRange, U256};
use trawl_core::store::Head;
use trawl_query::blocks::withdrawals::{WithdrawalSums, amounts, sums};

/// Most withdrawals of blocks that are not settled that are added up one by one.
const MAX_NEWEST: u64 = 100_000;

/// The number and the amount of the withdrawals of all readable blocks; `None` if those of too many blocks are not
/// settled.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn withdrawal_sums(app: &App, head: &Head) -> Result<Option<WithdrawalSums>, Problem> {
    let blocks = head.withdrawals.span();
    let read = async |ranges: Vec<BlockRange>| {
        let statement = sums(&ranges);
        let rows = async { Ok(app.reader().rows(&statement).await?) };
        app.withdrawal_sums().get_or_read(Key::new(head, &statement), rows).await
    };
    let mut total = WithdrawalSums { withdrawals: 0, amount: U256::ZERO };
    let mut runs = stream::iter(settled_reads(&blocks).into_iter().map(read)).buffered(CONCURRENT_READS);
    while let Some(rows) = runs.try_next().await? {
        for row in rows.iter() {
            total.withdrawals += row.withdrawals;
            total.amount += row.amount;
        }
    }
    let newest = app.reader().rows(&amounts(&blocks.without_settled(), MAX_NEWEST)).await?;
    if newest.len() as u64 >= MAX_NEWEST {
        return Ok(None);
    }
    total.withdrawals += newest.len() as u64;
    total.amount += newest.iter().map(|row| row.amount).sum::<U256>();
    Ok(Some(total))
}
