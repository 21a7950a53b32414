//! The folder of one backup: what is in it, and how it is begun, ended and removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trawl_core::store::BackupPart;

use super::error::BackupError;
use super::manifest::{FILE, Manifest};

/// The folder of a backup, by its whole path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupFolder(PathBuf);

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
        let real = std::path::absolute(path).and_then(|path| real(&path));
        real.map(Self).map_err(|source| BackupError::Folder { path: path.to_owned(), source })
    }

    /// Absolute path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a part of it is, as BACKUP takes it: a folder ends with `/`.
    pub(super) fn part(&self, part: BackupPart) -> String {
        format!("{}/", self.0.join(part.folder()).display())
    }

    /// What is there.
    pub(super) fn state(&self) -> Result<FolderState, BackupError> {
        let read = |source| self.failed(source);
        let file = self.0.join(FILE);
        match fs::read(&file) {
            Ok(text) => {
                let manifest = serde_json::from_slice(&text);
                return manifest.map(FolderState::Whole).map_err(|source| BackupError::Manifest { path: file, source });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(FolderState::Foreign),
            Err(error) => return Err(read(error)),
        }
        let entries = match fs::read_dir(&self.0) {
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
        let path = self.0.clone();
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
        if self.0.is_dir() { Ok(()) } else { Err(BackupError::NotHere { path: self.0.clone() }) }
    }

    /// Makes a backup of the folder: all its parts are there.
    pub(super) fn finish(&self, manifest: &Manifest) -> Result<(), BackupError> {
        let write = || -> io::Result<()> {
            let unfinished = self.0.join(unfinished_file());
            fs::write(&unfinished, serde_json::to_vec_pretty(manifest)?)?;
            fs::File::open(&unfinished)?.sync_all()?;
            fs::rename(&unfinished, self.0.join(FILE))?;
            fs::File::open(&self.0)?.sync_all()
        };
        write().map_err(|source| self.failed(source))
    }

    /// Removes what is here of a backup that failed; nothing where it is not a backup's.
    pub(super) fn remove_unfinished(&self) -> Result<(), BackupError> {
        if self.state()? == FolderState::Unfinished { self.remove() } else { Ok(()) }
    }

    /// Removes it. What says that it is whole goes first.
    pub(super) fn remove(&self) -> Result<(), BackupError> {
        match fs::remove_file(self.0.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(self.failed(error)),
            _ => {}
        }
        fs::remove_dir_all(&self.0).map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: io::Error) -> BackupError {
        BackupError::Folder { path: self.0.clone(), source }
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

/// The name of [`FILE`] while it is written.
fn unfinished_file() -> String {
    format!("{FILE}.new")
}
