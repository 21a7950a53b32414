//! Packages for Debian and its kin: one of the programs with their units, and one of the library of the engine, which
//! changes less often and is thirty times as large.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use super::files::{PROGRAMS, copy};
use crate::{process, workspace};

/// Where packages of a distribution have their programs; the units name where an archive has them.
const UNITS: &str = "usr/lib/systemd/system";

/// Run once the files are there: the user of the units, and the units that are new.
const POSTINST: &str = "#!/bin/sh\nset -e\nif [ -d /run/systemd/system ]; then\n    systemd-sysusers trawl.conf\n    \
                        systemctl daemon-reload\nfi\n";

/// Writes `trawl_VERSION_ARCH.deb` and `trawl-engine-library_VERSION_ARCH.deb` into `into`, from the folder that the
/// archive is made of.
///
/// # Errors
///
/// If `dpkg-deb` is not there or fails, or a file cannot be read or written.
pub(super) fn write(folder: &Path, into: &Path) -> anyhow::Result<[PathBuf; 2]> {
    let programs = programs(folder, into)?;
    let library = into.join("trawl-engine-library");
    copy(&folder.join("lib/trawl/libchdb.so"), &library.join("usr/lib/trawl/libchdb.so"))?;
    let about =
        "library of the embedded ClickHouse engine of Trawl\n libchdb, which trawl-engine loads when it starts.";
    let library = build(into, &library, "trawl-engine-library", &Control { depends: "libc6", recommends: "", about })?;
    Ok([programs, library])
}

/// The package of the programs.
fn programs(folder: &Path, into: &Path) -> anyhow::Result<PathBuf> {
    let package = into.join("trawl");
    for program in PROGRAMS {
        copy(&folder.join("bin").join(program), &package.join("usr/bin").join(program))?;
    }
    copy_all(&folder.join("share"), &package.join("usr/share"))?;
    let mut settings = String::new();
    for entry in fs::read_dir(workspace::root().join("ops/systemd"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(entry.path())?;
        let (to, text) = match name.rsplit_once('.') {
            Some((_, "service")) => (format!("{UNITS}/{name}"), text.replace("/usr/local/bin/", "/usr/bin/")),
            Some((_, "env")) => (format!("etc/trawl/{name}"), text),
            _ => (format!("usr/lib/sysusers.d/{name}"), text),
        };
        if to.starts_with("etc/") {
            settings.push_str(&format!("/{to}\n"));
        }
        let to = package.join(to);
        fs::create_dir_all(to.parent().context("a folder")?)?;
        fs::write(to, text.replace("# /etc/systemd/system/", "# /usr/lib/systemd/system/"))?;
    }
    let control = package.join("DEBIAN");
    fs::create_dir_all(&control)?;
    fs::write(control.join("conffiles"), settings)?;
    fs::write(control.join("postinst"), POSTINST)?;
    fs::set_permissions(control.join("postinst"), fs::Permissions::from_mode(0o755))?;
    let libc = format!("libc6 (>= {}), libgcc-s1", newest_symbols(&package)?);
    let about = "explorer of EVM chains on ClickHouse\n trawl-ingest loads a chain into ClickHouse, trawl-api answers \
                 the REST API of explorers, JSON-RPC and a web page from it, trawl-engine is an embedded ClickHouse.";
    build(into, &package, "trawl", &Control { depends: &libc, recommends: "trawl-engine-library", about })
}

/// What a package says of itself besides its name, version and architecture.
struct Control<'a> {
    depends: &'a str,
    /// Nothing if it is empty.
    recommends: &'a str,
    /// A line, and lines with a space in front.
    about: &'a str,
}

fn build(into: &Path, folder: &Path, name: &str, control: &Control<'_>) -> anyhow::Result<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => bail!("Debian's name of the architecture {other} is not known here"),
    };
    let version = env!("CARGO_PKG_VERSION");
    let Control { depends, recommends, about } = control;
    let recommends = if recommends.is_empty() { String::new() } else { format!("Recommends: {recommends}\n") };
    fs::create_dir_all(folder.join("DEBIAN"))?;
    let text = format!(
        "Package: {name}\nVersion: {version}\nArchitecture: {architecture}\nSection: net\nPriority: optional\n\
         Maintainer: Trawl maintainers <maintainers@invalid>\nDepends: {depends}\n{recommends}Description: {about}\n"
    );
    fs::write(folder.join("DEBIAN/control"), text)?;
    let file = into.join(format!("{name}_{version}_{architecture}.deb"));
    let mut deb = Command::new("dpkg-deb");
    deb.args(["--root-owner-group", "-Zgzip", "--build"]).arg(folder).arg(&file);
    process::run(deb.env("SOURCE_DATE_EPOCH", "0").stdout(std::process::Stdio::null()))?;
    fs::remove_dir_all(folder)?;
    Ok(file)
}

fn copy_all(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() { copy_all(&entry.path(), &target)? } else { copy(&entry.path(), &target)? }
    }
    Ok(())
}

/// The newest version of the C library whose symbols a program asks for.
fn newest_symbols(package: &Path) -> anyhow::Result<String> {
    const MARK: &[u8] = b"GLIBC_2.";
    let mut newest = 0;
    for program in PROGRAMS {
        let bytes = fs::read(package.join("usr/bin").join(program))?;
        for at in bytes.windows(MARK.len()).enumerate().filter_map(|(at, bytes)| (bytes == MARK).then_some(at)) {
            let digits = bytes[at + MARK.len()..].iter().take_while(|byte| byte.is_ascii_digit()).take(3);
            let minor = digits.fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
            newest = newest.max(minor);
        }
    }
    Ok(format!("2.{newest}"))
}
