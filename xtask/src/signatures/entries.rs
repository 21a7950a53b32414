//! The entries of ABIs in the files of a package: artifacts of compilers, lists in scripts, and lines for people
//! (`function transfer(address to, uint256 amount)`).

use std::path::Path;

use serde_json::Value;

use super::declarations::{Declarations, Kind};
use super::literals::literals;

/// Files that have ABIs; others are programs, sources in Solidity and pictures.
const ENDINGS: [&str; 7] = ["json", "js", "cjs", "mjs", "ts", "mts", "cts"];
/// Contracts that only tests deploy, and what describes builds as a whole.
const NOT_READ: [&str; 7] = ["/test/", "/tests/", "/mock", "mock.json", ".t.sol", "/node_modules/", "/build-info/"];
const MAX_SIZE: u64 = 24 << 20;

/// Adds what the files of a package declare.
pub fn add(found: &mut Declarations, package: &str, folder: &Path) -> anyhow::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            let name = path.display().to_string().to_lowercase();
            if NOT_READ.iter().any(|part| name.contains(part)) || entry.file_type()?.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if ENDINGS.iter().any(|ending| path.extension().is_some_and(|kind| kind == *ending))
                && entry.metadata()?.len() <= MAX_SIZE
            {
                let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
                read(found, package, &text);
            }
        }
    }
    Ok(())
}

fn read(found: &mut Declarations, package: &str, text: &str) {
    if text.contains("inputs") {
        for literal in literals(text) {
            walk(found, package, &literal);
        }
    }
    for (kind, word) in [(Kind::Function, "function "), (Kind::Event, "event "), (Kind::Error, "error ")] {
        for quote in ['"', '\'', '`'] {
            for (at, _) in text.match_indices(&format!("{quote}{word}")) {
                let rest = &text[at + 1..];
                let Some(line) = rest.split(quote).next().filter(|line| line.len() < 2000 && line.contains('(')) else {
                    continue;
                };
                found.add_line(package, kind, line);
            }
        }
    }
}

fn walk(found: &mut Declarations, package: &str, value: &Value) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| walk(found, package, value)),
        Value::Object(object) => {
            let kind = match object.get("type").and_then(Value::as_str) {
                Some("function") => Some(Kind::Function),
                Some("event") => Some(Kind::Event),
                Some("error") => Some(Kind::Error),
                _ => None,
            };
            match kind {
                Some(kind) => found.add_entry(package, kind, value),
                None => object.values().for_each(|value| walk(found, package, value)),
            }
        }
        // Artifacts of typechain's factories and of older compilers hold an ABI as text.
        Value::String(text) if text.starts_with('[') || text.starts_with('{') => {
            let text = text.replace("\\\"", "\"");
            if let Ok(inner) = serde_json::from_str(&text) {
                walk(found, package, &inner);
            }
        }
        _ => {}
    }
}
