//! Whether it is known who made the blocks.

use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_table;
use trawl_core::schema::OptionalTable;
use trawl_core::store::{Batch, Head};
use trawl_query::addresses::mined_blocks;

/// Requires that it is known who made the blocks.
///
/// # Errors
///
/// [`Problem::LeftOut`] without the table; [`Problem::ColumnsMissing`] if the source of a block did not say; when the
/// store fails.
pub(crate) async fn require_miners(app: &App, head: &Head) -> Result<(), Problem> {
    require_table(head, OptionalTable::BlocksByMiner)?;
    let unknown = app.rows_of(head, &mined_blocks::without_miner(&head.blocks.span().settled)).await?;
    match unknown.iter().flat_map(Batch::rows).next() {
        Some(block) => Err(Problem::ColumnsMissing {
            what: format!("block {}", block.block_number),
            columns: vec!["miner".into()],
        }),
        None => Ok(()),
    }
}
