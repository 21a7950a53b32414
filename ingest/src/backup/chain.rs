//! Chains of incremental backups: lists and prunes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::BackupError;
use super::folder::{BackupFolder, FolderState};
use super::manifest::Manifest;

/// A folder that disks have of their own, for root only.
const OF_FILE_SYSTEMS: &str = "lost+found";

/// A folder among those of backups.
#[derive(Debug)]
pub struct ListedBackup {
    /// Folder of the backup.
    pub folder: BackupFolder,
    /// What it is.
    pub completion: Completion,
    /// Bytes of its files.
    pub size_bytes: u64,
}

/// Whether a folder is a backup that can be restored.
#[derive(Debug)]
pub enum Completion {
    /// It is, with this manifest.
    Whole(Manifest),
    /// It was not completed.
    Unfinished,
    /// It cannot be read.
    Unreadable(BackupError),
}

/// A backup in a folder or a bucket.
#[derive(Debug)]
pub struct StoredBackup {
    /// Where it is, as people write it.
    pub path: PathBuf,
    /// What it is.
    pub completion: Completion,
    /// Bytes of its files or objects.
    pub size_bytes: u64,
}

impl From<ListedBackup> for StoredBackup {
    fn from(backup: ListedBackup) -> Self {
        let ListedBackup { folder, completion, size_bytes } = backup;
        Self { path: folder.path().to_owned(), completion, size_bytes }
    }
}

impl ListedBackup {
    /// The manifest of one that is whole.
    #[must_use]
    pub fn manifest(&self) -> Option<&Manifest> {
        match &self.completion {
            Completion::Whole(manifest) => Some(manifest),
            Completion::Unfinished | Completion::Unreadable(_) => None,
        }
    }
}

/// The manifest of a backup, all of whose bases are there.
pub(super) fn require_whole(folder: &BackupFolder) -> Result<Manifest, BackupError> {
    let manifest = manifest(folder)?.ok_or_else(|| BackupError::Missing { path: folder.path().to_owned() })?;
    let (mut path, mut of) = (folder.path().to_owned(), manifest.clone());
    let mut passed = BTreeSet::from([folder.real().to_owned()]);
    while let Some(next) = of.base {
        let base = BackupFolder::new(&next)?;
        let found = self::manifest(&base)?;
        let found = found.ok_or_else(|| BackupError::BaseMissing { path: path.clone(), base: next.clone() })?;
        // Where folders were renamed, even this one may be its own base.
        if !passed.insert(base.real().to_owned()) {
            return Err(BackupError::BaseReplaced { path, base: next });
        }
        (path, of) = (next, found);
    }
    Ok(manifest)
}

/// Checks that a backup at `path` may be the base of one of `chain_id`.
pub(super) fn require_chain(manifest: &Manifest, path: PathBuf, chain_id: Option<u64>) -> Result<(), BackupError> {
    match manifest.chain_id == chain_id {
        true => Ok(()),
        false => Err(BackupError::OtherChain { path, found: manifest.chain_id, expected: chain_id }),
    }
}

/// The backups in `folder`, oldest first; after them folders that were not completed or cannot be read. Symbolic links
/// to what is in `folder` are none of them, as it is listed by itself; those to other folders are.
///
/// # Errors
///
/// If the folder cannot be read.
pub(super) fn list(folder: &Path) -> Result<Vec<ListedBackup>, BackupError> {
    let failed = |source| BackupError::Folder { path: folder.to_owned(), source };
    let whole_path = fs::canonicalize(folder).map_err(failed)?;
    let mut listed = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        if entry.file_name() == OF_FILE_SYSTEMS || !(kind.is_dir() || kind.is_symlink()) {
            continue;
        }
        let backup = BackupFolder::new(&entry.path())?;
        if kind.is_dir() || !backup.real().starts_with(&whole_path) {
            listed.extend(listed_backup(backup));
        }
    }
    listed.sort_by_key(|backup| {
        let time = backup.manifest().map_or(u64::MAX, |manifest| manifest.created_at);
        (time, backup.folder.path().to_owned())
    });
    Ok(listed)
}

