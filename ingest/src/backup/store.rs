//! Where a backup is: a folder of ClickHouse's machine, or a bucket.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trawl_core::store::{BackupLocation, BackupPart, Writer};

use super::bucket::BackupBucket;
use super::chain::{self, ListedBackup, StoredBackup};
use super::contents::{require_contents, require_files};
use super::error::BackupError;
use super::folder::BackupFolder;
use super::manifest::Manifest;

/// Where a backup is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackupStore {
    /// A folder of ClickHouse's machine.
    Folder(BackupFolder),
    /// A path in a bucket, `s3://COLLECTION/PATH`.
    Bucket(BackupBucket),
}

impl BackupStore {
    /// The one that a command line names.
    ///
    /// # Errors
    ///
    /// If a folder above cannot be entered, or what follows `s3://` is no collection and path.
    pub fn new(path: &Path) -> Result<Self, BackupError> {
        match BackupBucket::parse(path) {
            Some(bucket) => Ok(Self::Bucket(bucket?.require_path()?)),
            None => Ok(Self::Folder(BackupFolder::new(path)?)),
        }
    }

    /// As it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Folder(folder) => folder.path(),
            Self::Bucket(bucket) => bucket.shown(),
        }
    }

    /// What tells it from others, and what a backup remembers of its base.
    pub(super) fn real(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.real().to_owned(),
            Self::Bucket(bucket) => bucket.shown().to_owned(),
        }
    }

    /// Where a part of it is.
    pub(super) fn part(&self, part: BackupPart) -> BackupLocation {
        match self {
            Self::Folder(folder) => BackupLocation::Folder(folder.part(part)),
            Self::Bucket(bucket) => bucket.part(part),
        }
    }

    /// The same part where a backup builds on it: not by a link, which may lead elsewhere the next day.
    pub(super) fn base_part(&self, part: BackupPart) -> BackupLocation {
        match self {
            Self::Folder(folder) => BackupLocation::Folder(folder.target().part(part)),
            Self::Bucket(bucket) => bucket.part(part),
        }
    }

    /// The manifest of a backup, all of whose bases are there.
    pub(super) async fn require_whole(&self, writer: &Writer) -> Result<Manifest, BackupError> {
        let bucket = match self {
            Self::Folder(folder) => return chain::require_whole(folder),
            Self::Bucket(bucket) => bucket,
        };
        let missing = || BackupError::Missing { path: bucket.shown().to_owned() };
        let manifest = bucket.manifest(writer).await?.ok_or_else(missing)?;
        let (mut path, mut next) = (bucket.shown().to_owned(), manifest.base.clone());
        let mut passed = BTreeSet::from([path.clone()]);
        while let Some(base) = next {
            let found = match BackupBucket::parse(&base) {
                Some(of) => of?.manifest(writer).await?,
                None => None,
            };
            let found = found.ok_or_else(|| BackupError::BaseMissing { path: path.clone(), base: base.clone() })?;
            if !passed.insert(base.clone()) {
                return Err(BackupError::BaseReplaced { path, base });
            }
            (path, next) = (base, found.base);
        }
        Ok(manifest)
    }

    /// Checks that it may be the base of a backup of `chain_id` at `to`.
    pub(super) async fn require_base(
        &self,
        to: &Self,
        chain_id: Option<u64>,
        writer: &Writer,
    ) -> Result<(), BackupError> {
        let path = self.path().to_owned();
        if matches!((self, to), (Self::Folder(_), Self::Bucket(_)) | (Self::Bucket(_), Self::Folder(_))) {
            return Err(BackupError::OtherKind { path: to.path().to_owned(), base: path });
        }
        let manifest = self.require_whole(writer).await?;
        chain::require_chain(&manifest, path, chain_id)
    }

    /// Checks what ClickHouse wrote of a part. The objects of a bucket have their sizes or are not there.
    pub(super) fn require_part(&self, part: BackupPart) -> Result<(), BackupError> {
        let Self::Folder(folder) = self else { return Ok(()) };
        folder.require_here()?;
        require_files(Path::new(&folder.part(part)))
    }

    /// Checks what was written before.
    pub(super) fn require_contents(&self) -> Result<(), BackupError> {
        match self {
            Self::Folder(folder) => require_contents(folder),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Makes a backup of it: all its parts are there.
    pub(super) async fn finish(&self, writer: &Writer, manifest: &Manifest) -> Result<(), BackupError> {
        match self {
            Self::Folder(folder) => folder.finish(manifest),
            Self::Bucket(bucket) => bucket.finish(writer, manifest).await,
        }
    }

    /// Removes a backup that failed; of a bucket its owner does that.
    pub(super) fn remove_unfinished(&self) -> Result<(), BackupError> {
        match self {
            Self::Folder(folder) => folder.remove_unfinished(),
            Self::Bucket(_) => Ok(()),
        }
    }

    /// Removes a whole backup that turned out to be none; of a bucket its manifest is not written.
    pub(super) fn remove(&self) -> Result<(), BackupError> {
        match self {
            Self::Folder(folder) => folder.remove(),
            Self::Bucket(_) => Ok(()),
        }
    }
}

/// The backups in `path`, a folder or a path in a bucket, oldest first.
///
/// # Errors
///
/// If it cannot be read.
pub async fn list_at(path: &Path, writer: &Writer) -> Result<Vec<StoredBackup>, BackupError> {
    match BackupBucket::parse(path) {
        Some(bucket) => bucket?.list(writer).await,
        None => Ok(chain::list(path)?.into_iter().map(StoredBackup::from).collect()),
    }
}

/// Removes old backups of `path`, as `chain::prune` does.
///
/// # Errors
///
/// Those of `chain::prune`, and if `path` is in a bucket.
pub fn prune_at(path: &Path, keep: usize) -> Result<Vec<ListedBackup>, BackupError> {
    match BackupBucket::parse(path) {
        Some(_) => Err(BackupError::NoPruning { path: path.to_owned() }),
        None => chain::prune(path, keep),
    }
}
