//! Plans of the parts of an address, of a transaction and of a block.

use anyhow::{Context as _, ensure};
use trawl_core::primitives::{Address, B256, LogPosition, TransactionPosition, U256};
use trawl_query::tokens::balances::HoldingPosition;
use trawl_query::walk::SortOrder;

use super::{block, everything, explain, explain_in, only, tether};
use crate::chains::chain;

#[test]
fn logs_of_an_address_are_a_range_of_its_own() -> anyhow::Result<()> {
    for topic in [None, Some(B256::repeat_byte(7))] {
        for before in [None, Some(LogPosition { block_number: 15_040_708, log_index: 3 })] {
            let read = only(&trawl_query::logs::of_address(&tether(), topic.as_ref(), &everything(), before, 51))?;
            ensure!(read.table == "logs" && read.kind == "InReverseOrder", "{read:?}");
            ensure!(read.keys.starts_with(&["address".into(), "block_number".into()]), "{read:?}");
        }
    }
    Ok(())
}

#[test]
fn counters_of_an_address_read_its_range_alone() -> anyhow::Result<()> {
    let settled = everything().settled;
    let read = only(&trawl_query::addresses::counters::transactions(&tether(), &settled))?;
    ensure!(read.table == "transactions_by_address" && read.keys[0] == "address" && read.kind == "InOrder", "{read:?}");
    let read = only(&trawl_query::addresses::counters::transfers(&tether(), &settled))?;
    ensure!(read.table == "token_transfers" && read.keys[0] == "address", "{read:?}");
    Ok(())
}

/// Who ran code is looked up in the ranges of the addresses alone.
#[test]
fn those_who_ran_code_are_found_by_their_keys() -> anyhow::Result<()> {
    use trawl_query::contracts::ran_code::ran_code;
    let (requested, all) = ([tether(), Address::repeat_byte(7)], everything());
    let statements = ran_code(&requested, &all, &all);
    ensure!(statements.len() == 1, "{statements:?}");
    let reads = explain_in("mainnet", &statements[0])?;
    let tables: Vec<&str> = reads.iter().map(|read| read.table.as_str()).collect();
    ensure!(tables == ["logs", "internal_transactions_by_direction"], "{reads:?}");
    ensure!(reads.iter().all(|read| read.keys[0] == "address" && read.kind == "InOrder"), "{reads:?}");
    Ok(())
}

/// The heights are a range of their own table, and the blocks are found at them.
#[test]
fn blocks_of_a_miner_are_found_at_their_heights() -> anyhow::Result<()> {
    use trawl_query::addresses::mined_blocks;
    use trawl_query::walk::Order;
    let (miner, blocks) = (tether(), everything());
    let heights: &[String] = &["has_miner".into(), "miner".into(), "block_number".into()];
    for (order, kind) in [(Order::NewestFirst, "InReverseOrder"), (Order::OldestFirst, "InOrder")] {
        let read = only(&mined_blocks::heights(&miner, &blocks.settled, order, 51))?;
        ensure!(read.table == "blocks_by_miner" && read.kind == kind && read.keys == heights, "{read:?}");
        let read = only(&mined_blocks::at(&[15_040_708], &blocks, order))?;
        ensure!(read.table == "blocks" && read.keys == ["block_number"] && read.by_key.0 <= 1, "{read:?}");
    }
    for read in
        [only(&mined_blocks::total(&miner, &blocks.settled))?, only(&mined_blocks::without_miner(&blocks.settled))?]
    {
        ensure!(read.table == "blocks_by_miner" && read.keys.starts_with(&heights[..2]), "{read:?}");
    }
    let read = only(&mined_blocks::blocks(&miner, &blocks, 51))?;
    ensure!(read.table == "blocks" && read.kind == "InReverseOrder" && read.keys == ["block_number"], "{read:?}");
    Ok(())
}

/// What an address sent and paid is its range of a narrow table, also where that is sorted.
#[test]
fn sorted_transactions_are_read_from_the_range_of_the_address() -> anyhow::Result<()> {
    use trawl_query::transactions::sorted::{SortedBy, SortedList, positions, size};
    let position = TransactionPosition { block_number: 15_040_708, transaction_index: 3 };
    for (by, sorting) in [(SortedBy::Value, SortOrder::LargestFirst), (SortedBy::Fee, SortOrder::SmallestFirst)] {
        let (sorted, blocks) = (SortedList { direction: None, by, sorting }, everything().settled);
        let beyond = (U256::from(7), position);
        for read in [
            only(&size(&tether(), &sorted, &blocks))?,
            only(&positions(&tether(), &sorted, &blocks, None, 51))?,
            only(&positions(&tether(), &sorted, &blocks, Some(&beyond), 51))?,
        ] {
            ensure!(read.table == "transactions_by_address", "{read:?}");
            ensure!(read.keys == ["address", "block_number"], "{read:?}");
        }
    }
    Ok(())
}

