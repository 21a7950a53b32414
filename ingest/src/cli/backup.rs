//! `trawl-ingest backup`, `restore` and `backups`.

use tokio::sync::watch;
use trawl_core::store::{Choice, Head, Reader, RestoreTarget, Writer};
use trawl_ingest::backup::{
    BackupError, BackupStore, Completion, RestoreProgress, back_up, complete, list_at, prune_at, remove_uncommitted,
    restore,
};
use trawl_ingest::labels::bundled;
use trawl_ingest::write::lease::{ContentionPolicy, Lease, LeaseScope};
use trawl_ingest::write::recover::recover;
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;
use super::flags::{BackupFlags, BackupsFlags, RestoreFlags};
use super::verify::verify_command;

/// Copies the database.
pub async fn backup_command(
    flags: &BackupFlags,
    database: &str,
    reader: &Reader,
    writer: &Writer,
) -> Result<(), Failure> {
    writer.require_schema().await?;
    let to = BackupStore::new(&flags.to)?;
    let base = flags.base.as_deref().map(BackupStore::new).transpose()?;
    let manifest = back_up(reader, writer, database, &to, base.as_ref()).await?;
    println!("blocks {} to {} are in {}", manifest.first_block, manifest.last_block, to.path().display());
    if !manifest.statistics {
        println!("without token holders, which were being counted: `follow` counts them again after a restore");
    }
    Ok(())
}

/// Restores the database from a backup, and verifies it.
pub async fn restore_command(
    flags: &RestoreFlags,
    database: &str,
    reader: &Reader,
    writer: &Writer,
) -> Result<(), Failure> {
    let from = BackupStore::new(&flags.from)?;
    if let RestoreProgress::Tables(manifest) = restore(writer, database, &from).await? {
        let (_end, mut stop) = watch::channel(false);
        let lease = Lease::acquire(reader, writer, &LeaseScope::Database, ContentionPolicy::Wait, &mut stop).await?;
        let lease = lease.ok_or(Failure::Interrupted)?;
        let head = retry_transient(|| Head::load(reader)).await?;
        let committed = head.blocks.settled();
        remove_uncommitted(reader, writer, &lease.guard(), committed).await?;
        recover(reader, writer, &lease.guard(), committed).await?;
        complete(writer, &manifest, &from).await?;
        lease.release().await;
    }
    // Views as text and functions are of no backup.
    writer.migrate(&Choice::default(), None).await?;
    bundled::write(reader, writer).await?;
    writer.end_restore().await?;
    println!("restored from {}; the API and `follow` may use it during verification", from.path().display());
    verify_command(0, None, reader, writer).await
}

/// Lists the backups in a folder, after removing old ones if `--keep` is given. If they are not removed, the list helps
/// to see why.
pub async fn backups_command(flags: &BackupsFlags, writer: &Writer) -> Result<(), Failure> {
    let pruned = flags.keep.map_or(Ok(Vec::new()), |keep| prune_at(&flags.folder, keep.get()));
    for backup in pruned.iter().flatten() {
        println!("removed {}", backup.folder.path().display());
    }
    for backup in list_at(&flags.folder, writer).await? {
        let (path, size) = (backup.path.display(), bytesize::ByteSize(backup.size_bytes));
        match backup.completion {
            Completion::Whole(manifest) => {
                let base =
                    manifest.base.as_ref().map(|base| format!(", builds on {}", base.display())).unwrap_or_default();
                let (time, first, last) = (manifest.time(), manifest.first_block, manifest.last_block);
                println!("{path}: {time}, blocks {first} to {last}, {size}{base}");
            }
            Completion::Unreadable(error) => println!("{path}: unreadable: {}", trawl_core::error_chain(&error)),
            Completion::Unfinished => {
                println!("{path}: incomplete, {size}; it can be removed unless a backup is still writing it");
            }
        }
    }
    pruned?;
    Ok(())
}

/// Refuses to migrate a database that is being restored: its tables would be in the way.
pub async fn require_no_restore(database: &str, writer: &Writer) -> Result<(), Failure> {
    match writer.restore_target().await? {
        RestoreTarget::HalfRestored => Err(BackupError::HalfRestored { database: database.into() }.into()),
        RestoreTarget::Empty | RestoreTarget::Restored | RestoreTarget::Used => Ok(()),
    }
}
