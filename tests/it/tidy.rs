//! The house rules that a reader should not have to check: circles of imports, file heads, lengths, names, where SQL
//! may stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use xtask::{budget, workspace};

mod imports;
mod ratchets;

fn rust_files(folder: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("node_modules") {
                walk(&path, files);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    walk(&workspace::root().join(folder), &mut files);
    assert!(!files.is_empty(), "no Rust in {folder}");
    files
}

fn name(path: &Path) -> String {
    path.strip_prefix(workspace::root()).unwrap_or(path).display().to_string()
}

/// The paths of the routes in a file.
pub fn routes_of(file: &Path) -> anyhow::Result<BTreeSet<String>> {
    let text = fs::read_to_string(file).with_context(|| name(file))?;
    let routes = text.split(".route(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
    Ok(routes.filter_map(|rest| Some(rest.split('"').next()?.to_owned())).collect())
}

/// The paths of the REST endpoints.
pub fn rest_routes() -> anyhow::Result<BTreeSet<String>> {
    let files = rust_files("src/rest");
    Ok(files.iter().map(|file| routes_of(file)).collect::<anyhow::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The folders with code of ours.
const FOLDERS: [&str; 7] = ["src", "crates", "ingest", "engine", "xtask", "tests", "bench"];

/// What the product is made of.
const PRODUCT: [&str; 4] = ["src", "crates", "ingest/src", "engine/src"];

/// Packages depend downwards only, which the compiler keeps; within a package this does.
#[test]
fn no_files_import_each_other_in_a_circle() -> anyhow::Result<()> {
    let roots = ["src", "ingest/src", "engine/src", "xtask/src"].map(|folder| workspace::root().join(folder));
    let crates = fs::read_dir(workspace::root().join("crates"))?;
    let crates = crates.map(|entry| Ok(entry?.path().join("src"))).collect::<std::io::Result<Vec<_>>>()?;
    let mut checked = 0;
    for folder in roots.into_iter().chain(crates) {
        for root in ["lib.rs", "main.rs"].map(|file| folder.join(file)) {
            if root.exists() {
                let circles = imports::circles(&root)?;
                ensure!(circles.is_empty(), "{}: files import each other: {circles:#?}", name(&root));
                checked += 1;
            }
        }
    }
    ensure!(checked > 10, "only {checked} packages");
    Ok(())
}

/// What answers requests: what two of them share lies below, in `read` or `http`.
const SURFACES: [&str; 5] = ["rest", "rpc", "scan", "etherscan", "web"];

/// Some actions of Etherscan's are JSON-RPC calls; the routes of scans are among those of REST.
const SIDEWAYS: [(&str, &str); 2] = [("etherscan", "rpc"), ("rest", "scan")];

#[test]
fn no_surface_reaches_another() -> anyhow::Result<()> {
    let rooms = imports::rooms(&workspace::root().join("src/lib.rs"))?;
    for surface in SURFACES {
        let imported = rooms.get(surface).into_iter().flatten().map(String::as_str);
        let mut others = imported.filter(|other| SURFACES.contains(other));
        let unexpected = others.find(|other| !SIDEWAYS.contains(&(surface, other)));
        ensure!(
            unexpected.is_none(),
            "src/{surface} imports src/{}: move what both use to src/read",
            unexpected.unwrap_or_default()
        );
    }
    for (surface, other) in SIDEWAYS {
        let is_there = rooms.get(surface).is_some_and(|others| others.contains(other));
        ensure!(is_there, "src/{surface} no longer imports src/{other}: take it from the list");
    }
    Ok(())
}

#[test]
fn every_file_says_its_job() -> anyhow::Result<()> {
    for folder in FOLDERS {
        for file in rust_files(folder) {
            let text = fs::read_to_string(&file)?;
            ensure!(text.starts_with("//! "), "{} does not begin with its job", name(&file));
        }
    }
    Ok(())
}

#[test]
fn files_are_short() -> anyhow::Result<()> {
    for folder in FOLDERS {
        for file in rust_files(folder) {
            let lines = fs::read_to_string(&file)?.lines().count();
            ensure!(lines <= 400, "{} has {lines} lines: split it by noun", name(&file));
        }
    }
    Ok(())
}

#[test]
fn no_banned_names() -> anyhow::Result<()> {
    for folder in FOLDERS {
        for file in rust_files(folder) {
            let path = name(&file);
            for banned in ["utils", "helpers", "common", "manager", "misc"] {
                let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
                ensure!(stem != banned, "{path}: a room has no name");
            }
            let text = fs::read_to_string(&file)?;
            for word in ["todo!(", "unimplemented!(", concat!("FIX", "ME"), concat!("XX", "X")] {
                ensure!(path.ends_with("tidy.rs") || !text.contains(word), "{path} has {word}");
            }
        }
    }
    Ok(())
}

/// Statements stand in `sql/`, `trawl-query` and `trawl-core`; no other code spells one.
#[test]
fn sql_stands_in_its_rooms() -> anyhow::Result<()> {
    for file in ["src", "crates", "ingest/src"].into_iter().flat_map(rust_files) {
        let path = name(&file);
        if path.starts_with("crates/query") || path.starts_with("crates/core") {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let code: String =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        for word in ["SELECT ", "INSERT INTO", "DELETE FROM", "ALTER TABLE"] {
            ensure!(!code.contains(word), "{path} spells SQL: {word}");
        }
    }
    Ok(())
}

/// What a family of chains does in its own way is a value in `trawl-chains`; no other code knows its name
/// (docs/explain/chains.md).
#[test]
fn families_are_named_in_their_package_alone() -> anyhow::Result<()> {
    // English words, and the first fork of Ethereum.
    let ambiguous = ["ethereum", "stable", "frontier"];
    let names: Vec<&str> = trawl_chains::names().filter(|name| !ambiguous.contains(name)).collect();
    ensure!(names.len() > 10, "{names:?}");
    for file in PRODUCT.into_iter().flat_map(rust_files) {
        let path = name(&file);
        if path.starts_with("crates/chains") || path.contains("tests") {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines();
        for line in code.filter(|line| !line.trim_start().starts_with("//")).map(str::to_lowercase) {
            let named = line.split(|of: char| !of.is_ascii_alphanumeric()).any(|word| names.contains(&word));
            ensure!(!named, "{path} names a family: {line}");
        }
    }
    Ok(())
}

#[test]
fn every_query_file_is_used() -> anyhow::Result<()> {
    let sources: String =
        PRODUCT.into_iter().flat_map(rust_files).filter_map(|file| fs::read_to_string(file).ok()).collect();
    for entry in fs::read_dir(workspace::root().join("sql/queries"))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        ensure!(sources.contains(&file), "sql/queries/{file} is not used");
    }
    Ok(())
}

/// No test of the ordinary run takes longer than its share of the budget. `cargo xtask test` runs this last, with the
/// times of all others and of the run as a whole.
#[test]
#[ignore = "compares the times of a whole run: `cargo xtask test` runs it last"]
fn no_test_is_slow() -> anyhow::Result<()> {
    // A run of all slow tests has no times, and no ceiling.
    let Some(file) = std::env::var_os("TRAWL_TEST_TIMES") else { return Ok(()) };
    let times = fs::read_to_string(file)?;
    let run = std::env::var("TRAWL_TEST_RUN").context("the seconds of the run")?.parse()?;
    let ceiling = budget::ceiling(Duration::from_secs(run)).as_secs_f64();
    let seconds = |line: &str| line.split('\t').nth(1).and_then(|seconds| seconds.parse::<f64>().ok());
    let slow: Vec<&str> = times.lines().filter(|line| seconds(line).is_none_or(|seconds| seconds > ceiling)).collect();
    ensure!(!times.is_empty() && (slow.is_empty() || crate::env::is_slow_run()), "above {ceiling} s: {slow:#?}");
    Ok(())
}