/// A ranking of tokens reads the narrow rows of all, and one of a token its own.
#[test]
fn rankings_are_read_from_counts_alone() -> anyhow::Result<()> {
    use trawl_query::tokens::ranking::{TokenFilter, counted};
    let database = chain("devchain").name;
    let reads = explain_in(database, &counted(&TokenFilter::default(), SortOrder::LargestFirst, None, 51))?;
    ensure!(reads.len() == 1 && reads[0].table == "token_statistics", "{reads:?}");
    let filter = TokenFilter { token: Some(tether()), ..TokenFilter::default() };
    let reads = explain_in(database, &counted(&filter, SortOrder::LargestFirst, None, 51))?;
    ensure!(reads.len() == 1 && reads[0].keys == ["token_address"], "{reads:?}");
    Ok(())
}

/// Sums over some time read the blocks of that time alone.
#[test]
fn called_contracts_are_added_up_over_their_blocks_alone() -> anyhow::Result<()> {
    use trawl_core::primitives::BlockRange;
    use trawl_query::contracts::hot_contracts::{CalledBy, called, size};
    let range = BlockRange::new(15_040_700, 15_040_708).context("ordered")?;
    let sums = only(&called(range, CalledBy::Gas, SortOrder::LargestFirst))?;
    ensure!(sums.table == "transactions" && sums.keys == ["block_number"], "{sums:?}");
    ensure!(sums.by_key.0 < sums.by_key.1, "{sums:?}");
    let blocks = only(&size(&[range]))?;
    ensure!(blocks.table == "blocks" && blocks.keys == ["block_number"], "{blocks:?}");
    Ok(())
}

/// One range of the holder's tokens; statistics are looked up by the tokens in it.
#[test]
fn what_an_address_holds_is_a_range_of_its_own() -> anyhow::Result<()> {
    let after = HoldingPosition { token: tether(), standard: "ERC-20" };
    for after in [None, Some(&after)] {
        let statement = trawl_query::tokens::balances::of_holder(&tether(), &["ERC-20"], after, &[tether()], 51);
        let reads = explain_in(chain("devchain").name, &statement)?;
        let read = reads.iter().find(|read| read.table == "token_balances_by_holder").context("a read")?;
        let keys: &[String] = &["holder".into(), "token_address".into()];
        ensure!(read.keys.starts_with(&keys[..if after.is_some() { 2 } else { 1 }]), "{reads:?}");
    }
    Ok(())
}

#[test]
fn holders_of_a_token_are_a_range_of_its_own() -> anyhow::Result<()> {
    use trawl_query::tokens::holders::{Asset, HolderPosition, among, largest};
    let beyond = HolderPosition { held: U256::from(7), holder: tether() };
    let database = chain("devchain").name;
    let tether = tether();
    for (asset, table, second) in [
        (Asset::Token(&tether, "ERC-20"), "token_balances", "token_type"),
        (Asset::Id(&tether, U256::from(7)), "token_id_holders", "token_id"),
    ] {
        let reads = [
            explain_in(database, &largest(&asset, None, 51))?,
            explain_in(database, &largest(&asset, Some(&beyond), 51))?,
            explain_in(database, &among(&asset, &[tether]))?,
        ];
        for (position, reads) in reads.iter().enumerate() {
            let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
            let expected: &[String] = &["token_address".into(), second.into(), "holder".into()];
            let expected = &expected[..if position == 2 { 3 } else { 2 }];
            ensure!(read.table == table && read.keys.starts_with(expected), "{read:?}");
        }
    }
    Ok(())
}

/// The ids of a token are the range of the zero address, what an address has another, in the order of the key.
#[test]
fn ids_of_tokens_are_ranges_in_order() -> anyhow::Result<()> {
    use trawl_query::tokens::instances::{IdKey, among, counts, first_of_each, of_holder, of_token};
    let database = chain("devchain").name;
    let (holder, some) = (tether(), U256::from(7));
    let key = IdKey { token: tether(), standard: "ERC-721".into(), id: some };
    let position = HoldingPosition { token: tether(), standard: "ERC-721" };
    let types = ["ERC-721"];
    let in_order = [
        (explain_in(database, &of_token(&tether(), "ERC-721", &Address::ZERO, None, 51))?, "InReverseOrder", 3),
        (explain_in(database, &of_token(&tether(), "ERC-721", &holder, Some(some), 51))?, "InReverseOrder", 4),
        (explain_in(database, &of_holder(&holder, &types, None, 51))?, "InOrder", 1),
        (explain_in(database, &of_holder(&holder, &types, Some(&key), 51))?, "InOrder", 2),
        (explain_in(database, &first_of_each(&holder, &types, None, 9, 459))?, "InOrder", 1),
        (explain_in(database, &first_of_each(&holder, &types, Some(&position), 9, 459))?, "InOrder", 2),
        (explain_in(database, &counts(&holder, &[tether()], &[key]))?, "InOrder", 2),
        (explain_in(database, &among(&holder, &[tether()], &[some]))?, "InOrder", 2),
    ];
    let keys: [String; 4] = ["holder", "token_address", "token_type", "token_id"].map(Into::into);
    for (reads, kind, pinned) in in_order {
        let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
        ensure!(read.table == "token_id_balances" && read.kind == kind, "{read:?}");
        ensure!(read.keys.starts_with(&keys[..pinned]), "{read:?}, {pinned} expected");
    }
    Ok(())
}

