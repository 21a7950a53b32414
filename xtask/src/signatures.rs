//! `cargo xtask signatures`: the lists of functions, events and errors that come with Trawl, from the ABIs that
//! packages on npm carry. `sql/signatures/packages.txt` names the packages with their versions; licences are written
//! beside them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;
use xtask::{process, tools, workspace};

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
        let folder = fetched(name, version)?;
        let before = found.len();
        entries::add(&mut found, name, &folder)?;
        eprintln!("xtask: {name} {version}: {} declarations that no package before had", found.len() - before);
        packages.push(Package { name: name.into(), version: version.into(), licence: licence(&folder)? });
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

/// The package's files, as npm packs them, in `target/signatures`. Nothing of it is run.
fn fetched(name: &str, version: &str) -> anyhow::Result<PathBuf> {
    let folder = workspace::target().join("signatures").join(format!("{}@{version}", name.replace('/', "+")));
    let files = folder.join("package");
    if files.is_dir() {
        return Ok(files);
    }
    tools::require("npm", "Node.js 20 or later with npm")?;
    tools::require("tar", "tar")?;
    std::fs::create_dir_all(&folder)?;
    let mut npm = Command::new("npm");
    npm.args(["pack", &format!("{name}@{version}"), "--ignore-scripts", "--loglevel=error"]);
    process::run(npm.current_dir(&folder).stdout(Stdio::null()))?;
    let archive = std::fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let archive = archive.into_iter().find(|path| path.extension().is_some_and(|kind| kind == "tgz"));
    let archive = archive.with_context(|| format!("npm packed nothing of {name}"))?;
    // Whatever folder a package calls its own.
    std::fs::create_dir_all(folder.join("unpacked"))?;
    let mut tar = Command::new("tar");
    process::run(tar.args(["--strip-components=1", "-xzf"]).arg(&archive).arg("-C").arg(folder.join("unpacked")))?;
    std::fs::remove_file(archive)?;
    std::fs::rename(folder.join("unpacked"), &files)?;
    Ok(files)
}

/// What the package says of its licence; `?` if nothing.
fn licence(folder: &Path) -> anyhow::Result<String> {
    let package: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json"))?)?;
    let license = package["license"].as_str().or_else(|| package["license"]["type"].as_str()).unwrap_or("?");
    Ok(license.replace(' ', "-"))
}

fn write(file: &Path, lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let text: String = lines.map(|line| line + "\n").collect();
    eprintln!("xtask: {} lines in {}", text.lines().count(), file.display());
    Ok(std::fs::write(file, text)?)
}
