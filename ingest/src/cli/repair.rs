//! `trawl-ingest repair`: reloads lost blocks.
//!
//! What is to be loaded is announced first, under a run whose name says what it is for; then commits are taken back,
//! rows removed, and the blocks loaded like any others. A repair that is killed has left its announcement, by which the
//! next one goes on. Broken parts are forgotten last.

use tokio::sync::watch;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::schema::STATISTICS_TABLES;
use trawl_core::store::{Damage, Head, Reader, Writer};
use trawl_ingest::fill::FillParts;
use trawl_ingest::load::completeness::IncompleteLoad;
use trawl_ingest::load::pipeline::Ending;
use trawl_ingest::write::batch::announcement;
use trawl_ingest::write::clock::now;
use trawl_ingest::write::lease::{Lease, LeaseGuard, LeaseScope};
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::recover::{recover, remove, wait_for_foreign_inserts};
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;
use super::family::state_again;
use super::fill::{fill_command, hint};
use super::flags::{LoadFlags, ProbeFlags, RangeEnd, RepairFlags};
use super::load::load_missing;
use super::setup::stop_on_signal;

/// Finds lost blocks and loads them again; then fills in parts that were never stored, if the flags say so, with
/// `filler`.
pub async fn repair_command(
    flags: RepairFlags,
    reader: &Reader,
    writer: Writer,
    filler: Writer,
) -> Result<(), Failure> {
    let mut stop = stop_on_signal()?;
    writer.require_schema().await?;
    let acquired = Lease::acquire(reader, &writer, &LeaseScope::Database, flags.lease.contention(), &mut stop).await?;
    let Some(lease) = acquired else { return Err(Failure::Interrupted) };
    let database = LeasedDatabase { reader: reader.clone(), writer, guard: lease.guard() };
    let ended = repair_leased(flags, &database, filler, stop).await;
    lease.release().await;
    ended
}

async fn repair_leased(
    flags: RepairFlags,
    database: &LeasedDatabase,
    filler: Writer,
    mut stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    wait_for_foreign_inserts(reader, writer.run(), guard, &mut stop).await?;
    let damage = retry_transient(|| reader.damage()).await?;
    if let Some(given) = flags.reading.chain_family {
        let head = retry_transient(|| Head::load(reader)).await?;
        state_again(given, head.chain_id.or(flags.chain_id), reader, writer).await?;
    }
    match damage.is_none() {
        true => println!("nothing is damaged"),
        false => repair_damage(&flags, &damage, database, stop.clone()).await?,
    }
    let parts: FillParts = flags.fill.iter().map(|flag| flag.part()).collect();
    let head = retry_transient(|| Head::load(reader)).await?;
    if parts.is_empty() {
        hint(&head).into_iter().for_each(|hint| println!("{hint}"));
        return Ok(());
    }
    // What an interrupted fill left.
    recover(reader, writer, guard, head.blocks.settled()).await?;
    let database = LeasedDatabase { writer: filler, ..database.clone() };
    fill_command(&flags.reading, flags.source.source(), database, parts, &stop).await
}

/// Reloads lost blocks.
async fn repair_damage(
    flags: &RepairFlags,
    damage: &Damage,
    database: &LeasedDatabase,
    stop: watch::Receiver<bool>,
) -> Result<(), Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    let lost = lost_blocks(reader, damage).await?;
    println!("{damage}");
    let source = flags.source.source();
    if !lost.is_empty() && source.is_none() {
        return Err(Failure::NoSource);
    }
    take_back(&lost, damage, database).await?;
    if let (Some(source), Some(range)) = (source, outermost(&lost)) {
        let head = retry_transient(|| Head::load(reader)).await?;
        let flags = LoadFlags {
            probes: ProbeFlags { metrics_listen: None },
            source: flags.source.clone(),
            from: range.first(),
            to: Some(RangeEnd::Block(range.last())),
            slice: None,
            lease: flags.lease,
            reading: flags.reading.clone(),
            quarantine: false,
            merge: super::flags::MergeFlag::On,
            chain_id: flags.chain_id,
        };
        let all = BlockRange::new(0, u64::MAX);
        let others: Coverage = all.into_iter().flat_map(|all| lost.missing(all)).collect();
        if load_missing(&flags, source, database, &head, others, stop).await? == Ending::Stopped {
            return Err(Failure::Interrupted);
        }
        require_loaded(reader, &lost).await?;
    }
    forget_broken(reader, writer, guard).await?;
    println!("repaired {}", if lost.is_empty() { "tables" } else { "blocks" });
    hints(damage);
    Ok(())
}

