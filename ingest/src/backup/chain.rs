//! Chains of incremental backups: lists and prunes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::error::BackupError;
use super::folder::{BackupFolder, FolderState};
use super::manifest::Manifest;

/// A folder among those of backups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBackup {
    /// Folder of the backup, by its whole path.
    pub folder: BackupFolder,
    /// Its manifest; `None` if it was not completed.
    pub manifest: Option<Manifest>,
    /// Bytes of its files.
    pub size_bytes: u64,
}

/// The manifest of a backup, all of whose bases are there.
pub(super) fn require_whole(folder: &BackupFolder) -> Result<Manifest, BackupError> {
    let manifest = manifest(folder)?.ok_or_else(|| BackupError::Missing { path: folder.path().to_owned() })?;
    let (mut path, mut base) = (folder.path().to_owned(), manifest.base.clone());
    while let Some(next) = base {
        let found = manifest_at(&next)?;
        let found = found.ok_or_else(|| BackupError::BaseMissing { path: path.clone(), base: next.clone() })?;
        (path, base) = (next, found.base);
    }
    Ok(manifest)
}

/// The manifest of a backup that may be the base of one of `chain_id`.
pub(super) fn require_base(base: &BackupFolder, chain_id: Option<u64>) -> Result<Manifest, BackupError> {
    let manifest = require_whole(base)?;
    if manifest.chain_id != chain_id {
        let path = base.path().to_owned();
        return Err(BackupError::OtherChain { path, found: manifest.chain_id, expected: chain_id });
    }
    Ok(manifest)
}

/// The backups in `folder`, oldest first; after them those that were not completed.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn list(folder: &Path) -> Result<Vec<ListedBackup>, BackupError> {
    let failed = |source| BackupError::Folder { path: folder.to_owned(), source };
    let mut listed = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let backup = BackupFolder::new(&entry.map_err(failed)?.path())?;
        let manifest = match backup.path().is_dir().then(|| backup.state()).transpose()? {
            Some(FolderState::Whole(manifest)) => Some(manifest),
            Some(FolderState::Unfinished) => None,
            Some(FolderState::Absent | FolderState::Foreign) | None => continue,
        };
        let size_bytes = size_bytes(backup.path()).map_err(failed)?;
        listed.push(ListedBackup { folder: backup, manifest, size_bytes });
    }
    listed.sort_by_key(|backup| {
        let time = backup.manifest.as_ref().map_or(u64::MAX, |manifest| manifest.created_at);
        (time, backup.folder.path().to_owned())
    });
    Ok(listed)
}

/// Removes all backups of `folder` but the newest `keep` and those that they build on. Returns the removed ones. Those
/// that were not completed stay: one may be on its way.
///
/// # Errors
///
/// If the folder cannot be read, or a backup not removed.
pub fn prune(folder: &Path, keep: usize) -> Result<Vec<ListedBackup>, BackupError> {
    let mut whole = list(folder)?;
    whole.retain(|backup| backup.manifest.is_some());
    let bases: BTreeMap<&Path, &Path> = whole
        .iter()
        .filter_map(|backup| Some((backup.folder.path(), backup.manifest.as_ref()?.base.as_deref()?)))
        .collect();
    let mut needed: BTreeSet<PathBuf> = BTreeSet::new();
    for backup in whole.iter().rev().take(keep) {
        let mut next = Some(backup.folder.path());
        while let Some(path) = next.filter(|path| needed.insert((*path).to_owned())) {
            next = bases.get(path).copied();
        }
    }
    whole.retain(|backup| !needed.contains(backup.folder.path()));
    // What builds on another goes first, so that what is left after a failure can be restored.
    for backup in whole.iter().rev() {
        backup.folder.remove()?;
    }
    Ok(whole)
}

fn manifest(folder: &BackupFolder) -> Result<Option<Manifest>, BackupError> {
    match folder.state()? {
        FolderState::Whole(manifest) => Ok(Some(manifest)),
        FolderState::Absent | FolderState::Unfinished | FolderState::Foreign => Ok(None),
    }
}

fn manifest_at(path: &Path) -> Result<Option<Manifest>, BackupError> {
    manifest(&BackupFolder::new(path)?)
}

fn size_bytes(folder: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() { size_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with backups by name, age and base.
    fn backups(of: &[(&str, u64, Option<&str>)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, created_at, base) in of {
            let backup = BackupFolder::new(&folder.path().join(name)).expect("a path");
            fs::create_dir_all(backup.path().join("rows")).expect("a folder");
            let base = base.map(|base| folder.path().join(base));
            let manifest = Manifest { created_at: *created_at, base, ..Manifest::of_now() };
            backup.finish(&manifest).expect("a file");
        }
        folder
    }

    fn names(backups: &[ListedBackup]) -> Vec<String> {
        let name = |backup: &ListedBackup| backup.folder.path().file_name()?.to_str().map(str::to_owned);
        backups.iter().filter_map(name).collect()
    }

    #[test]
    fn a_retained_backup_retains_its_base() {
        let of = [("a", 1, None), ("b", 2, Some("a")), ("c", 3, None), ("d", 4, Some("b")), ("e", 5, None)];
        let folder = backups(&of);
        fs::create_dir_all(folder.path().join("half/rows")).expect("a folder");
        fs::create_dir_all(folder.path().join("other/things")).expect("a folder");
        assert_eq!(names(&list(folder.path()).expect("a list")), ["a", "b", "c", "d", "e", "half"]);
        assert_eq!(names(&prune(folder.path(), 2).expect("pruned")), ["c"]);
        assert_eq!(names(&list(folder.path()).expect("a list")), ["a", "b", "d", "e", "half"]);
        assert_eq!(names(&prune(folder.path(), 1).expect("pruned")), ["a", "b", "d"]);
        assert!(folder.path().join("other/things").exists());
    }

    #[test]
    fn a_chain_of_backups_is_whole_or_names_what_it_lacks() {
        let folder = backups(&[("a", 1, None), ("b", 2, Some("a")), ("c", 3, Some("b"))]);
        let backup = |name: &str| BackupFolder::new(&folder.path().join(name)).expect("a path");
        assert!(require_whole(&backup("c")).is_ok());
        assert!(matches!(require_base(&backup("a"), Some(1)), Err(BackupError::OtherChain { found: None, .. })));
        backup("a").remove().expect("removed");
        let Err(BackupError::BaseMissing { path, base }) = require_whole(&backup("c")) else {
            panic!("a base is missing")
        };
        assert_eq!((path, base), (folder.path().join("b"), folder.path().join("a")));
        assert!(matches!(require_whole(&backup("a")), Err(BackupError::Missing { .. })));
    }
}
