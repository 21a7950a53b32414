//! `cargo xtask package`: what runs Trawl on a machine without a compiler, as one archive and as packages of Debian.

mod deb;
mod dependencies;
mod files;
mod licences;
mod sbom;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

use crate::{engine_library, process, workspace};
use files::{PROGRAMS, copy};

/// What is copied as it is, and where to.
const FILES: [(&str, &str); 8] = [
    ("README.md", "share/doc/trawl"),
    ("CHANGELOG.md", "share/doc/trawl"),
    ("LICENSE-APACHE", "share/doc/trawl"),
    ("LICENSE-MIT", "share/doc/trawl"),
    ("ops/systemd", "share/trawl/systemd"),
    ("ops/prometheus", "share/trawl/prometheus"),
    ("ops/grafana", "share/trawl/grafana"),
    ("ops/nginx", "share/trawl/nginx"),
];

/// What was written.
#[derive(Debug)]
pub struct Packages {
    /// `trawl-VERSION-ARCH-OS.tar.gz`; unpacked into `/usr/local` it is installed.
    pub archive: PathBuf,
    /// The programs, and the library of the engine; none on a machine without `dpkg-deb`.
    pub debian: Option<[PathBuf; 2]>,
}

/// Writes the packages into a folder, each with a `.sha256` beside it, from the programs that were built in a profile;
/// the same programs give the same packages.
///
/// # Errors
///
/// If a program is not built, or a file cannot be read or written.
pub fn write(profile: &str, into: &Path) -> anyhow::Result<Packages> {
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    let name = format!("trawl-{}-{arch}-{os}", env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(into)?;
    let folder = into.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    for program in PROGRAMS {
        let built = workspace::program(profile, program);
        ensure!(built.exists(), "{} is not there: build the programs in that profile", built.display());
        copy(&built, &folder.join("bin").join(program))?;
        // In an environment without settings: pages would show them.
        process::run(Command::new(&built).arg("--generate").arg(folder.join("share")).env_clear())?;
    }
    copy(&engine_library::ensure()?, &folder.join("lib/trawl/libchdb.so"))?;
    for (from, to) in FILES {
        let from = workspace::root().join(from);
        let to = folder.join(to);
        if from.is_dir() {
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                copy(&entry.path(), &to.join(entry.file_name()))?;
            }
        } else {
            copy(&from, &to.join(from.file_name().context("a name")?))?;
        }
    }
    fs::write(folder.join("share/doc/trawl/LICENCES.txt"), licences::text()?)?;
    let sbom = into.join(format!("{name}.cdx.json"));
    fs::write(&sbom, sbom::text()?)?;
    copy(&sbom, &folder.join("share/doc/trawl/trawl.cdx.json"))?;
    fs::write(folder.join("share/doc/trawl/SHA256SUMS"), sums(&folder)?)?;
    let has_dpkg = Command::new("dpkg-deb").arg("--version").output().is_ok_and(|output| output.status.success());
    let debian = if has_dpkg { Some(deb::write(&folder, into)?) } else { None };
    let archive = archive(into, &name)?;
    for file in debian.iter().flatten().chain([&archive, &sbom]) {
        let name = file.file_name().context("a name")?.to_string_lossy();
        fs::write(into.join(format!("{name}.sha256")), format!("{}  {name}\n", checksum(file)?))?;
    }
    Ok(Packages { archive, debian })
}

/// The checksums of all files, as `sha256sum --check` reads them.
fn sums(folder: &Path) -> anyhow::Result<String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let line = |file: &PathBuf| -> anyhow::Result<String> {
        Ok(format!("{}  {}\n", checksum(file)?, file.strip_prefix(folder)?.display()))
    };
    files.iter().map(line).collect()
}

fn checksum(file: &Path) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    std::io::copy(&mut fs::File::open(file)?, &mut hash)?;
    Ok(format!("{:x}", hash.finalize()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn archive(into: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let file = into.join(format!("{name}.tar.gz"));
    let mut tar = Command::new("tar");
    tar.current_dir(into).args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"]);
    // Without the time that gzip would write.
    tar.args(["--use-compress-program=gzip -n -6", "-cf"]).arg(&file).arg(name);
    process::run(&mut tar)?;
    fs::remove_dir_all(into.join(name))?;
    Ok(file)
}
