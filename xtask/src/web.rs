//! `cargo xtask web`: builds the page of `web/` into `web/dist`, which is committed, so that `cargo build` needs no
//! Node.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use clap::Args;
use xtask::{process, tools, workspace};

/// Flags of the build.
#[derive(Debug, Args)]
pub struct WebFlags {
    /// Build elsewhere and compare: fails if `web/dist` differs from the sources, or is larger than promised.
    #[arg(long)]
    check: bool,
}

/// Builds the page, or compares.
pub fn run(flags: &WebFlags) -> anyhow::Result<()> {
    let sources = workspace::root().join("web");
    tools::npm_ci(&sources)?;
    let built = sources.join("dist");
    if !flags.check {
        return build(&sources, &built);
    }
    let anew = workspace::target().join("web");
    build(&sources, &anew)?;
    compare(&built, &anew)
}

fn build(sources: &Path, into: &Path) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args(["run", "build", "--loglevel=error"]).current_dir(sources).env("TRAWL_WEB_OUT", into);
    // It prints the sizes, among much else.
    process::run(npm.stdout(Stdio::inherit()))
}

fn compare(built: &Path, anew: &Path) -> anyhow::Result<()> {
    let (old, new) = (files(built)?, files(anew)?);
    let names = old.keys().chain(new.keys());
    let differing: Vec<String> =
        names.filter(|name| old.get(*name) != new.get(*name)).map(|name| name.display().to_string()).collect();
    ensure!(differing.is_empty(), "web/dist is not what web/ gives; run `cargo xtask web`: {}", differing.join(", "));
    println!("web: {} files are what the sources give", old.len());
    Ok(())
}

/// The files below a folder, by their paths in it.
fn files(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root)?.to_owned(), std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
