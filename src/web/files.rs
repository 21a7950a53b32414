//! The files of a folder, and nothing outside of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use percent_encoding::percent_decode_str;

/// A folder with a web page.
#[derive(Debug, Clone)]
pub struct WebDir {
    /// Absolute path without symbolic links.
    root: Arc<Path>,
}

/// Why a folder cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum WebDirError {
    /// It is not there, or may not be read.
    #[error("{folder}: {cause}; name a folder that this process can read")]
    Unreadable {
        /// Path, as the operator gave it.
        folder: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// It has no page.
    #[error("{0} has no index.html; name the folder with the built page")]
    NoIndex(String),
}

impl WebDir {
    /// The folder at a path.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or has no `index.html`.
    pub fn open(folder: &str) -> Result<Self, WebDirError> {
        let unreadable = |cause| WebDirError::Unreadable { folder: folder.to_owned(), cause };
        let root = std::fs::canonicalize(folder).map_err(unreadable)?;
        match std::fs::metadata(root.join("index.html")) {
            Ok(index) if index.is_file() => Ok(Self { root: root.into() }),
            _ => Err(WebDirError::NoIndex(folder.to_owned())),
        }
    }

    /// Path of `index.html`.
    pub(super) fn index(&self) -> PathBuf {
        self.root.join("index.html")
    }

    /// The file at a path of a URL; `None` if there is none in the folder. Links are followed as far as they stay
    /// inside.
    pub(super) async fn file(&self, path: &str) -> Option<PathBuf> {
        let relative = relative(path)?;
        let file = tokio::fs::canonicalize(self.root.join(relative)).await.ok()?;
        let is_file = tokio::fs::metadata(&file).await.is_ok_and(|file| file.is_file());
        (is_file && file.starts_with(&self.root)).then_some(file)
    }
}

impl fmt::Display for WebDir {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root.display().fmt(formatter)
    }
}

/// The path of a file below the folder: plain names, none of which is hidden.
fn relative(path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
    let is_plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['\\', '\0', ':']);
    decoded.split('/').all(is_plain).then(|| decoded.split('/').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_no_files() {
        assert_eq!(relative("/assets/a%20b.js"), Some(PathBuf::from("assets/a b.js")));
        for bad in [
            "",
            "/",
            "a",
            "/..",
            "/../a",
            "/a/../b",
            "/a/..",
            "/%2e%2e/a",
            "/..%2fa",
            "/%2e%2e%2fa",
            "//etc/passwd",
            "/a//b",
            "/.git/config",
            "/a/.env",
            "/./a",
            "/a\\..\\b",
            "/..%5ca",
            "/a%00",
            "/c:/a",
            "/%ff",
            "/%2fetc/passwd",
        ] {
            assert_eq!(relative(bad), None, "{bad}");
        }
    }
}
