//! Programs that must be on the machine, and packages that are fetched once into the checkout.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use crate::{process, workspace};

/// Fails with one sentence if `program` is not there.
pub fn require(program: &str, install: &str) -> anyhow::Result<()> {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match found {
        Ok(status) if status.success() => Ok(()),
        _ => bail!("`{program}` is needed and was not found: install {install}"),
    }
}

/// Installs the packages of `folder`'s lock file, unless that was done for this very lock file.
pub fn npm_ci(folder: &Path) -> anyhow::Result<()> {
    require("npm", "Node.js 20 or later with npm")?;
    let lock = std::fs::read(folder.join("package-lock.json"))
        .with_context(|| format!("no lock file in {}", folder.display()))?;
    let stamp = folder.join("node_modules/.trawl-lock");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    eprintln!("xtask: installing npm packages in {}", folder.display());
    let mut npm = Command::new("npm");
    npm.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(folder);
    // What packages print while they install is not what this command is about.
    process::run(npm.stdout(Stdio::null()))?;
    Ok(std::fs::write(stamp, lock)?)
}

/// A Python with the packages of `requirements`, in `target/python`. Returns its interpreter.
pub fn python_with(requirements: &Path) -> anyhow::Result<PathBuf> {
    python_in("python", requirements)
}

/// A Python with the packages of `requirements`, in a folder of `target/`. Returns its interpreter.
pub fn python_in(folder: &str, requirements: &Path) -> anyhow::Result<PathBuf> {
    require("python3", "Python 3.8 or later")?;
    install("python3", folder, requirements, &[])
}

/// A Python 3.10 to 3.12 with exactly the packages of `requirements`, without their dependencies.
pub fn python_with_only(folder: &str, requirements: &Path) -> anyhow::Result<PathBuf> {
    const FITS: &str = "import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))";
    let fits = |python: &&str| {
        let tried = Command::new(python).args(["-c", FITS]).stderr(Stdio::null()).status();
        tried.is_ok_and(|status| status.success())
    };
    let python = ["python3", "python3.12", "python3.11", "python3.10"].into_iter().find(fits);
    let python = python.context("Python 3.10, 3.11 or 3.12 is needed: packages of the tests have no other versions")?;
    install(python, folder, requirements, &["--no-deps"])
}

fn install(base: &str, folder: &str, requirements: &Path, flags: &[&str]) -> anyhow::Result<PathBuf> {
    let required = std::fs::read(requirements)?;
    let folder = workspace::target().join(folder);
    let python = folder.join("bin/python");
    let stamp = folder.join("trawl-requirements");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == required) {
        return Ok(python);
    }
    eprintln!("xtask: installing Python packages in {}", folder.display());
    let made = Command::new(base).args(["-m", "venv", "--clear"]).arg(&folder).stdout(Stdio::null()).status()?;
    if !made.success() {
        bail!("`{base} -m venv` failed: install Python's venv module (Debian: python3-venv)");
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(flags);
    // What is used is compiled when it is: a fraction of what there is.
    pip.arg("--no-compile");
    pip.arg("-r").arg(requirements);
    process::run(&mut pip)?;
    std::fs::write(stamp, required)?;
    Ok(python)
}
