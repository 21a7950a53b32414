//! The lists of `/api`, from both ends.

use anyhow::ensure;
use trawl_core::primitives::Direction;
use trawl_core::schema::AccountFrame;
use trawl_query::account::transactions;
use trawl_query::transactions::positions_of_address;
use trawl_query::walk::{Order, Walk};

use super::{block, everything, only, tether};

#[test]
fn lists_of_an_account_are_read_by_key_from_either_end() -> anyhow::Result<()> {
    for (order, kind) in [(Order::OldestFirst, "InOrder"), (Order::NewestFirst, "InReverseOrder")] {
        let walk = Walk { order, limit: 51, ..Walk::default() };
        let read = only(&positions_of_address(&tether(), None, &everything().settled, walk))?;
        ensure!(read.table == "transactions_by_address" && read.kind == kind, "{read:?}");
        ensure!(read.keys == ["address", "block_number"], "{read:?}");
        let rows = only(&transactions(&[(15_040_708, 3)].into(), &everything(), order))?;
        ensure!(rows.table == "transactions" && rows.keys == ["block_number", "transaction_index"], "{rows:?}");
        ensure!(rows.kind == kind && rows.by_key.0 <= 1, "{rows:?}");
    }
    Ok(())
}

#[test]
fn frames_and_transfers_of_an_account_are_read_by_key_from_either_end() -> anyhow::Result<()> {
    use frames::ZeroValueCalls::{LeftOut, Listed};
    use trawl_query::account::{frames, transfers};
    for (order, kind) in [(Order::OldestFirst, "InOrder"), (Order::NewestFirst, "InReverseOrder")] {
        let walk = Walk { order, limit: 51, ..Walk::default() };
        let (account, blocks, token) = (tether(), everything(), Some(tether()));
        for read in [
            only(&frames::positions_of(&account, None, &blocks, Listed, walk))?,
            only(&frames::positions_of(&account, None, &blocks, LeftOut, walk))?,
            only(&frames::positions_of(&account, Some(Direction::From), &blocks, LeftOut, walk))?,
            only(&transfers::of(&account, None, "ERC-20", None, &blocks, walk))?,
            only(&transfers::of(&account, None, "ERC-721", token.as_ref(), &blocks, walk))?,
            only(&transfers::of(&account, Some(Direction::To), "ERC-20", None, &blocks, walk))?,
            only(&transfers::of(&account, Some(Direction::To), "ERC-20", token.as_ref(), &blocks, walk))?,
            only(&transfers::between(&account, &account, "ERC-20", None, &blocks, walk))?,
            only(&frames::positions_between(&account, &account, &blocks, LeftOut, walk))?,
        ] {
            ensure!(read.kind == kind && read.keys[0] == "address", "{read:?}");
            ensure!(read.keys.contains(&"block_number".into()), "{read:?}");
        }
        for read in [
            only(&frames::positions_in(&blocks, walk))?,
            only(&frames::searched_positions_in(&blocks, Listed, walk))?,
            only(&frames::searched_positions_in(&blocks, LeftOut, walk))?,
            only(&frames::positions_of_transaction(&block(15_040_708), 3, LeftOut, walk))?,
            only(&frames::at_positions::<AccountFrame>(&[(15_040_708, 3, 1)], &blocks, order))?,
        ] {
            ensure!(read.table == "internal_transactions" && read.kind == kind, "{read:?}");
            ensure!(read.keys[0] == "block_number", "{read:?}");
        }
        let gas = only(&transfers::gas(&[(15_040_708, 3)].into(), &blocks))?;
        ensure!(gas.table == "transactions" && gas.keys == ["block_number", "transaction_index"], "{gas:?}");
    }
    Ok(())
}

/// A step of the search for a time reads a granule for each of its blocks.
#[test]
fn times_of_blocks_are_read_by_key() -> anyhow::Result<()> {
    let read = only(&trawl_query::blocks::times(&[20_000_000, 20_000_001].into(), &everything()))?;
    ensure!(read.table == "blocks" && read.keys[0] == "block_number" && read.by_key.0 <= 1, "{read:?}");
    Ok(())
}

/// Transfers of a token, frames of an account in a transaction, withdrawals, and who first gave coins.
#[test]
fn lists_of_a_token_a_transaction_and_gifts_are_read_by_key() -> anyhow::Result<()> {
    use trawl_query::account::{frames, funding, transfers};
    let (account, blocks) = (tether(), everything());
    for (order, kind) in [(Order::OldestFirst, "InOrder"), (Order::NewestFirst, "InReverseOrder")] {
        let walk = Walk { order, limit: 51, ..Walk::default() };
        let withdrawals = only(&trawl_query::blocks::withdrawals::to_account(&account, &blocks, walk))?;
        ensure!(withdrawals.table == "withdrawals" && withdrawals.keys[0] == "address", "{withdrawals:?}");
        ensure!(withdrawals.kind == kind, "{withdrawals:?}");
        let calls = frames::ZeroValueCalls::LeftOut;
        let frames = only(&frames::positions_of_both(&account, &block(15_040_708), 3, calls, walk))?;
        ensure!(frames.table == "internal_transactions_by_address" && frames.keys.len() > 1, "{frames:?}");
        // The positions of its logs are looked up first.
        let transfers = only(&transfers::of_token(&account, "ERC-20", &blocks, walk))?;
        ensure!(transfers.table == "token_transfers_by_block" && transfers.kind == kind, "{transfers:?}");
        ensure!(transfers.keys[..2] == ["block_number", "log_index"], "{transfers:?}");
    }
    // As the positions of frames and transactions of the account are.
    let gifts = only(&funding::gifts(&account, &blocks, 1))?;
    ensure!(gifts.table == "internal_transactions", "{gifts:?}");
    ensure!(gifts.keys == ["block_number", "transaction_index", "frame_index"], "{gifts:?}");
    Ok(())
}
