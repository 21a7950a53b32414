//! The licences of all packages that are in the programs, each text once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::dependencies::{Dependency, dependencies};

/// Names, versions and licences of the packages; then the texts, with the packages that have each.
pub(super) fn text() -> anyhow::Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for Dependency { name, version, licence, folder, .. } in dependencies()? {
        for text in texts_in(&folder)? {
            texts.entry(text).or_default().insert(format!("{name} {version}"));
        }
        list.push_str(&format!("{name} {version}: {}\n", licence.unwrap_or_default()));
    }
    let parts = texts.iter().map(|(text, packages)| {
        let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
        format!("\n{}\n{}\n\n{}\n", "=".repeat(80), packages.join(", "), text.trim_end())
    });
    Ok(format!("Packages that are in the programs of Trawl, and their licences\n\n{list}{}", parts.collect::<String>()))
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
