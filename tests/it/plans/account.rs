//! The lists of `/api`, from both ends.

use anyhow::ensure;
use trawl_query::account::transactions;
use trawl_query::transactions::places_of_address;
use trawl_query::walk::{Order, Walk};

use super::{everything, only, tether};

#[test]
fn lists_of_an_account_are_read_by_key_from_either_end() -> anyhow::Result<()> {
    for (order, kind) in [(Order::OldestFirst, "InOrder"), (Order::NewestFirst, "InReverseOrder")] {
        let walk = Walk { order, limit: 51, ..Walk::default() };
        let read = only(&places_of_address(&tether(), None, &everything().settled, walk))?;
        ensure!(read.table == "transactions_by_address" && read.kind == kind, "{read:?}");
        ensure!(read.keys == ["address", "block_number"], "{read:?}");
        let rows = only(&transactions(&[(15_040_708, 3)].into(), &everything(), order))?;
        ensure!(rows.table == "transactions" && rows.keys == ["block_number", "transaction_index"], "{rows:?}");
        ensure!(rows.kind == kind && rows.by_key.0 <= 1, "{rows:?}");
    }
    Ok(())
}
