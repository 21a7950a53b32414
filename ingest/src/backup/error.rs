//! Errors of backups and restores, and what to do about them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trawl_core::store::StoreError;

/// Why a backup or a restore failed.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A backup of nothing restores nothing.
    #[error("nothing is loaded, so there is nothing to back up")]
    NothingLoaded,
    /// The engine writes to its folder for backups only.
    #[error(
        "ClickHouse may not use {path} for backups: start trawl-engine with --backup-dir and a folder that it is \
         in (a ClickHouse server has `backups.allowed_path` for that)"
    )]
    NotAllowed {
        /// Folder of the backup.
        path: PathBuf,
    },
    /// A backup is never written over.
    #[error("{path} is already a backup: name one that does not exist")]
    Exists {
        /// Folder of the backup that is there.
        path: PathBuf,
    },
    /// The folder has other contents.
    #[error("{path} exists and is not a backup: name a folder or path that does not exist")]
    Foreign {
        /// Folder that is no backup.
        path: PathBuf,
    },
    /// The folder is on another machine.
    #[error(
        "ClickHouse wrote to {path}, which this program cannot find: run it on ClickHouse's machine, as its user, and \
         remove the folder there"
    )]
    NotHere {
        /// Folder, as ClickHouse sees it.
        path: PathBuf,
    },
    /// There is no backup to restore or to use as a base.
    #[error(
        "{path} is not a backup: it has no backup.json, which is written last; `trawl-ingest backups` lists those of \
         a folder"
    )]
    Missing {
        /// Folder without `backup.json`.
        path: PathBuf,
    },
    /// The file that describes a backup is not as it was written.
    #[error("{path} is no manifest of a backup: restore that file from a copy of the folder, or remove the folder")]
    Manifest {
        /// File of the manifest.
        path: PathBuf,
        /// What of it cannot be read.
        source: serde_json::Error,
    },
    /// What a backup builds on is not known, so any other may be needed.
    #[error(
        "no backup was removed, as {path} cannot be read and may build on any of them: mend its backup.json or its \
         rights, or move that folder elsewhere, and run this again"
    )]
    NotPruned {
        /// Folder of the backup that cannot be read.
        path: PathBuf,
    },
    /// What follows `s3://` is no path of a backup.
    #[error(
        "{path} is no path in a bucket: write s3://COLLECTION/PATH, with a named collection of ClickHouse's \
         configuration and a path of letters, digits and `-_./`"
    )]
    InvalidBucketPath {
        /// As it was given.
        path: PathBuf,
    },
    /// ClickHouse has no such collection, or its account may not use it.
    #[error(
        "ClickHouse cannot use the named collection `{collection}`: its configuration (trawl-engine --config) needs \
         <named_collections><{collection}> with url, access_key_id and secret_access_key"
    )]
    NoCollection {
        /// Name of the collection.
        collection: String,
    },
    /// The storage is away.
    #[error(
        "{path} does not answer within {limit:?}: look after the storage and the URL in ClickHouse's configuration"
    )]
    Silent {
        /// Path in the bucket.
        path: PathBuf,
        /// How long it was waited for.
        limit: Duration,
    },
    /// A list is bounded.
    #[error("{path} has more than {limit} backups: name a path below it")]
    TooMany {
        /// Path of the backups.
        path: PathBuf,
        /// Most that are listed.
        limit: usize,
    },
    /// ClickHouse writes objects and deletes none.
    #[error(
        "{path} has objects and no backup.json, of a backup that was interrupted or is being written: remove these \
         objects with your storage's own tools, or take another path"
    )]
    Remains {
        /// Path of the backup.
        path: PathBuf,
    },
    /// ClickHouse writes objects and deletes none.
    #[error(
        "backups in a bucket are not removed from here: remove {path}'s with your storage's own tools, and keep those \
         that others build on; `trawl-ingest backups {path}` names them"
    )]
    NoPruning {
        /// Path of the backups.
        path: PathBuf,
    },
    /// Its manifest is there, and objects are not.
    #[error(
        "ClickHouse does not find all objects of {path} or of the backup that it builds on: put them back, or use \
         another backup"
    )]
    ObjectsMissing {
        /// Path of the backup.
        path: PathBuf,
    },
    /// A folder and a bucket.
    #[error("{path} cannot build on {base}: one is a folder and the other in a bucket")]
    OtherKind {
        /// Path of the backup.
        path: PathBuf,
        /// Path of its base.
        base: PathBuf,
    },
    /// The base of a backup was replaced.
    #[error(
        "{path} builds on {base}, where another backup is by now: give that folder its name of before, or use another \
         backup"
    )]
    BaseReplaced {
        /// Folder of the requested backup.
        path: PathBuf,
        /// Folder of its base.
        base: PathBuf,
    },
    /// The base of a backup is missing.
    #[error("{path} builds on {base}, which is no longer a backup: put that folder back, or use another backup")]
    BaseMissing {
        /// Folder of the requested backup.
        path: PathBuf,
        /// Folder of its base.
        base: PathBuf,
    },
    /// A backup of another chain saves nothing.
    #[error("{path} is a backup of chain {}, and the database holds chain {}: name one of the same chain, or no \
    --base", chain(*found), chain(*expected))]
    OtherChain {
        /// Folder of the backup to build on.
        path: PathBuf,
        /// Chain id in its manifest; `None` if no source named it.
        found: Option<u64>,
        /// That of the database.
        expected: Option<u64>,
    },
    /// The database has tables already.
    #[error(
        "database `{database}` has tables: restore into another one (--clickhouse-database), or drop it first \
         (`DROP DATABASE {database}`)"
    )]
    Used {
        /// Name of the database.
        database: String,
    },
    /// A restore was killed.
    #[error(
        "database `{database}` is being restored, or its restore was interrupted: run `trawl-ingest restore` again"
    )]
    HalfRestored {
        /// Name of the database.
        database: String,
    },
    /// Made by a later release.
    #[error("the backup has schema version {found}, which is newer than this program's {ours}: use a newer Trawl")]
    Newer {
        /// Schema version of the backup.
        found: u32,
        /// Schema version that this program needs.
        ours: u32,
    },
    /// Another backup or restore is running.
    #[error(
        "another backup or restore is running on this ClickHouse, or at this path of a bucket: wait for its end, and \
         run this again"
    )]
    Running,
    /// What is committed is taken back and loaded again.
    #[error(
        "a `trawl-ingest repair` is removing commits, or was interrupted: wait for it, or run it again, and then this"
    )]
    Repairing,
    /// One server alone is backed up.
    #[error("tables on a cluster are not backed up by this program: see docs/operate/backup.md")]
    Cluster,
    /// A disk has no room for the backup.
    #[error(
        "no space left on the disk of {path} or on that of ClickHouse: free some (`trawl-ingest backups FOLDER --keep \
         N` removes old backups), and run this again; partial files and tables are removed first"
    )]
    Full {
        /// Folder of the backup.
        path: PathBuf,
    },
    /// ClickHouse wrote less than it said, as it does on a full disk, or something changed it since.
    #[error(
        "{path} is truncated or missing, so this is not a backup: free space on its disk (`trawl-ingest backups FOLDER \
         --keep N` removes old backups), and run the backup again"
    )]
    CutOff {
        /// File that is cut off or not there.
        path: PathBuf,
    },
    /// The folder cannot be read or written.
    #[error("{path}: run this as the user that ClickHouse runs as")]
    Folder {
        /// A file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// ClickHouse did not answer, or refused for another reason.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn chain(id: Option<u64>) -> String {
    id.map_or_else(|| "unknown".into(), |id| id.to_string())
}

