//! The house rules that a reader should not have to check: floors, file heads, lengths, names, where SQL may stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use xtask::workspace;

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

/// Room → the rooms it may use.
const FLOORS: [(&str, &[&str]); 7] = [
    ("primitives", &[]),
    ("schema", &["primitives"]),
    ("statement", &["primitives"]),
    ("query", &["primitives", "schema", "statement"]),
    ("json", &["primitives", "schema"]),
    ("store", &["primitives", "schema", "statement"]),
    ("api", &["primitives", "schema", "statement", "query", "json", "store"]),
];

#[test]
fn imports_go_down_only() -> anyhow::Result<()> {
    for file in rust_files("src") {
        let path = name(&file);
        let room = path.trim_start_matches("src/").split(['/', '.']).next().unwrap_or_default().to_owned();
        let Some((_, allowed)) = FLOORS.iter().find(|(name, _)| *name == room) else { continue };
        let text = fs::read_to_string(&file)?;
        for (number, line) in text.lines().enumerate() {
            for used in line.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                let is_room = FLOORS.iter().any(|(name, _)| *name == used);
                ensure!(
                    !is_room || used == room || allowed.contains(&used),
                    "{path}:{}: {room} may not use {used}",
                    number + 1
                );
            }
        }
    }
    for file in rust_files("ingest/src") {
        let text = fs::read_to_string(&file)?;
        for room in ["query", "json", "api"] {
            ensure!(!text.contains(&format!("trawl::{room}")), "{}: ingest may not use {room}", name(&file));
        }
    }
    Ok(())
}

#[test]
fn every_file_says_its_job() -> anyhow::Result<()> {
    for folder in ["src", "ingest", "engine", "xtask", "tests", "bench"] {
        for file in rust_files(folder) {
            let text = fs::read_to_string(&file)?;
            ensure!(text.starts_with("//! "), "{} does not begin with its job", name(&file));
        }
    }
    Ok(())
}

#[test]
fn files_are_short() -> anyhow::Result<()> {
    for folder in ["src", "ingest", "engine", "xtask", "tests", "bench"] {
        for file in rust_files(folder) {
            let lines = fs::read_to_string(&file)?.lines().count();
            ensure!(lines <= 500, "{} has {lines} lines: split it by noun", name(&file));
        }
    }
    Ok(())
}

#[test]
fn no_banned_names() -> anyhow::Result<()> {
    for folder in ["src", "ingest", "engine", "xtask", "tests", "bench"] {
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

/// Statements stand in `sql/`, `query/` and `store/`; nobody else spells one.
#[test]
fn sql_stands_in_its_rooms() -> anyhow::Result<()> {
    for folder in ["src", "ingest/src"] {
        for file in rust_files(folder) {
            let path = name(&file);
            if path.starts_with("src/query") || path.starts_with("src/store") {
                continue;
            }
            let text = fs::read_to_string(&file)?;
            let code: String =
                text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
            for word in ["SELECT ", "INSERT INTO", "DELETE FROM", "ALTER TABLE"] {
                ensure!(!code.contains(word), "{path} spells SQL: {word}");
            }
        }
    }
    Ok(())
}

#[test]
fn every_query_file_is_used() -> anyhow::Result<()> {
    let sources: String = ["src", "ingest/src"]
        .into_iter()
        .flat_map(rust_files)
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect();
    for entry in fs::read_dir(workspace::root().join("sql/queries"))? {
        let file = entry?.file_name().to_string_lossy().into_owned();
        ensure!(sources.contains(&file), "sql/queries/{file} is not used");
    }
    Ok(())
}

#[test]
fn readme_names_every_endpoint() -> anyhow::Result<()> {
    let readme = fs::read_to_string(workspace::root().join("README.md"))?;
    let routes = fs::read_to_string(workspace::root().join("src/api/rest.rs"))?;
    let mut checked = 0;
    for route in routes.split(".route(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        if route.contains("{*rest}") || route == "/api/v2" {
            continue;
        }
        let tail = route.trim_start_matches("/api/v2");
        ensure!(readme.contains(tail), "the README does not name {route}");
        checked += 1;
    }
    ensure!(checked > 8, "only {checked} routes");
    Ok(())
}

/// The JSON-RPC methods that a text has between two quotation marks of its kind.
fn methods(text: &str, quote: char) -> BTreeSet<&str> {
    let is_method =
        |word: &&str| word.starts_with("eth_") && word.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    text.split(quote).filter(is_method).collect()
}

/// What the README says is served is served, and what it says a node must have is all that is asked of one.
#[test]
fn readme_names_every_method() -> anyhow::Result<()> {
    let readme = fs::read_to_string(workspace::root().join("README.md"))?;
    let part =
        |from: &str, to: &str| readme.split(from).nth(1).and_then(|rest| rest.split(to).next()).unwrap_or_default();

    let groups: Vec<String> =
        rust_files("src/api/rpc").iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let groups = groups.iter().flat_map(|text| text.split("const METHODS: &[&str] =").skip(1));
    let served: BTreeSet<&str> =
        groups.flat_map(|rest| methods(rest.split("];").next().unwrap_or_default(), '"')).collect();
    let told = methods(part("| `POST /api/eth-rpc`", "\n"), '`');
    ensure!(served.len() > 5 && told == served, "the README tells {told:?}, served are {served:?}");

    let sources: Vec<String> =
        rust_files("ingest/src").iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let asked: BTreeSet<&str> = sources.iter().flat_map(|text| methods(text, '"')).collect();
    let told = methods(part("- **A node**", "\n- **"), '`');
    ensure!(asked.len() > 4 && told == asked, "the README tells {told:?}, asked of a node are {asked:?}");
    Ok(())
}

/// A promise is worth its test. A name that ends with `…` stands for all that begin so.
#[test]
fn promises_name_tests_that_are_there() -> anyhow::Result<()> {
    let text_of = |folder: &str| -> String {
        let files = rust_files(folder).into_iter().filter(|file| !file.ends_with("tidy.rs"));
        files.filter_map(|file| fs::read_to_string(file).ok()).collect()
    };
    // The file of a module; in it a test is a function, or a line of a list.
    let is_test = |name: &str| -> bool {
        let Some((module, test)) = name.rsplit_once("::") else { return false };
        let file = workspace::root().join(format!("tests/it/{}.rs", module.replace("::", "/")));
        let text = fs::read_to_string(file).unwrap_or_default();
        if test == "…" {
            !text.is_empty()
        } else {
            text.contains(&format!("fn {test}()")) || text.contains(&format!("    {test}:"))
        }
    };
    let units: String = ["src", "ingest/src", "engine/src"].into_iter().map(text_of).collect();
    let promises = fs::read_to_string(workspace::root().join("docs/promises.md"))?;
    let is_path = |name: &str| name.contains("::") && name.chars().all(|c| c.is_alphanumeric() || "_:…".contains(c));
    let mut checked = 0;
    for name in promises.split('`').skip(1).step_by(2) {
        let is_there = match name.strip_prefix("unit: ") {
            Some(unit) => units.contains(&format!("fn {unit}(")),
            None if !is_path(name) => continue,
            None => is_test(name),
        };
        ensure!(is_there, "docs/promises.md names `{name}`, and there is no such test");
        checked += 1;
    }
    ensure!(checked > 15, "only {checked} names");
    Ok(())
}
