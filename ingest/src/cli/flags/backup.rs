//! The flags of `backup`, `restore` and `backups`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub struct BackupFlags {
    /// The folder of the backup on ClickHouse's machine, which is not there yet: in that of `trawl-engine
    /// --backup-dir`.
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Leave out what this backup has: both are needed for a restore, where they are now.
    #[arg(long, value_name = "FOLDER", env = "TRAWL_BACKUP_BASE")]
    pub base: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RestoreFlags {
    /// The folder of the backup on ClickHouse's machine.
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
}

#[derive(Debug, Args)]
pub struct BackupsFlags {
    /// The folder that backups are in.
    #[arg(value_name = "FOLDER", env = "TRAWL_BACKUP_DIR")]
    pub folder: PathBuf,
    /// Remove all but the newest ones and those that they build on.
    #[arg(long, value_name = "COUNT", env = "TRAWL_BACKUPS_KEEP")]
    pub keep: Option<NonZeroUsize>,
}