/// One of them; `None` if it is no backup, or removed meanwhile.
fn listed_backup(folder: BackupFolder) -> Option<ListedBackup> {
    let sized = || {
        let state = folder.state()?;
        let size_bytes = size_bytes(folder.path()).map_err(|source| folder.failed(source))?;
        Ok((state, size_bytes))
    };
    let (completion, size_bytes) = match sized() {
        Ok((FolderState::Whole(manifest), size_bytes)) => (Completion::Whole(manifest), size_bytes),
        Ok((FolderState::Unfinished, size_bytes)) => (Completion::Unfinished, size_bytes),
        Ok((FolderState::Absent | FolderState::Empty | FolderState::Foreign, _)) => return None,
        Err(BackupError::Folder { source, .. }) if source.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => (Completion::Unreadable(error), 0),
    };
    Some(ListedBackup { folder, completion, size_bytes })
}

/// Removes all backups of `folder` but the newest `keep` and those that they build on. Returns the removed ones. Those
/// that were not completed stay: one may be on its way.
///
/// # Errors
///
/// If the folder cannot be read, or a backup not removed. Nothing is removed while a backup cannot be read, as what it
/// builds on is not known.
pub(super) fn prune(folder: &Path, keep: usize) -> Result<Vec<ListedBackup>, BackupError> {
    let mut whole = list(folder)?;
    if let Some(backup) = whole.iter().find(|backup| matches!(backup.completion, Completion::Unreadable(_))) {
        return Err(BackupError::NotPruned { path: backup.folder.path().to_owned() });
    }
    whole.retain(|backup| backup.manifest().is_some());
    let mut bases: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    for backup in &whole {
        if let Some(base) = backup.manifest().and_then(|manifest| manifest.base.as_deref()) {
            bases.insert(backup.folder.real(), BackupFolder::new(base)?.real().to_owned());
        }
    }
    let mut needed: BTreeSet<PathBuf> = BTreeSet::new();
    for backup in whole.iter().rev().take(keep) {
        let mut next = Some(backup.folder.real());
        while let Some(path) = next.filter(|path| needed.insert((*path).to_owned())) {
            next = bases.get(path).map(PathBuf::as_path);
        }
    }
    whole.retain(|backup| !needed.contains(backup.folder.real()));
    // What builds on another goes first, so that what is left after a failure can be restored.
    for backup in whole.iter().rev() {
        backup.folder.remove()?;
    }
    Ok(whole)
}

fn manifest(folder: &BackupFolder) -> Result<Option<Manifest>, BackupError> {
    match folder.state()? {
        FolderState::Whole(manifest) => Ok(Some(manifest)),
        FolderState::Absent | FolderState::Empty | FolderState::Unfinished | FolderState::Foreign => Ok(None),
    }
}

