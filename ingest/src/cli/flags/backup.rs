//! The flags of `backup`, `restore` and `backups`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct BackupFlags {
    /// Folder of the new backup on ClickHouse's machine, inside `trawl-engine --backup-dir`; must not exist yet. Or
    /// s3://COLLECTION/PATH, a bucket that a named collection of ClickHouse's configuration has the URL and keys of.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Leave out what this backup has; a restore then needs both, at their current paths.
    #[arg(long, value_name = "FOLDER", env = "TRAWL_BACKUP_BASE")]
    pub base: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RestoreFlags {
    /// Folder of the backup on ClickHouse's machine, or s3://COLLECTION/PATH.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
}

#[derive(Debug, Args)]
pub struct BackupsFlags {
    /// Folder that contains the backups, or s3://COLLECTION[/PATH].
    #[arg(value_name = "FOLDER", env = "TRAWL_BACKUP_DIR")]
    pub folder: PathBuf,
    /// Keep this many of the newest backups and those that they build on; remove all others. Not in a
    /// bucket, from which ClickHouse does not delete.
    #[arg(long, value_name = "COUNT", env = "TRAWL_BACKUPS_KEEP")]
    pub keep: Option<NonZeroUsize>,
}
