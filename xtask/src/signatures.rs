//! `cargo xtask signatures`: the lists of functions, events and errors that come with Trawl, from the ABIs that
//! packages on npm carry. `sql/signatures/packages.txt` names the packages with their versions; licences are written
//! beside them.

use std::path::Path;

use anyhow::bail;
use xtask::workspace;

use crate::npm;

mod declarations;
mod entries;
mod literals;

use declarations::{Declarations, Kind};

/// A package as its line names it, and the licence that it says it has.
#[derive(Debug)]
struct Package {
    name: String,
    version: String,
    licence: String,
}

/// Fetches what is not there yet, and writes the lists anew.
pub fn run() -> anyhow::Result<()> {
    let lists = workspace::root().join("sql/signatures");
    let text = std::fs::read_to_string(lists.join("packages.txt"))?;
    let (comments, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
    let mut packages = Vec::new();
    let mut found = Declarations::default();
    for line in lines {
        let mut words = line.split_whitespace();
        let (Some(name), Some(version)) = (words.next(), words.next()) else { bail!("`{line}` has no version") };
        let folder = npm::package(name, version)?;
        let before = found.len();
        entries::add(&mut found, name, &folder)?;
        eprintln!("xtask: {name} {version}: {} declarations that no package before had", found.len() - before);
        packages.push(Package { name: name.into(), version: version.into(), licence: npm::licence(&folder)? });
    }
    packages.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    let packages: Vec<String> =
        packages.iter().map(|package| format!("{} {} {}", package.name, package.version, package.licence)).collect();
    write(&lists.join("packages.txt"), comments.into_iter().map(str::to_owned).chain(packages))?;
    for (kind, file) in [(Kind::Function, "functions"), (Kind::Event, "events"), (Kind::Error, "errors")] {
        write(&lists.join(format!("package_{file}.txt")), found.lines(kind).into_iter())?;
    }
    Ok(())
}

fn write(file: &Path, lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let text: String = lines.map(|line| line + "\n").collect();
    eprintln!("xtask: {} lines in {}", text.lines().count(), file.display());
    Ok(std::fs::write(file, text)?)
}
