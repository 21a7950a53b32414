//! Plans of Otterscan's methods.

use anyhow::ensure;
use trawl_core::primitives::BlockRange;
use trawl_query::transactions::participation::{End, ParticipationQuery, creation, of_nonce, positions};

use super::{block, everything, only, tether};

#[test]
fn transactions_an_address_takes_part_in_are_read_along_two_keys() -> anyhow::Result<()> {
    for (from, kind) in [(End::Newest, "InReverseOrder"), (End::Oldest, "InOrder")] {
        for blocks in [everything(), vec![BlockRange::new(0, 15_040_708).expect("ordered")].into(), block(15_040_708)] {
            let searched = ParticipationQuery { transactions: blocks.clone(), frames: blocks };
            let [own, newest, frames, in_memory] = positions(&tether(), from, &searched, 25);
            for (statement, table) in [(own, "transactions_by_address"), (frames, "internal_transactions_by_address")] {
                let read = only(&statement)?;
                ensure!(read.table == table && read.kind == kind, "{read:?}");
                ensure!(read.keys[..2] == ["address", "block_number"], "{read:?}");
            }
            ensure!(
                !newest.is_in_tables && !in_memory.is_in_tables,
                "blocks that are not settled are read for settled ones"
            );
        }
    }
    Ok(())
}

#[test]
fn rows_of_otterscan_are_found_by_key() -> anyhow::Result<()> {
    let [settled, newest] = of_nonce(&tether(), 7, &everything(), 1);
    let read = only(&settled)?;
    ensure!(read.table == "transactions_by_address" && read.keys[0] == "address" && !newest.is_in_tables, "{read:?}");
    let read = only(&creation(&tether(), &everything()))?;
    ensure!(read.table == "contracts" && read.keys[0] == "address", "{read:?}");
    let read = only(&trawl_query::transactions::internal::operations(&block(15_040_708), 3))?;
    ensure!(
        read.table == "internal_transactions" && read.keys == ["block_number", "transaction_index", "frame_index"],
        "{read:?}"
    );
    let two = [(15_040_708, 3), (15_040_708, 9)].into();
    let read = only(&trawl_query::transactions::positions::transactions(&two, &everything()))?;
    ensure!(read.table == "transactions" && read.keys == ["block_number", "transaction_index"], "{read:?}");
    let read = only(&trawl_query::transactions::positions::logs(&two, &everything()))?;
    ensure!(read.table == "logs_by_block" && read.keys == ["block_number"], "{read:?}");
    Ok(())
}
