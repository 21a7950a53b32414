//! The packages that are compiled into the programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::workspace;

/// A package of another origin than this checkout.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dependency {
    pub name: String,
    pub version: String,
    /// An SPDX expression, as the package states it.
    pub licence: Option<String>,
    /// SHA-256 of the package as it was fetched, in hexadecimal digits.
    pub checksum: Option<String>,
    /// Where its sources lie.
    pub folder: PathBuf,
}

/// All of them, by name and version.
///
/// # Errors
///
/// If Cargo fails, or its list is suspiciously short.
pub(super) fn dependencies() -> anyhow::Result<BTreeSet<Dependency>> {
    let (used, checksums) = (used()?, checksums()?);
    let mut dependencies = BTreeSet::new();
    for package in metadata()?["packages"].as_array().context("packages")? {
        let member = |name: &str| package[name].as_str().map(str::to_owned);
        let (name, version) = (member("name").context("a name")?, member("version").context("a version")?);
        let id = format!("{name} v{version}");
        if package["source"].is_null() || !used.contains(&id) {
            continue;
        }
        let mut folder = PathBuf::from(package["manifest_path"].as_str().context("a manifest")?);
        folder.pop();
        let (licence, checksum) = (member("license"), checksums.get(&id).cloned());
        dependencies.insert(Dependency { name, version, licence, checksum, folder });
    }
    ensure!(dependencies.len() > 100, "only {} packages", dependencies.len());
    Ok(dependencies)
}

/// Packages that are compiled into the programs, as `name vVERSION`.
fn used() -> anyhow::Result<BTreeSet<String>> {
    let mut tree = workspace::cargo();
    tree.current_dir(workspace::root()).args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    tree.args(["--format", "{p}", "-p", "trawl", "-p", "trawl-ingest", "-p", "trawl-engine"]);
    let output = tree.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    Ok(String::from_utf8(output.stdout)?.lines().map(words).collect())
}

fn metadata() -> anyhow::Result<Value> {
    let mut metadata = workspace::cargo();
    metadata.current_dir(workspace::root()).args(["metadata", "--locked", "--format-version", "1"]);
    let output = metadata.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The checksums in `Cargo.lock`, by `name vVERSION`.
fn checksums() -> anyhow::Result<BTreeMap<String, String>> {
    let lock: toml::Table = std::fs::read_to_string(workspace::root().join("Cargo.lock"))?.parse()?;
    let packages = lock.get("package").and_then(toml::Value::as_array).context("packages in Cargo.lock")?;
    let entry = |package: &toml::Value| {
        let member = |name: &str| package.get(name).and_then(toml::Value::as_str);
        Some((format!("{} v{}", member("name")?, member("version")?), member("checksum")?.to_owned()))
    };
    Ok(packages.iter().filter_map(entry).collect())
}
