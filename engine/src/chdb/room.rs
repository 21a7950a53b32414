//! Room for definitions on the disk of the store.
//!
//! libchdb 26.7.3 does not notice that the disk is full when it writes a table's definition (CREATE, ALTER) or what a
//! mutation is to do (DELETE, UPDATE): it replaces the file by an empty one, and says that all went well. A store with
//! such a file does not open again. So statements that write one are refused before the disk is full, and empty files
//! are looked for before the store is opened.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::exception::Exception;

/// With less, no definition is written. Other statements may take some of it meanwhile.
const MIN_FREE_BYTES: u64 = 8 << 20;
/// The same of files and folders, of which a table has some.
const MIN_FREE_FILES: u64 = 200;

/// What is free on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Room {
    bytes: u64,
    /// `None` where the file system makes as many as there is room for.
    files: Option<u64>,
}

/// Refuses a statement that writes a definition into `data_dir` where there is no room for it.
pub(super) fn require_room(data_dir: &Path) -> Result<(), Exception> {
    // Where the system does not say, the statement finds out.
    let Some(room) = room(data_dir) else { return Ok(()) };
    if is_enough(room) {
        return Ok(());
    }
    let files = room.files.map(|files| format!(" and {files} files")).unwrap_or_default();
    let text = format!(
        "the disk of {} has room for {} bytes{files}, and statements that write definitions (CREATE, ALTER, DELETE, \
         UPDATE) need {MIN_FREE_BYTES} bytes and {MIN_FREE_FILES} files: free some space",
        data_dir.display(),
        room.bytes
    );
    Err(Exception::new(243, "NOT_ENOUGH_SPACE", text))
}

fn is_enough(room: Room) -> bool {
    room.bytes >= MIN_FREE_BYTES && room.files.is_none_or(|files| files >= MIN_FREE_FILES)
}

#[allow(clippy::unnecessary_cast, reason = "the fields have other types on other systems")]
fn room(folder: &Path) -> Option<Room> {
    let path = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: a struct of numbers, which the call fills in; the path ends with a zero.
    let stat = unsafe {
        let mut stat = std::mem::zeroed::<libc::statvfs>();
        (libc::statvfs(path.as_ptr(), &raw mut stat) == 0).then_some(stat)
    }?;
    let files = (stat.f_files > 0).then_some(stat.f_favail as u64);
    (stat.f_blocks > 0).then(|| Room { bytes: stat.f_bavail as u64 * stat.f_frsize as u64, files })
}

/// Removes empty files of mutations: libchdb does not open a store with one, and what the mutation was to do is lost.
/// Returns the definitions that are empty.
pub(super) fn empty_definitions(data_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut definitions = Vec::new();
    let mut folders = vec![data_dir.join("metadata")];
    for prefix in entries(&data_dir.join("store"))? {
        folders.extend(entries(&prefix)?);
    }
    for file in folders.iter().map(|folder| entries(folder)).collect::<io::Result<Vec<_>>>()?.concat() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_mutation = name.starts_with("mutation_") && name.ends_with(".txt");
        if !(is_mutation || name.ends_with(".sql")) || !is_empty(&file)? {
            continue;
        }
        if is_mutation {
            fs::remove_file(&file)?;
            tracing::warn!(file = %file.display(), "removed an empty mutation, as a full disk leaves it: run it again");
        } else {
            definitions.push(file);
        }
    }
    Ok(definitions)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn is_empty(file: &Path) -> io::Result<bool> {
    let metadata = file.symlink_metadata()?;
    Ok(metadata.is_file() && metadata.len() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_need_bytes_and_files() {
        let room = |bytes, files| Room { bytes, files };
        assert!(is_enough(room(MIN_FREE_BYTES, Some(MIN_FREE_FILES))) && is_enough(room(u64::MAX, None)));
        assert!(!is_enough(room(MIN_FREE_BYTES - 1, None)) && !is_enough(room(u64::MAX, Some(MIN_FREE_FILES - 1))));
        assert!(super::room(Path::new("/")).is_some() && super::room(Path::new("/nowhere/at all")).is_none());
    }

    #[test]
    fn empty_files_are_found_and_empty_mutations_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, text).expect("a file");
            path
        };
        let lost = write("store/abc/abcd/t.sql", "");
        let database = write("metadata/b.sql", "");
        write("store/abc/abcd/u.sql", "ATTACH TABLE");
        let part = write("store/abc/abce/all_1_1_0/columns.txt", "");
        let (empty, whole) = (write("store/abc/abce/mutation_3.txt", ""), write("store/abc/abce/mutation_4.txt", "x"));
        let mut found = empty_definitions(folder.path()).expect("a list");
        found.sort();
        assert_eq!(found, [database, lost]);
        assert!(!empty.exists() && whole.exists() && part.exists());
        assert_eq!(empty_definitions(&folder.path().join("new")).expect("a list"), [] as [PathBuf; 0]);
    }
}
