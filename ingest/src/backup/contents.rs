//! Whether the files of a backup have the sizes that ClickHouse's own list of them, `.backup`, says.
//!
//! BACKUP of libchdb 26.7.3 onto a full disk says that it is done, and leaves files that are cut off.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::{Document, Node};
use trawl_core::store::BackupPart;

use super::error::BackupError;
use super::folder::BackupFolder;

/// A file that should have bytes here.
struct ListedFile<'a> {
    /// Below the folder of the list.
    name: &'a str,
    size_bytes: u64,
}

/// Checks every part of a backup.
pub(super) fn require_contents(folder: &BackupFolder) -> Result<(), BackupError> {
    BackupPart::ALL.into_iter().try_for_each(|part| require_files(Path::new(&folder.part(part))))
}

/// Checks the files of a part.
pub(super) fn require_files(part: &Path) -> Result<(), BackupError> {
    let list = part.join(".backup");
    let cut_off = |path: PathBuf| BackupError::CutOff { path };
    let text = fs::read_to_string(&list).map_err(|_| cut_off(list.clone()))?;
    let document = Document::parse(&text).map_err(|_| cut_off(list.clone()))?;
    for file in document.descendants().filter(|node| node.has_tag_name("file")) {
        let file = ListedFile::read(file).ok_or_else(|| cut_off(list.clone()))?;
        let path = part.join(file.name);
        if file.size_bytes > 0 && !fs::metadata(&path).is_ok_and(|found| found.len() == file.size_bytes) {
            return Err(cut_off(path));
        }
    }
    Ok(())
}

impl<'a> ListedFile<'a> {
    /// `None` if the entry has no name or size. A file that is equal to another is not written again, and one whose
    /// beginning the base has only from there on.
    fn read(entry: Node<'a, '_>) -> Option<Self> {
        let text = |name| entry.children().find(|child| child.has_tag_name(name)).and_then(|child| child.text());
        let size: u64 = text("size")?.parse().ok()?;
        let in_base = match (text("use_base"), text("base_size")) {
            (Some("true"), None) => size,
            (_, base_size) => base_size.map_or(Some(0), |bytes| bytes.parse().ok())?,
        };
        Some(Self { name: text("data_file").or_else(|| text("name"))?, size_bytes: size.saturating_sub(in_base) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "<config><contents><file><name>a</name><size>3</size></file><file><name>b</name>\
        <size>3</size><data_file>a</data_file></file><file><name>c</name><size>9</size><use_base>true</use_base></file>\
        <file><name>d</name><size>9</size><use_base>true</use_base><base_size>7</base_size></file>\
        <file><name>e</name><size>0</size></file></contents></config>";

    #[test]
    fn a_file_that_is_cut_off_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
        let cut_off = || match require_files(folder.path()) {
            Err(BackupError::CutOff { path }) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
            _ => None,
        };
        assert_eq!(cut_off().as_deref(), Some(".backup"));
        write(".backup", LIST);
        write("a", "123");
        assert_eq!(cut_off().as_deref(), Some("d"));
        write("d", "12");
        assert!(require_files(folder.path()).is_ok());
        write("a", "");
        assert_eq!(cut_off().as_deref(), Some("a"));
        write("a", "123");
        write(".backup", &LIST[..40]);
        assert_eq!(cut_off().as_deref(), Some(".backup"));
    }
}
