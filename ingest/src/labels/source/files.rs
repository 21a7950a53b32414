//! The texts of source files that an artifact names by path and hash.

use std::collections::HashMap;
use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use alloy_primitives::{B256, keccak256};
use serde_json::{Map, Value};

use super::record::{MAX_BYTES, MAX_FILES};

/// Folders above an artifact that may be the root of its project.
const MAX_PARENTS: usize = 8;
/// Deepest folder of sources beside the metadata of a contract.
const MAX_DEPTH: usize = 24;

/// Finds texts by their hashes: beside Sourcify's metadata, in the compiler's input that hardhat-deploy stores, and in
/// the project that an artifact is of.
pub(super) struct SourceFinder {
    by_hash: HashMap<B256, String>,
    /// Folders that paths may begin at.
    roots: Vec<PathBuf>,
}

impl SourceFinder {
    /// A finder for the artifact in `file`. The error says what is too much.
    pub fn new(file: &Path, artifact: &Map<String, Value>) -> Result<Self, String> {
        let mut finder = Self { by_hash: HashMap::new(), roots: Vec::new() };
        if file.file_stem().is_some_and(|stem| stem == "metadata") {
            let mut files = Vec::new();
            list(&file.with_file_name("sources"), MAX_DEPTH, &mut files)?;
            let mut room = MAX_BYTES;
            for file in files {
                let Some(text) = read_regular(&file, MAX_BYTES) else { continue };
                let left = room.checked_sub(text.len());
                room = left.ok_or_else(|| format!("sources of more than {MAX_BYTES} bytes are too long"))?;
                finder.by_hash.insert(keccak256(&text), text);
            }
        }
        if let Some(hash) = artifact.get("solcInputHash").and_then(Value::as_str) {
            finder.read_input(file, hash);
        }
        // A project is not the root of a disk, nor a folder directly below it.
        let parents = file.ancestors().skip(1).take(MAX_PARENTS).filter_map(|parent| parent.canonicalize().ok());
        finder.roots.extend(parents.filter(|parent| parent.components().count() > 2));
        Ok(finder)
    }

    /// The sources of `solcInputs/{hash}.json`, as far as they can be read.
    fn read_input(&mut self, file: &Path, hash: &str) {
        let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let input = file.with_file_name("solcInputs").join(format!("{hash}.json"));
        let Some(text) = is_hash.then(|| read_regular(&input, 4 * MAX_BYTES)).flatten() else { return };
        let Ok(input) = serde_json::from_str::<Value>(&text) else { return };
        for source in input["sources"].as_object().into_iter().flat_map(Map::values) {
            if let Some(text) = source["content"].as_str() {
                self.by_hash.insert(keccak256(text), text.to_owned());
            }
        }
    }

    /// The text at a path with a hash; `None` if no file has it.
    pub fn find(&mut self, path: &str, hash: &B256) -> Option<String> {
        if let Some(text) = self.by_hash.get(hash) {
            return Some(text.clone());
        }
        let path = Path::new(path);
        // Paths of other machines, and those that lead out of the project, are not followed.
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let files = self.roots.iter().flat_map(|root| {
            // A folder on the way may be a link that leads elsewhere; package managers link within a project.
            let is_inside = move |file: &PathBuf| file.canonicalize().is_ok_and(|file| file.starts_with(root));
            [root.join(path), root.join("node_modules").join(path)].into_iter().filter(is_inside)
        });
        files.filter_map(|file| read_regular(&file, MAX_BYTES)).find(|text| keccak256(text) == *hash)
    }
}

/// The text of a file, unless it is a link, a device or a pipe, or has more bytes.
pub(super) fn read_regular(file: &Path, most: usize) -> Option<String> {
    let facts = fs::symlink_metadata(file).ok()?;
    let fits = facts.is_file() && facts.len() <= most as u64;
    let mut text = String::new();
    let file = fits.then(|| fs::File::open(file).ok()).flatten()?;
    // It may have grown since.
    let read = file.take(most as u64 + 1).read_to_string(&mut text).ok()?;
    (read <= most).then_some(text)
}

/// The files below a folder; none if it cannot be read, or is a link.
fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    if !fs::symlink_metadata(folder).is_ok_and(|facts| facts.is_dir()) {
        return Ok(());
    }
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            list(&entry.path(), depth - 1, files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
        if files.len() > MAX_FILES {
            return Err(format!("more than {MAX_FILES} source files are too many"));
        }
    }
    Ok(())
}
