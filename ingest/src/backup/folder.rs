//! The folder of one backup: what is in it, and how it is begun, ended and removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trawl_core::store::BackupPart;

use super::error::BackupError;
use super::manifest::{FILE, Manifest};

/// The folder of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFolder {
    /// Absolute path as it was given: ClickHouse may know and allow only that.
    path: PathBuf,
    /// The same without symbolic links, as far as it is there.
    real: PathBuf,
}

/// What is at the path of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderState {
    /// There is nothing at the path.
    Absent,
    /// A backup that was completed, with its manifest.
    Whole(Manifest),
    /// A folder without anything in it.
    Empty,
    /// A backup that was not completed.
    Unfinished,
    /// A folder or file that is no backup.
    Foreign,
}

impl BackupFolder {
    /// The one at `path`, which may be relative or lead through symbolic links: a link may lead elsewhere the next day.
    ///
    /// # Errors
    ///
    /// If the current folder is not known, or a folder above cannot be entered.
    pub fn new(path: &Path) -> Result<Self, BackupError> {
        let failed = |source| BackupError::Folder { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let real = real(&path).map_err(failed)?;
        Ok(Self { path, real })
    }

    /// Absolute path of the folder, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What tells it from others: its path without symbolic links.
    #[must_use]
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The folder that it leads to, if it is a link that may lead elsewhere the next day. The folders above stay as
    /// they were given.
    pub(super) fn target(&self) -> Self {
        let mut path = self.path.clone();
        while let (Ok(target), Some(parent)) = (fs::read_link(&path), path.parent()) {
            path = parent.join(target);
        }
        Self { path, real: self.real.clone() }
    }

    /// Where a part of it is, as BACKUP takes it: a folder ends with `/`.
    pub(super) fn part(&self, part: BackupPart) -> String {
        format!("{}/", self.path.join(part.folder()).display())
    }

    /// What is there.
    pub(super) fn state(&self) -> Result<FolderState, BackupError> {
        let read = |source| self.failed(source);
        let file = self.path.join(FILE);
        match fs::read(&file) {
            Ok(text) => {
                let manifest = serde_json::from_slice(&text);
                return manifest.map(FolderState::Whole).map_err(|source| BackupError::Manifest { path: file, source });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(FolderState::Foreign),
            Err(error) => return Err(read(error)),
        }
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FolderState::Absent),
            Err(error) => return Err(read(error)),
        };
        let mut state = FolderState::Empty;
        for entry in entries {
            let name = entry.map_err(read)?.file_name();
            let is_part = BackupPart::ALL.iter().any(|part| name == part.folder());
            if !is_part && name != unfinished_file().as_str() {
                return Ok(FolderState::Foreign);
            }
            state = FolderState::Unfinished;
        }
        Ok(state)
    }

    /// Removes what an interrupted backup left here, once `others` says that nothing is written any more.
    pub(super) async fn make_room<F>(&self, others: impl FnOnce() -> F) -> Result<(), BackupError>
    where
        F: Future<Output = Result<(), BackupError>>,
    {
        let path = self.path.clone();
        match self.state()? {
            FolderState::Whole(_) => return Err(BackupError::Exists { path }),
            FolderState::Foreign => return Err(BackupError::Foreign { path }),
            FolderState::Absent | FolderState::Empty | FolderState::Unfinished => {}
        }
        others().await?;
        if self.state()? == FolderState::Unfinished {
            tracing::info!(path = %path.display(), "removing what an interrupted backup left behind");
            self.remove()?;
        }
        Ok(())
    }

    /// Checks that what ClickHouse wrote is here.
    pub(super) fn require_here(&self) -> Result<(), BackupError> {
        if self.path.is_dir() { Ok(()) } else { Err(BackupError::NotHere { path: self.path.clone() }) }
    }

    /// Makes a backup of the folder: all its parts are there.
    pub(super) fn finish(&self, manifest: &Manifest) -> Result<(), BackupError> {
        let write = || -> io::Result<()> {
            let unfinished = self.path.join(unfinished_file());
            fs::write(&unfinished, serde_json::to_vec_pretty(manifest)?)?;
            fs::File::open(&unfinished)?.sync_all()?;
            fs::rename(&unfinished, self.path.join(FILE))?;
            fs::File::open(&self.path)?.sync_all()
        };
        write().map_err(|source| self.failed(source))
    }

    /// Removes what is here of a backup that failed; nothing where it is not a backup's.
    pub(super) fn remove_unfinished(&self) -> Result<(), BackupError> {
        if self.state()? == FolderState::Unfinished { self.remove() } else { Ok(()) }
    }

    /// Removes it; what a link leads to is emptied. What says that it is whole goes first.
    pub(super) fn remove(&self) -> Result<(), BackupError> {
        match fs::remove_file(self.path.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.failed(error)),
            _ => {}
        }
        let removed = if self.path.is_symlink() { empty(&self.path) } else { fs::remove_dir_all(&self.path) };
        removed.map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: io::Error) -> BackupError {
        BackupError::Folder { path: self.path.clone(), source }
    }
}

/// `path` without symbolic links, as far as it is there.
fn real(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Err(error), Some(parent), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(real(parent)?.join(name))
        }
        (found, ..) => found,
    }
}

/// Removes all that is in a folder, which may be a mounted disk.
fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

/// The name of [`FILE`] while it is written.
fn unfinished_file() -> String {
    format!("{FILE}.new")
}
