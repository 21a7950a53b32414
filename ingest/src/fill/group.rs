//! Which commits lack parts, in groups that are filled in together.

use std::collections::BTreeMap;

use trawl_core::primitives::BlockRange;
use trawl_core::schema::CommitRow;
use trawl_core::store::{Reader, StoreError};

use super::part::FillParts;
use crate::write::retry::retry_transient;

/// Commits that follow one another are filled in together up to so many blocks.
const MAX_BLOCKS: u64 = 2_000;

/// Commits of adjoining blocks that have and lack the same parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Heights of all commits, without gaps.
    pub range: BlockRange,
    /// The commits, ascending.
    pub commits: Vec<CommitRow>,
    /// What they lack.
    pub missing: FillParts,
}

/// The groups of all commits that lack some of `parts`, ascending.
pub(super) async fn groups(reader: &Reader, parts: FillParts) -> Result<Vec<Group>, StoreError> {
    let mut commits: BTreeMap<(u64, u64, String), CommitRow> = BTreeMap::new();
    for part in parts.iter() {
        for commit in retry_transient(|| reader.commits_without(part.name())).await? {
            commits.insert((commit.first_block, commit.last_block, commit.run.clone()), commit);
        }
    }
    Ok(grouped(commits.into_values(), parts))
}

fn grouped(commits: impl Iterator<Item = CommitRow>, parts: FillParts) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for commit in commits {
        let Some(range) = BlockRange::new(commit.first_block, commit.last_block) else { continue };
        let goes_on = |group: &&mut Group| {
            group.range.last() + 1 == range.first()
                && group.range.count() + range.count() <= MAX_BLOCKS
                && group.commits[0].parts == commit.parts
        };
        match groups.last_mut().filter(goes_on) {
            Some(group) => {
                group.range = BlockRange::new(group.range.first(), range.last()).unwrap_or(group.range);
                group.commits.push(commit);
            }
            None => {
                let missing = parts.not_in(&commit.parts);
                groups.push(Group { range, missing, commits: vec![commit] });
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use trawl_core::primitives::{B256, Timestamp};

    use super::super::part::FillPart;
    use super::*;

    fn commit(first_block: u64, last_block: u64, parts: &[&str]) -> CommitRow {
        CommitRow {
            first_block,
            last_block,
            parts: parts.iter().map(|part| (*part).to_owned()).collect(),
            chain_id: Some(1),
            first_parent_hash: B256::ZERO,
            last_hash: B256::ZERO,
            transactions: 0,
            logs: 0,
            rows: Vec::new(),
            source: "rpc".into(),
            run: "run".into(),
            committed_at: Timestamp::from_micros(0),
            last_total_difficulty: None,
            replaced: Vec::new(),
        }
    }

    #[test]
    fn commits_that_go_on_are_filled_in_together() {
        let both: FillParts = [FillPart::Traces, FillPart::State].into_iter().collect();
        let commits = [
            commit(0, 9, &["blocks"]),
            commit(10, 19, &["blocks"]),
            commit(20, 29, &["blocks", "traces"]),
            commit(40, 2_500, &["blocks", "traces"]),
            commit(2_501, 2_600, &["blocks", "traces"]),
        ];
        let found = grouped(commits.into_iter(), both);
        let ranges: Vec<_> = found.iter().map(|group| (group.range.first(), group.range.last())).collect();
        assert_eq!(ranges, [(0, 19), (20, 29), (40, 2_500), (2_501, 2_600)]);
        assert_eq!((found[0].missing, found[0].commits.len()), (both, 2));
        assert_eq!(found[1].missing, [FillPart::State].into_iter().collect());
    }
}
