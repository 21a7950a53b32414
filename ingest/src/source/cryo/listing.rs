//! Which files of a dataset a folder has, and which blocks they cover: `NETWORK__DATASET[__LABEL]__FIRST_to_LAST.EXT`.

use std::path::{Path, PathBuf};

use trawl_core::primitives::{BlockRange, Coverage};

use crate::source::columns::{self, Facts};
use crate::source::{SourceError, unreadable};

/// A file and the blocks that its name covers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DataFile {
    pub range: BlockRange,
    pub path: PathBuf,
}

/// The files of one dataset, ascending and disjoint.
pub(super) struct Listing {
    files: Vec<DataFile>,
    coverage: Coverage,
}

impl Listing {
    /// Reads the folder, not those below it.
    pub fn of(folder: &Path, dataset: &str) -> Result<Self, SourceError> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
            let path = entry.map_err(|error| unreadable(folder, &error))?.path();
            let range = path.file_name().and_then(|name| covered(name.to_str()?, dataset));
            files.extend(range.map(|range| DataFile { range, path }));
        }
        files.sort();
        for pair in files.windows(2) {
            if pair[0].range.last() >= pair[1].range.first() {
                let other = pair[1].path.file_name().unwrap_or_default().display().to_string();
                return Err(columns::malformed(&pair[0].path, format!("covers blocks that {other} covers too")));
            }
        }
        let coverage = files.iter().map(|file| file.range).collect();
        Ok(Self { files, coverage })
    }

    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The files that have any of `blocks`, ascending.
    pub fn files_for(&self, blocks: &Coverage) -> Vec<DataFile> {
        self.files.iter().filter(|file| !blocks.within(file.range).is_empty()).cloned().collect()
    }

    /// The chain the first row names.
    pub fn chain_id(&self) -> Result<Option<u64>, SourceError> {
        let Some(file) = self.files.first() else { return Ok(None) };
        let Some(chunk) = columns::open(&file.path)?.next().transpose()? else { return Ok(None) };
        let facts = Facts::of(chunk.row(0));
        let fact = facts.fact::<u64>(&["chain_id"]).map_err(|error| columns::malformed(&file.path, error))?;
        Ok(fact.value())
    }
}

/// The blocks a file of `dataset` covers; `None` for any other file.
fn covered(name: &str, dataset: &str) -> Option<BlockRange> {
    let (stem, extension) = name.rsplit_once('.')?;
    if !["parquet", "csv", "json"].contains(&extension) {
        return None;
    }
    let parts: Vec<&str> = stem.split("__").collect();
    let [_, named, .., range] = parts.as_slice() else { return None };
    let (first, last) = range.split_once("_to_").filter(|_| *named == dataset)?;
    BlockRange::new(first.parse().ok()?, last.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_dataset_and_range() {
        let range = BlockRange::new(5, 99);
        assert_eq!(covered("ethereum__blocks__00000005_to_00000099.parquet", "blocks"), range);
        assert_eq!(covered("network_10__blocks__label__00000005_to_00000099.csv", "blocks"), range);
        for other in [
            "ethereum__blocks__00000005_to_00000099.parquet.tmp",
            "ethereum__logs__00000005_to_00000099.parquet",
            "ethereum__blocks__00000099_to_00000005.parquet",
            "ethereum__blocks.parquet",
            "blocks__5_to_9.csv",
            "report.json",
        ] {
            assert_eq!(covered(other, "blocks"), None, "{other}");
        }
    }
}
