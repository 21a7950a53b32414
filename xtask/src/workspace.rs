//! Where things are in this checkout.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace's Cargo.toml.
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

/// Cargo, in the environment of somebody who calls it by hand. `cargo run` gave this process variables of its package,
/// and next to them build scripts of some packages (ring) run again, and what depends on those packages is compiled
/// again: minutes.
#[must_use]
pub fn cargo() -> Command {
    let mut cargo = Command::new("cargo");
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.to_string_lossy().starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// The cache folder `name` of this user, shared by all checkouts: built or fetched once a machine, and again if it is
/// deleted. In `target/` where there is no such folder.
#[must_use]
pub fn cache(name: &str) -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let caches = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    caches.map_or_else(target, |caches| caches.join("trawl")).join(name)
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
