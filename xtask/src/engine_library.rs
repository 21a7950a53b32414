//! Gets libchdb, the embedded ClickHouse engine: once a machine, by name from npm, checked against a checksum.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use sha2::{Digest, Sha256};

use crate::{process, tools, workspace};

/// The release that is fetched.
const VERSION: &str = "26.7.3";

/// The npm package of the library on this platform, and the SHA-256 of the file where known.
fn package() -> anyhow::Result<(&'static str, Option<&'static str>)> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => {
            Ok(("lib-linux-x64-gnu", Some("36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5")))
        }
        // No machine of these kinds was at hand: neither these packages nor their files could be tried or pinned.
        ("linux", "aarch64") => Ok(("lib-linux-arm64-gnu", None)),
        ("macos", "aarch64") => Ok(("lib-darwin-arm64", None)),
        ("macos", "x86_64") => Ok(("lib-darwin-x64", None)),
        (os, arch) => {
            bail!("there is no embedded engine for {os} on {arch}: use a ClickHouse server (--clickhouse-url)")
        }
    }
}

/// Path of the installed library: outside any checkout, so that `cargo clean` and other clones do not fetch it again.
pub fn installed_path() -> anyhow::Result<PathBuf> {
    let data_home = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share")))
        .context("neither XDG_DATA_HOME nor HOME is set, so the engine has no folder")?;
    Ok(data_home.join("trawl/engine").join(VERSION).join("libchdb.so"))
}

/// Makes sure that the library is there and returns its path. `CHDB_LIB` names another file.
pub fn ensure() -> anyhow::Result<PathBuf> {
    if let Some(file) = std::env::var_os("CHDB_LIB") {
        return Ok(file.into());
    }
    let path = installed_path()?;
    let (package, checksum) = package()?;
    if is_checked(&path, checksum)? {
        return Ok(path);
    }
    fetch(&path, package, checksum)?;
    Ok(path)
}

/// Whether the file is the right one. Hashing half a gigabyte takes a second, so a good file is marked by its size and
/// time.
fn is_checked(path: &Path, checksum: Option<&str>) -> anyhow::Result<bool> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(false) };
    let modified = metadata.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let mark = format!("{} {} {}", checksum.unwrap_or("unpinned"), metadata.len(), modified.as_nanos());
    let marker = path.with_extension("checked");
    if std::fs::read_to_string(&marker).is_ok_and(|known| known == mark) {
        return Ok(true);
    }
    if !matches(path, checksum)? {
        return Ok(false);
    }
    std::fs::write(marker, mark)?;
    Ok(true)
}

fn matches(file: &Path, checksum: Option<&str>) -> anyhow::Result<bool> {
    let Some(expected) = checksum else { return Ok(true) };
    let mut hasher = Sha256::new();
    let mut reader = File::open(file)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
    }
    let found: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(found == expected)
}

fn fetch(path: &Path, package: &str, checksum: Option<&str>) -> anyhow::Result<()> {
    tools::require("npm", "Node.js 20 or later with npm")?;
    eprintln!("xtask: fetching the embedded engine ({package} {VERSION}, 160 MB, once a machine)");
    let folder = path.parent().context("the engine has a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let work = folder.join(format!("fetching-{}", std::process::id()));
    std::fs::create_dir_all(&work)?;
    let result = fetch_into(&work, path, package, checksum);
    std::fs::remove_dir_all(&work)?;
    result
}

fn fetch_into(work: &Path, path: &Path, package: &str, checksum: Option<&str>) -> anyhow::Result<()> {
    let locked = workspace::root().join("engine/npm").join(package);
    let mut npm = Command::new("npm");
    if locked.is_dir() {
        // A plain dependency: npm ignores a wrong checksum of an optional one.
        for file in ["package.json", "package-lock.json"] {
            std::fs::copy(locked.join(file), work.join(file))
                .with_context(|| format!("engine/npm/{package}/{file}"))?;
        }
        npm.arg("ci");
    } else {
        npm.args(["install", &format!("@chdb/{package}@{VERSION}-stable.1")]);
    }
    npm.args(["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(work);
    process::run(npm.stdout(Stdio::null())).context("npm could not fetch the engine")?;
    let library = work.join("node_modules/@chdb").join(package).join("libchdb.so");
    if !matches(&library, checksum)? {
        bail!("the engine that npm fetched has another checksum than the one pinned here: it was not installed");
    }
    // A rename within one folder: another process sees the whole file or none.
    match std::fs::rename(&library, path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            std::fs::copy(&library, path)?;
        }
        Err(error) => return Err(error.into()),
    }
    if is_checked(path, checksum)? { Ok(()) } else { bail!("{} changed while it was installed", path.display()) }
}