fn size_bytes(folder: &Path) -> io::Result<u64> {
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
        backups_in(folder.path(), of);
        folder
    }

    fn backups_in(folder: &Path, of: &[(&str, u64, Option<&str>)]) -> Vec<ListedBackup> {
        for (name, created_at, base) in of {
            let backup = BackupFolder::new(&folder.join(name)).expect("a path");
            fs::create_dir_all(backup.path().join("rows")).expect("a folder");
            let base = base.map(|base| folder.join(base));
            let manifest = Manifest { created_at: *created_at, base, ..Manifest::of_now() };
            backup.finish(&manifest).expect("a file");
        }
        list(folder).expect("a list")
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

    /// A link to the newest backup, which scripts move on, and paths that are no shortest ones.
    #[test]
    fn a_base_is_retained_whatever_it_was_called() {
        let of = [("a", 1, None), ("b", 2, Some("latest")), ("c", 3, Some("b/../b"))];
        let folder = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink("a", folder.path().join("latest")).expect("a link");
        let written = backups_in(folder.path(), &of);
        assert_eq!(names(&written), ["a", "b", "c"], "the link is no backup of its own");
        assert_eq!(names(&prune(folder.path(), 1).expect("pruned")), [""; 0]);
        let latest = BackupFolder::new(&folder.path().join("latest")).expect("a path");
        assert!(latest.path().ends_with("latest"), "ClickHouse gets it as it was given");
        assert!(latest.real().ends_with("a") && require_whole(&latest).is_ok());
        assert_eq!(latest.target().path(), folder.path().join("a"), "the link may lead elsewhere the next day");
    }

    /// On another disk, for example.
    #[test]
    fn links_to_other_folders_are_backups() {
        let (other, folder) = (backups(&[("a", 1, None)]), backups(&[("c", 3, None)]));
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).expect("a link");
        link(&other.path().join("a"), "b");
        link(Path::new("c"), "latest");
        link(Path::new("nowhere"), "broken");
        assert_eq!(names(&list(folder.path()).expect("a list")), ["b", "c"]);
        assert_eq!(names(&prune(folder.path(), 1).expect("pruned")), ["b"]);
        assert_eq!(names(&list(folder.path()).expect("a list")), ["c"]);
        assert!(!other.path().join("a/rows").exists(), "what it leads to is removed, not the link alone");
    }

    #[test]
    fn what_cannot_be_read_is_listed_and_hides_no_other() {
        let folder = backups(&[("a", 1, None), ("b", 2, None), ("c", 3, None)]);
        fs::create_dir(folder.path().join("lost+found")).expect("a folder");
        fs::write(folder.path().join("b/backup.json"), "{").expect("a file");
        let listed = list(folder.path()).expect("a list");
        assert_eq!(names(&listed), ["a", "c", "b"]);
        let Completion::Unreadable(error) = &listed[2].completion else { panic!("{listed:?}") };
        assert!(error.to_string().contains("b/backup.json is no manifest"), "{error}");
        let Err(BackupError::NotPruned { path }) = prune(folder.path(), 1) else { panic!("b may build on a") };
        assert_eq!((path, names(&list(folder.path()).expect("a list"))), (folder.path().join("b"), names(&listed)));
        fs::remove_dir_all(folder.path().join("b")).expect("removed");
        assert_eq!(names(&prune(folder.path(), 1).expect("pruned")), ["a"]);
    }

    #[test]
    fn a_chain_of_backups_is_whole_or_names_what_it_lacks() {
        let folder = backups(&[("a", 1, None), ("b", 2, Some("a")), ("c", 3, Some("b"))]);
        let backup = |name: &str| BackupFolder::new(&folder.path().join(name)).expect("a path");
        assert!(require_whole(&backup("c")).is_ok());
        let first = require_whole(&backup("a")).expect("a backup");
        let of_chain = |chain_id| require_chain(&first, backup("a").path().to_owned(), chain_id);
        assert!(of_chain(None).is_ok());
        assert!(matches!(of_chain(Some(1)), Err(BackupError::OtherChain { found: None, .. })));
        backup("a").remove().expect("removed");
        let Err(BackupError::BaseMissing { path, base }) = require_whole(&backup("c")) else {
            panic!("a base is missing")
        };
        assert_eq!((path, base), (folder.path().join("b"), folder.path().join("a")));
        assert!(matches!(require_whole(&backup("a")), Err(BackupError::Missing { .. })));
        let folder = backups(&[("a", 2, None), ("b", 1, Some("a")), ("c", 3, Some("c")), ("d", 4, Some("c"))]);
        let backup = |name: &str| BackupFolder::new(&folder.path().join(name)).expect("a path");
        assert!(require_whole(&backup("b")).is_ok(), "the clock was ahead when its base was made");
        for of_itself in ["c", "d"] {
            assert!(matches!(require_whole(&backup(of_itself)), Err(BackupError::BaseReplaced { .. })), "{of_itself}");
        }
    }
}
