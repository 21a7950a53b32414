//! Where things are in this checkout.

use std::path::{Path, PathBuf};

/// The checkout.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Where cargo puts what it builds.
#[must_use]
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// A program of the workspace, built in `profile` (`debug` or `release`).
#[must_use]
pub fn program(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(name)
}

/// A file of `tests/fixtures`.
#[must_use]
pub fn fixture(name: &str) -> PathBuf {
    root().join("tests/fixtures").join(name)
}
