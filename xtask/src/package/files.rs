//! The files of packages.

use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// The programs of a machine.
pub(super) const PROGRAMS: [&str; 3] = ["trawl-api", "trawl-ingest", "trawl-engine"];

/// Copies a file into a folder that may not be there yet.
pub(super) fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let folder = to.parent().context("a folder")?;
    fs::create_dir_all(folder)?;
    fs::copy(from, to).with_context(|| format!("{} to {}", from.display(), to.display())).map(drop)
}