/// The blocks that are to be loaded again: those with fewer rows than were committed, those an earlier repair has taken
/// back and not loaded, and, if commits were lost, those that have rows and no commit.
async fn lost_blocks(reader: &Reader, damage: &Damage) -> Result<Coverage, Failure> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let committed = head.blocks.settled();
    let mut lost: Vec<BlockRange> =
        [damage.blocks(), damage.withdrawn.clone()].iter().flat_map(Coverage::ranges).copied().collect();
    if damage.others.iter().any(|table| table == "ingest_commits") {
        let stored = retry_transient(|| reader.stored_heights()).await?;
        lost.extend(stored.without(committed).ranges());
    }
    Ok(lost.into_iter().collect())
}

/// Announces the blocks, takes back their commits and removes what is left of their rows; empties tables that are made
/// again from others.
async fn take_back(lost: &Coverage, damage: &Damage, database: &LeasedDatabase) -> Result<(), Failure> {
    let LeasedDatabase { reader, writer, guard } = database;
    if !lost.is_empty() {
        let intents = announcement(lost.ranges(), writer.run(), now());
        let token = format!("{}/repair", writer.run());
        retry_transient(|| guard.write(writer.insert("ingest_intents", &intents.rows, &token))).await?;
        retry_transient(|| guard.write(writer.withdraw_commits(lost.ranges()))).await?;
    }
    let committed = retry_transient(|| Head::load(reader)).await?.blocks.settled().clone();
    for range in lost.ranges().iter().flat_map(|range| committed.missing(*range)) {
        tracing::info!(blocks = %range, "removing remaining rows");
        remove(writer, guard, range).await?;
    }
    recover(reader, writer, guard, &committed).await?;
    if damage.others.iter().any(|table| table == "ingest_intents") {
        // Rows of a killed run may be anywhere.
        for range in BlockRange::new(0, u64::MAX).into_iter().flat_map(|all| committed.missing(all)) {
            remove(writer, guard, range).await?;
        }
    }
    let is_hit = |tables: &[&str]| damage.others.iter().any(|table| tables.contains(&table.as_str()));
    if damage.others.iter().any(|table| table.starts_with("hot_") || table == "ingest_heads") {
        retry_transient(|| guard.write(writer.empty_hot())).await?;
    }
    if is_hit(&STATISTICS_TABLES) || !lost.is_empty() {
        for table in STATISTICS_TABLES {
            retry_transient(|| guard.write(writer.empty_if_there(table))).await?;
        }
    }
    Ok(())
}

fn outermost(lost: &Coverage) -> Option<BlockRange> {
    BlockRange::new(lost.first()?, lost.head()?)
}

/// Reports the blocks that the source did not have.
async fn require_loaded(reader: &Reader, lost: &Coverage) -> Result<(), Failure> {
    let head = retry_transient(|| Head::load(reader)).await?;
    let missing = lost.without(head.blocks.settled());
    if missing.is_empty() {
        return Ok(());
    }
    let blocks: Vec<String> = missing.ranges().iter().map(ToString::to_string).collect();
    Err(IncompleteLoad::Missing(blocks.join(", ")).into())
}

async fn forget_broken(reader: &Reader, writer: &Writer, guard: &LeaseGuard) -> Result<(), Failure> {
    for part in retry_transient(|| reader.broken_parts()).await? {
        retry_transient(|| guard.write(writer.drop_broken(&part))).await?;
    }
    Ok(())
}

/// Reports what only the operator can restore.
fn hints(damage: &Damage) {
    for table in &damage.others {
        let hint = match table.as_str() {
            "address_labels"
            | "contract_abis"
            | "contract_sources"
            | "source_contents"
            | "label_loads"
            | "event_signatures"
            | "function_signatures" => "load your files again with `trawl-ingest labels`",
            "chain_configurations" => {
                "run `trawl-ingest load` with --genesis again, and `trawl-ingest repair` with --chain-family, as far as you gave them"
            }
            "left_out_tables" => "if tables were left out, run `trawl-ingest migrate --without` again",
            "tokens" => "`trawl-ingest load` or `follow` requests from a node what is missing",
            "reorged_blocks" | "reorged_withdrawals" => "its rows of orphaned blocks are lost",
            _ => continue,
        };
        println!("`{table}`: {hint}");
    }
}
