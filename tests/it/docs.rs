//! The documentation holds: endpoints and methods are those of the code, guarantees have their tests, links lead
//! somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::rest_routes;
use anyhow::{Context as _, ensure};
use xtask::workspace;

fn read(path: &str) -> anyhow::Result<String> {
    fs::read_to_string(workspace::root().join(path)).with_context(|| path.to_owned())
}

/// The files below a folder whose names end so, without fixtures and what tools fetched.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    fn walk(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "node_modules", "fixtures", "corpus", ".git", ".venv"].contains(&&*name) {
                walk(&path, ending, files);
            } else if path.extension().is_some_and(|found| found == ending) {
                files.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&workspace::root().join(folder), ending, &mut found);
    assert!(!found.is_empty(), "no .{ending} in {folder}");
    found
}

fn text_of(folders: &[&str]) -> String {
    let files = folders.iter().flat_map(|folder| files(folder, "rs"));
    files.filter_map(|file| fs::read_to_string(file).ok()).collect()
}

/// What stands below a heading of the second level.
fn section<'p>(page: &'p str, heading: &str) -> &'p str {
    let rest = page.split(heading).nth(1).unwrap_or_default();
    rest.split("\n## ").next().unwrap_or_default()
}

/// The JSON-RPC methods that a text has between two quotation marks of its kind.
fn methods(text: &str, quote: char) -> BTreeSet<&str> {
    let is_method = |word: &&str| {
        ["eth_", "ots_", "erigon_"].iter().any(|prefix| word.starts_with(prefix))
            && word.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    };
    text.split(quote).filter(is_method).collect()
}

#[test]
fn every_endpoint_is_listed() -> anyhow::Result<()> {
    let page = read("docs/reference/rest.md")?;
    let mut checked = 0;
    for route in rest_routes()? {
        if route.contains("{*rest}") || route == "/api/v2" {
            continue;
        }
        let tail = route.trim_start_matches("/api/v2");
        ensure!(page.contains(tail), "docs/reference/rest.md does not name {route}");
        checked += 1;
    }
    ensure!(checked > 60, "only {checked} routes");
    Ok(())
}

#[test]
fn methods_that_are_listed_are_those_that_are_served() -> anyhow::Result<()> {
    let page = read("docs/reference/json-rpc.md")?;
    let table = read("src/rpc/methods.rs")?;
    let (listed, served) = (methods(section(&page, "\n## Methods\n"), '`'), methods(&table, '"'));
    ensure!(served.len() > 5 && listed == served, "json-rpc.md lists {listed:?}, served are {served:?}");
    Ok(())
}

#[test]
fn what_a_node_needs_is_all_that_is_requested_of_one() -> anyhow::Result<()> {
    let page = read("docs/operate/load.md")?;
    let sources = text_of(&["ingest/src", "crates/node/src"]);
    let (listed, requested) = (methods(section(&page, "\n## What a node needs\n"), '`'), methods(&sources, '"'));
    ensure!(requested.len() > 4 && listed == requested, "load.md lists {listed:?}, requested are {requested:?}");
    Ok(())
}

/// A guarantee is worth its test. A name that ends with `…` stands for all tests of a module.
#[test]
fn guarantees_have_their_tests() -> anyhow::Result<()> {
    let is_test = |name: &str| -> bool {
        let Some((module, test)) = name.rsplit_once("::") else { return false };
        let text = read(&format!("tests/it/{}.rs", module.replace("::", "/"))).unwrap_or_default();
        // A test is a function, or a line of a list.
        if test == "…" {
            !text.is_empty()
        } else {
            [format!("fn {test}()"), format!("    {test}:")].iter().any(|test| text.contains(test))
        }
    };
    let units = text_of(&["src", "crates", "ingest/src", "engine/src"]);
    let is_path = |name: &str| name.contains("::") && name.chars().all(|c| c.is_alphanumeric() || "_:…".contains(c));
    let mut checked = 0;
    for name in read("docs/explain/guarantees.md")?.split('`').skip(1).step_by(2) {
        let is_there = match name.strip_prefix("unit: ") {
            Some(unit) => units.contains(&format!("fn {unit}(")),
            None if !is_path(name) => continue,
            None => is_test(name),
        };
        ensure!(is_there, "guarantees.md names `{name}`, and there is no such test");
        checked += 1;
    }
    ensure!(checked > 15, "only {checked} names");
    Ok(())
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let anchor = |heading: &str| -> String {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let letters = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        letters.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    page.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn links_lead_somewhere() -> anyhow::Result<()> {
    let pages = files("", "md");
    for path in &pages {
        let text = fs::read_to_string(path)?;
        let folder = path.parent().unwrap_or(path);
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { folder.join(file) };
            ensure!(target.exists(), "{}: {link} leads nowhere", path.display());
            let is_page = target.extension().is_some_and(|ending| ending == "md");
            let is_heading = || anyhow::Ok(anchors(&fs::read_to_string(&target)?).contains(anchor));
            ensure!(anchor.is_empty() || !is_page || is_heading()?, "{}: {link} is no heading", path.display());
        }
    }
    ensure!(pages.len() > 20, "only {} pages", pages.len());
    Ok(())
}

/// Comments that cite a page of the docs name one that is there, and a heading of it.
#[test]
fn comments_cite_headings_that_are_there() -> anyhow::Result<()> {
    let mut checked = 0;
    for file in ["src", "crates", "ingest/src", "engine/src"].iter().flat_map(|folder| files(folder, "rs")) {
        for cited in fs::read_to_string(&file)?.split("docs/").skip(1) {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "/-_.#".contains(c);
            let cited = cited.split(|c: char| !is_part(c)).next().unwrap_or_default().trim_end_matches('.');
            let (page, anchor) = cited.split_once('#').unwrap_or((cited, ""));
            if !page.ends_with(".md") {
                continue;
            }
            let text = read(&format!("docs/{page}")).with_context(|| file.display().to_string())?;
            ensure!(anchor.is_empty() || anchors(&text).contains(anchor), "{}: docs/{cited}", file.display());
            checked += 1;
        }
    }
    ensure!(checked > 2, "only {checked} citations");
    Ok(())
}

/// A table ends with its first blank line, and what follows is shown as text; a row that stands twice says nothing the
/// second time.
#[test]
fn tables_are_whole_and_no_row_is_there_twice() -> anyhow::Result<()> {
    let is_rule = |line: &str| line.starts_with("|-") || line.starts_with("| -");
    for file in files("docs", "md") {
        // The columns of tables have comments in common, and raw figures repeat their headings.
        if file.ends_with("columns.md") || file.to_string_lossy().contains("/raw/") {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let lines: Vec<&str> = text.lines().collect();
        for part in lines.windows(4) {
            let is_row = |line: &str| line.starts_with('|');
            let is_cut = is_row(part[0]) && part[1].is_empty() && is_row(part[2]) && !is_rule(part[3]);
            ensure!(!is_cut, "{}: a table has a blank line before {}", file.display(), part[2]);
        }
        let mut seen = BTreeSet::new();
        for row in lines.iter().filter(|line| line.starts_with('|') && line.len() > 60) {
            ensure!(seen.insert(row), "{}: twice {row}", file.display());
        }
    }
    Ok(())
}