/// Parts of one transaction and of one block are ranges of the tables ordered by block.
#[test]
fn parts_of_transactions_and_blocks_are_read_by_key() -> anyhow::Result<()> {
    use trawl_query::transactions::internal::{FrameFilter, failed_call, listed_of_block, listed_of_transaction};
    let block = block(15_040_708);
    let reads = [
        only(&trawl_query::tokens::transfers::of_transaction_after(&block, 3, &[], Some((9, 0)), 51))?,
        only(&trawl_query::tokens::transfers::standards_in(&block, 51))?,
        only(&listed_of_transaction(&block, 3, Some(4), 51))?,
        only(&listed_of_block(&block, FrameFilter::default(), Some((3, 4)), 51))?,
        only(&failed_call(&block, 3))?,
    ];
    for read in reads {
        let is_of_block = ["token_transfers_by_block", "internal_transactions"].contains(&&*read.table);
        ensure!(is_of_block && read.keys.first().is_some_and(|key| key == "block_number"), "{read:?}");
        ensure!(read.by_key.0 <= 2, "{read:?}");
    }
    Ok(())
}

/// A proof reads the receipts and the logs of one block.
#[test]
fn receipts_of_a_block_are_read_by_its_height() -> anyhow::Result<()> {
    let receipts = only(&trawl_query::transactions::receipts::of_block(&block(15_040_708), 100))?;
    ensure!(receipts.table == "transactions" && receipts.keys == ["block_number"], "{receipts:?}");
    let logs = only(&trawl_query::transactions::receipts::logs_of_block(&block(15_040_708), 100))?;
    ensure!(logs.table == "logs_by_block" && logs.keys == ["block_number"], "{logs:?}");
    for read in [receipts, logs] {
        ensure!(read.kind == "InOrder" && read.by_key.0 <= 3, "{read:?}");
    }
    Ok(())
}

/// What an address did is a range of its own.
#[test]
fn activity_reads_the_range_of_its_address() -> anyhow::Result<()> {
    use trawl_core::primitives::BlockRange;
    use trawl_query::stats::charts;
    let settled = [BlockRange::new(15_040_700, 22_869_878).context("ordered")?];
    let keys: &[String] = &["address".into(), "block_number".into()];
    for read in
        [only(&charts::events::sums(&tether(), &settled))?, only(&charts::transfers::sums(&tether(), &settled))?]
    {
        ensure!(read.table == "logs" && read.keys.starts_with(keys) && read.by_key.0 < read.by_key.1, "{read:?}");
    }
    let read = only(&charts::counterparties::sums(&tether(), &settled))?;
    ensure!(
        read.table == "token_transfers" && read.keys.starts_with(keys) && read.by_key.0 < read.by_key.1,
        "{read:?}"
    );
    let newest = [BlockRange::new(22_800_000, 22_869_878).context("ordered")?];
    let read = only(&charts::transactions::sums(&[22_800_000, 22_860_000], &newest))?;
    ensure!(read.table == "transactions" && read.keys == ["block_number"] && read.by_key.0 < read.by_key.1, "{read:?}");
    let read = only(&charts::participants::sums(&tether(), &[15_040_700], &settled))?;
    ensure!(read.table == "logs" && read.keys.starts_with(keys) && read.by_key.0 < read.by_key.1, "{read:?}");
    let read = only(&charts::prices::sums(&[22_800_000, 22_860_000], &newest))?;
    ensure!(read.table == "transactions" && read.keys == ["block_number"] && read.by_key.0 < read.by_key.1, "{read:?}");
    for (read, table) in [
        (only(&charts::mining::gas_prices(&[22_800_000], &newest))?, "transactions"),
        (only(&charts::mining::headers(&[22_800_000], &newest))?, "blocks"),
        (only(&charts::mining::rewards(&[22_800_000], &newest))?, "internal_transactions"),
    ] {
        ensure!(read.table == table && read.keys[0] == "block_number", "{read:?}");
    }
    // The positions of the transactions are looked up first, as those of their lists are.
    let read = only(&charts::methods::sums(&tether(), &settled))?;
    ensure!(read.table == "transactions" && read.keys == ["block_number", "transaction_index"], "{read:?}");
    // The same of the frames that moved its coins, and of those that say why a transaction failed.
    let read = only(&charts::coins::sums(&tether(), &settled))?;
    let position: &[String] = &["block_number".into(), "transaction_index".into(), "frame_index".into()];
    ensure!(read.table == "internal_transactions" && read.keys == position, "{read:?}");
    let reads = explain(&charts::failures::sums(None, &newest))?;
    let tables: Vec<&str> = reads.iter().map(|read| read.table.as_str()).collect();
    ensure!(tables == ["transactions", "internal_transactions"], "{reads:?}");
    ensure!(reads[0].keys == ["block_number"] && reads[1].keys == position, "{reads:?}");
    Ok(())
}
