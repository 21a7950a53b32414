//! Packages on npm that are read as data: their files, and the licence that they say they have.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use serde_json::Value;
use xtask::{process, tools, workspace};

/// The package's files, as npm packs them, in `target/npm`. Nothing of it is run.
pub fn package(name: &str, version: &str) -> anyhow::Result<PathBuf> {
    let folder = workspace::target().join("npm").join(format!("{}@{version}", name.replace('/', "+")));
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
pub fn licence(folder: &Path) -> anyhow::Result<String> {
    let package: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json"))?)?;
    let license = package["license"].as_str().or_else(|| package["license"]["type"].as_str()).unwrap_or("?");
    Ok(license.replace(' ', "-"))
}
