//! Copies of a database: folders of ClickHouse's machine or paths in a bucket, of which some build on others.
//!
//! ClickHouse copies the tables of a database one after another while `follow` goes on, so a copy is not of one moment.
//! What makes rows count is therefore copied before the rows ([`BackupPart::ALL`]), and what a restore finds beyond
//! that is removed, as after a load that was killed: the rest is the database as it was at a commit. Steps of the
//! statistics of tokens change rows that are there, so these are cloned while no step is written. Leases are not
//! restored.

use std::time::{Duration, Instant};

use trawl_core::primitives::Coverage;
use trawl_core::schema::migrations::current_version;
use trawl_core::schema::{BLOCK_TABLES, OPTIONAL_TABLES};
use trawl_core::store::{BackupPart, Head, Reader, RestoreTarget, StatisticsCopy, StoreError, Writer};

use crate::write::lease::LeaseGuard;
use crate::write::retry::retry_transient;

mod bucket;
mod chain;
mod contents;
mod error;
mod folder;
mod manifest;
mod store;

pub use bucket::BackupBucket;
pub use chain::{Completion, ListedBackup, StoredBackup};
pub use error::BackupError;
pub use folder::BackupFolder;
pub use manifest::Manifest;
pub use store::{BackupStore, list_at, prune_at};

use error::of_statement;

/// How long a BACKUP or RESTORE of a killed program may take to end.
const END_OF_OTHERS: Duration = Duration::from_secs(30);
/// Between two looks at whether one still runs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Copies the database to `to`, without what the backup `base` has.
///
/// # Errors
///
/// If nothing is loaded, a repair takes commits back meanwhile, `to` is there already, `base` is of another chain or
/// not there, or ClickHouse does not write.
pub async fn back_up(
    reader: &Reader,
    writer: &Writer,
    database: &str,
    to: &BackupStore,
    base: Option<&BackupStore>,
) -> Result<Manifest, BackupError> {
    let head = Head::load(reader).await?;
    let settled = head.blocks.settled();
    let range = settled.first().zip(settled.head()).ok_or(BackupError::NothingLoaded)?;
    if let Some(base) = base {
        base.require_base(to, head.chain_id, writer).await?;
    }
    match to {
        BackupStore::Folder(folder) => folder.make_room(|| wait_for_others(writer)).await?,
        BackupStore::Bucket(bucket) => {
            wait_for_others(writer).await?;
            bucket.require_room(writer).await?;
        }
    }
    let repairs = writer.repair_leases().await?;
    if repairs.live > 0 {
        return Err(BackupError::Repairing);
    }
    let statistics = writer.clone_statistics().await?;
    let copied = copy_parts(writer, to, base).await;
    writer.drop_clones().await?;
    if let Err(error) = copied {
        // What is half there would take the room that another attempt needs.
        to.remove_unfinished()?;
        return Err(error);
    }
    if writer.repair_leases().await? != repairs {
        to.remove()?;
        return Err(BackupError::Repairing);
    }
    let manifest = Manifest {
        database: database.into(),
        chain_id: head.chain_id,
        first_block: range.0,
        last_block: range.1,
        schema_version: current_version(),
        statistics: statistics == StatisticsCopy::Whole,
        base: base.map(BackupStore::real),
        ..Manifest::of_now()
    };
    to.finish(writer, &manifest).await?;
    Ok(manifest)
}

async fn copy_parts(writer: &Writer, to: &BackupStore, base: Option<&BackupStore>) -> Result<(), BackupError> {
    for part in BackupPart::ALL {
        let base = base.filter(|_| matches!(part, BackupPart::Rows | BackupPart::Statistics));
        let base = base.map(|base| base.base_part(part));
        let copied = writer.back_up(part, &to.part(part), base.as_ref()).await;
        copied.map_err(|error| of_statement(error, to.path()))?;
        to.require_part(part)?;
    }
    Ok(())
}

/// Makes the tables of the database from the backup `from`. Then [`remove_uncommitted`] and [`complete`] are needed,
/// unless an earlier restore came to its end.
///
/// # Errors
///
/// If `from` or what it builds on is not there, the database has tables, or ClickHouse does not restore.
pub async fn restore(writer: &Writer, database: &str, from: &BackupStore) -> Result<RestoreProgress, BackupError> {
    let manifest = from.require_whole(writer).await?;
    if manifest.schema_version > current_version() {
        return Err(BackupError::Newer { found: manifest.schema_version, ours: current_version() });
    }
    from.require_contents()?;
    wait_for_others(writer).await?;
    match writer.restore_target().await? {
        RestoreTarget::Used => return Err(BackupError::Used { database: database.into() }),
        RestoreTarget::Restored => return Ok(RestoreProgress::Done),
        RestoreTarget::HalfRestored => {
            tracing::info!(database, "removing what an interrupted restore left behind");
            writer.drop_half_restored().await?;
        }
        RestoreTarget::Empty => {}
    }
    writer.begin_restore().await?;
    // Views of `rows` read the others.
    for part in BackupPart::ALL {
        let restored = writer.restore(part, &manifest.database, &from.part(part)).await;
        restored.map_err(|error| of_statement(error, from.path()))?;
    }
    // The runs that hold them write to the original.
    writer.empty("ingest_leases").await?;
    Ok(RestoreProgress::Tables(manifest))
}

/// How far a restore is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreProgress {
    /// The tables are there, with rows that no commit is of.
    Tables(Manifest),
    /// The database was restored before; nothing is left to do.
    Done,
}

/// Removes what the backup has beyond its commits.
///
/// # Errors
///
/// If ClickHouse cannot be reached or refuses a statement.
pub async fn remove_uncommitted(
    reader: &Reader,
    writer: &Writer,
    guard: &LeaseGuard,
    committed: &Coverage,
) -> Result<(), StoreError> {
    for (table, column) in BLOCK_TABLES.into_iter().chain(OPTIONAL_TABLES) {
        let rows = retry_transient(|| guard.write(writer.delete_uncommitted(reader, table, column, committed))).await?;
        if rows > 0 {
            tracing::info!(table, rows, "removed rows that were not committed");
        }
    }
    Ok(())
}

/// Says that the database is restored: programs use it from then on.
///
/// # Errors
///
/// If ClickHouse cannot be reached or refuses a statement.
pub async fn complete(writer: &Writer, manifest: &Manifest, from: &BackupStore) -> Result<(), BackupError> {
    let restored = writer.restore_schema(&manifest.database, &from.part(BackupPart::Rows)).await;
    restored.map_err(|error| of_statement(error, from.path()))
}

/// Waits until the statements of a program that was killed have ended: ClickHouse cancels them when it finds out.
async fn wait_for_others(writer: &Writer) -> Result<(), BackupError> {
    let started = Instant::now();
    while writer.running_backups().await? > 0 {
        if started.elapsed() > END_OF_OTHERS {
            return Err(BackupError::Running);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    Ok(())
}
