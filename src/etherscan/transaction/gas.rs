//! Nonce and gas of the transactions of a page.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::BlockNumber;
use trawl_core::readable::Span;
pub(crate) use trawl_json::etherscan::TransactionGas as GasOf;
use trawl_query::account::transfers::TransactionGas;
use trawl_query::transactions::positions::TransactionPositions;

/// What the transactions at `positions` paid, in one statement.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn gas(
    app: &App,
    positions: &TransactionPositions,
    blocks: &Span,
) -> Result<HashMap<(BlockNumber, u32), GasOf>, Problem> {
    let found = app.reader().rows(&trawl_query::account::transfers::gas(positions, blocks)).await?;
    Ok(found.into_iter().map(|row| ((row.block_number, row.transaction_index), known(&row))).collect())
}

fn known(row: &TransactionGas) -> GasOf {
    let has = |column: &str| row.lacking.iter().all(|lacking| lacking != column);
    let of_receipt = |column: &str| row.has_receipt == 1 && has(column);
    GasOf {
        nonce: has("nonce").then_some(row.nonce),
        limit: has("gas_limit").then_some(row.gas_limit),
        price: of_receipt("effective_gas_price").then_some(row.effective_gas_price).or(row.gas_price),
        used: of_receipt("gas_used").then_some(row.gas_used),
        cumulative: of_receipt("cumulative_gas_used").then_some(row.cumulative_gas_used),
    }
}
