//! EXPLAIN of wide scans: a participant's rows are a range of a key each, all others a stretch of the chain.

use anyhow::ensure;
use trawl_core::primitives::{
    Address, B256, Direction, FramePosition, LogPosition, TransactionPosition, TransferPosition,
};
use trawl_core::readable::Span;
use trawl_query::scan::{
    AddressLogScan, AddressTransactionScan, InternalTransactionScan, Participants, ScanSpec, TokenTransferScan,
    TraceScan, TransactionScan,
};

use super::{ReadPlan, everything, explain, only, tether};

fn by(side: &str, addresses: Vec<Address>) -> Participants {
    match side {
        "from" => Participants { from: addresses, ..Participants::default() },
        "to" => Participants { to: addresses, ..Participants::default() },
        _ => Participants { any: addresses, ..Participants::default() },
    }
}

fn check(read: &ReadPlan, table: &str, most: u64) -> anyhow::Result<()> {
    ensure!(read.table == table && read.kind == "InOrder" && read.keys[0] == "address", "{read:?}");
    ensure!(read.keys.contains(&"block_number".into()) && read.by_key.0 <= most, "{read:?}");
    Ok(())
}

#[test]
fn scans_of_a_participant_read_its_range_in_order() -> anyhow::Result<()> {
    let someone = vec![Address::repeat_byte(0x25)];
    for side in ["any", "from", "to"] {
        let participants = by(side, someone.clone());
        for after in [None, Some(FramePosition { block_number: 15_040_708, transaction_index: 3, frame_index: 9 })] {
            let scan = InternalTransactionScan { participants: participants.clone() };
            let order = if side == "any" { "address" } else { "direction" };
            let read = only(&scan.statement(&everything(), after, 5000))?;
            check(&read, &format!("internal_transactions_by_{order}"), 1)?;
        }
        for (tokens, types) in [(vec![], vec![]), (vec![tether()], vec!["ERC-20"])] {
            let table = match (side, tokens.len()) {
                ("any", 0) => "token_transfers",
                ("any", _) => "token_transfers_by_token",
                _ => "token_transfers_by_direction",
            };
            let scan = TokenTransferScan { participants: participants.clone(), tokens, types };
            let position = TransferPosition { block_number: 15_040_708, log_index: 3, batch_index: 0 };
            for after in [None, Some(position)] {
                check(&only(&scan.statement(&everything(), after, 5000))?, table, 2)?;
            }
        }
    }
    Ok(())
}

/// What an export reads: transactions at the positions that their own order has, logs along the key of their contract.
#[test]
fn exports_of_an_address_read_its_range() -> anyhow::Result<()> {
    for direction in [None, Some(Direction::From), Some(Direction::To)] {
        for after in [None, Some(TransactionPosition { block_number: 15_040_708, transaction_index: 3 })] {
            let scan = AddressTransactionScan { address: tether(), direction };
            let statement = scan.statement(&everything(), after, 5000);
            ensure!(!statement.is_one_range, "all positions of an address would be held at once");
            let rows = only(&statement)?;
            ensure!(rows.table == "transactions" && rows.keys == ["block_number", "transaction_index"], "{rows:?}");
        }
    }
    for topic in [None, Some(B256::repeat_byte(0x12))] {
        for after in [None, Some(LogPosition { block_number: 15_040_708, log_index: 3 })] {
            let scan = AddressLogScan { address: tether(), topic };
            check(&only(&scan.statement(&everything(), after, 5000))?, "logs", 4)?;
        }
    }
    Ok(())
}

#[test]
fn scans_of_several_read_a_range_each() -> anyhow::Result<()> {
    let several: Vec<Address> = (1..=8).map(|byte| Address::repeat_byte(byte * 31)).collect();
    for side in ["any", "from", "to"] {
        let scan = TokenTransferScan { participants: by(side, several.clone()), ..TokenTransferScan::default() };
        let reads = explain(&scan.statement(&everything(), None, 5000))?;
        ensure!(reads.len() == 8, "{reads:?}");
        let table = if side == "any" { "token_transfers" } else { "token_transfers_by_direction" };
        reads.iter().try_for_each(|read| check(read, table, 2))?;
    }
    Ok(())
}

fn in_order<S: ScanSpec>(scan: &S, blocks: &Span, table: &str) -> anyhow::Result<ReadPlan> {
    // A set of addresses is a read of its own.
    let reads = explain(&scan.statement(blocks, None, 5000))?;
    let read = reads.into_iter().find(|read| read.table == table);
    let Some(read) = read else { anyhow::bail!("{table} is not read") };
    ensure!(read.kind == "InOrder" && read.keys == ["block_number"], "{read:?}");
    Ok(read)
}

#[test]
fn scans_without_participants_read_the_chain_in_order() -> anyhow::Result<()> {
    let many: Vec<Address> = (0..20).map(Address::repeat_byte).collect();
    let window = trawl_core::primitives::BlockRange::new(15_040_700, 15_040_710);
    let window: Span = window.into_iter().collect::<Vec<_>>().into();
    for participants in [Participants::default(), by("any", many.clone()), by("from", many)] {
        let frames = InternalTransactionScan { participants: participants.clone() };
        in_order(&frames, &everything(), "internal_transactions")?;
        in_order(
            &TraceScan { participants: participants.clone(), ..TraceScan::default() },
            &everything(),
            "internal_transactions",
        )?;
        let transfers = TokenTransferScan { participants: participants.clone(), ..TokenTransferScan::default() };
        in_order(&transfers, &everything(), "token_transfers_by_block")?;
        let transactions = TransactionScan { participants };
        in_order(&transactions, &everything(), "transactions")?;
        let read = in_order(&transactions, &window, "transactions")?;
        ensure!(read.by_key.0 < read.by_key.1, "{read:?}");
    }
    Ok(())
}