/// ClickHouse's codes: BACKUP_ALREADY_EXISTS, BACKUP_NOT_FOUND.
const ALREADY_EXISTS: i32 = 598;
const NOT_FOUND: i32 = 599;

/// ClickHouse's codes: BAD_ARGUMENTS, NAMED_COLLECTION_DOESNT_EXIST.
const BAD_ARGUMENTS: i32 = 36;
const NO_COLLECTION: i32 = 669;

/// Maps the error of a statement about the objects of a bucket.
pub(super) fn of_bucket(error: StoreError, collection: &str) -> BackupError {
    match &error {
        StoreError::Refused { code: NO_COLLECTION, .. } => BackupError::NoCollection { collection: collection.into() },
        StoreError::Refused { code: BAD_ARGUMENTS, message } if message.contains("no named collection") => {
            BackupError::NoCollection { collection: collection.into() }
        }
        _ => BackupError::Store(error),
    }
}

/// Maps the error of a failed BACKUP or RESTORE of the backup `path`.
pub(super) fn of_statement(error: StoreError, path: &Path) -> BackupError {
    let path = path.to_owned();
    match &error {
        StoreError::Refused { message, .. } if message.contains("backups.allowed_path") => {
            BackupError::NotAllowed { path }
        }
        StoreError::Refused { message, .. }
            if path.starts_with("s3:") && message.contains("concurrent backup writing") =>
        {
            BackupError::Running
        }
        // The file that says who writes is cut off too.
        StoreError::Refused { message, .. } if message.contains("concurrent backup writing") => {
            BackupError::Full { path }
        }
        StoreError::Refused { code: ALREADY_EXISTS, .. } => BackupError::Exists { path },
        StoreError::Refused { code: NOT_FOUND, .. } if path.starts_with("s3:") => BackupError::ObjectsMissing { path },
        StoreError::Refused { code: NOT_FOUND, .. } => BackupError::Missing { path },
        full if full.is_full_disk() => BackupError::Full { path },
        _ => BackupError::Store(error),
    }
}
