//! The licences of all packages that are in the programs, each text once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::workspace;

/// Whose licences a name, a version and what they say of themselves.
type PackageLine = (String, String, String);

/// Names, versions and licences of the packages; then the texts, with the packages that have each.
pub(super) fn text() -> anyhow::Result<String> {
    let used = used()?;
    let mut lines: BTreeSet<PackageLine> = BTreeSet::new();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in metadata()?["packages"].as_array().context("packages")? {
        let member = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
        let (name, version) = (member("name"), member("version"));
        if package["source"].is_null() || !used.contains(&format!("{name} v{version}")) {
            continue;
        }
        let folder =
            Path::new(package["manifest_path"].as_str().context("a manifest")?).parent().context("a folder")?;
        for text in texts_in(folder)? {
            texts.entry(text).or_default().insert(format!("{name} {version}"));
        }
        lines.insert((name, version, member("license")));
    }
    ensure!(lines.len() > 100, "only {} packages", lines.len());
    let list: String = lines.iter().map(|(name, version, licence)| format!("{name} {version}: {licence}\n")).collect();
    let parts = texts.iter().map(|(text, packages)| {
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        format!("\n{}\n{}\n\n{}\n", "=".repeat(80), packages.join(", "), text.trim_end())
    });
    Ok(format!("Packages that are in the programs of Trawl, and their licences\n\n{list}{}", parts.collect::<String>()))
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

/// The licences that lie in the folder of a package.
fn texts_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_ascii_uppercase();
        let is_licence = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|it| name.starts_with(it));
        if is_licence && entry.path().is_file() {
            texts.push(String::from_utf8_lossy(&fs::read(entry.path())?).replace("\r\n", "\n"));
        }
    }
    Ok(texts)
}
