//! Folders of artifacts: selects the files to read, and parses their paths.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use trawl_core::primitives::Address;

use super::error::LabelsError;
use super::record;
use crate::source::files::reader;

/// Folders that tools write and that have no artifacts.
const PASSED_OVER: [&str; 5] = ["node_modules", "build-info", "solcInputs", "cache", "dry-run"];
/// Deepest folder below the one that is named.
const MAX_DEPTH: usize = 16;

/// The text of a file, unpacked if it is gzipped.
pub(super) fn text(file: &Path) -> Result<String, LabelsError> {
    let error = |source| LabelsError::File { file: file.into(), source };
    let mut text = String::new();
    reader(file).map_err(error)?.read_to_string(&mut text).map_err(error)?;
    Ok(text)
}

/// A file of a folder, and what its path states about it.
pub(super) struct Artifact {
    pub file: PathBuf,
    /// The contract it describes.
    pub address: Option<Address>,
    pub chain_id: Option<u64>,
}

/// The files of a folder and of those in it that may be read, in the order of their names.
pub(super) fn artifacts(folder: &Path) -> Result<Vec<Artifact>, LabelsError> {
    let mut files = Vec::new();
    walk(folder, MAX_DEPTH, &mut files)?;
    let artifact = |file: PathBuf| {
        let (address, chain_id) = stated_by_path(&file);
        Artifact { file, address, chain_id }
    };
    Ok(files.into_iter().map(artifact).collect())
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), LabelsError> {
    let error = |source| LabelsError::File { file: folder.into(), source };
    let mut entries = fs::read_dir(folder).map_err(error)?.collect::<Result<Vec<_>, _>>().map_err(error)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let is_of_contract = name_is_address(folder).is_some();
    for entry in entries {
        // A link could lead out of the folder, or round in a circle.
        let kind = entry.file_type().map_err(error)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || PASSED_OVER.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() && depth > 0 && !is_of_contract {
            walk(&entry.path(), depth - 1, files)?;
        }
        // Beside the metadata of a contract lie its sources, which may be JSON too.
        let is_label_file = if is_of_contract { name == "metadata.json" } else { is_read(&name) };
        if kind.is_file() && is_label_file {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn is_read(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.trim_end_matches(".gz");
    // Of a project's own description nothing is expected.
    !["package.json", "package-lock.json", "tsconfig.json"].contains(&name)
        && [".json", ".jsonl", ".ndjson", ".csv"].iter().any(|ending| name.ends_with(ending))
        && !name.ends_with(".dbg.json")
}

fn name_is_address(path: &Path) -> Option<Address> {
    record::address(&path.file_name()?.to_string_lossy()).ok()
}

/// `…/<chain id>/<address>/metadata.json`, `…/<address>.json`, the records of deployments below a folder that is named
/// like a chain, and a folder with a file `.chainId`.
fn stated_by_path(file: &Path) -> (Option<Address>, Option<u64>) {
    let number = |path: &Path| path.file_name()?.to_string_lossy().trim_start_matches("chain-").parse::<u64>().ok();
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let address = record::address(&stem).ok();
    let Some(parent) = file.parent() else { return (address, None) };
    if let Some(address) = name_is_address(parent) {
        return (Some(address), parent.parent().and_then(number));
    }
    if stem.starts_with("run-") || stem == "deployed_addresses" {
        return (None, number(parent));
    }
    (address, fs::read_to_string(parent.join(".chainId")).ok().and_then(|text| text.trim().parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_state_what_a_file_is_of() {
        let stated = |path: &str| stated_by_path(Path::new(path));
        let address = Address::repeat_byte(0x11);
        let text = "0x1111111111111111111111111111111111111111";
        assert_eq!(stated(&format!("contracts/full_match/5/{text}/metadata.json")), (Some(address), Some(5)));
        assert_eq!(stated(&format!("abis/2024/{text}.json")), (Some(address), None));
        assert_eq!(stated("broadcast/Deploy.s.sol/31337/run-latest.json"), (None, Some(31337)));
        assert_eq!(stated("ignition/deployments/chain-31337/deployed_addresses.json"), (None, Some(31337)));
        assert_eq!(stated("labels/2024/exchanges.csv"), (None, None));
    }
}
