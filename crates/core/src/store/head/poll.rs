//! Whether there is something new in the database, found with as few reads as possible.

use crate::schema::columns::columns;
use crate::schema::{HeadRow, OptionalTable, OptionalTables};
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PollScope {
    /// Blocks, and what else is loaded: labels, tokens, configurations.
    All,
    /// Blocks: what else is loaded is taken from the look before, if that found any block.
    Blocks,
    /// The number of commits, and blocks if the number is another one: the database reports all other writes.
    Commits,
}

columns! {
    /// One table of `sql/queries/commit_summary.sql`.
    pub struct SummaryRow / SummaryView {
        source: String,
        rows: u64,
        value: Option<u64>,
        names: String,
    }
}

/// Counts of rows, which show whether anything was added, and the optional tables that do not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    pub commits: u64,
    pub chain_id: Option<u64>,
    pub sequence: Option<u64>,
    pub configurations: u64,
    pub label_loads: u64,
    pub tokens: u64,
    pub token_steps: u64,
    /// Optional tables that exist.
    pub tables: OptionalTables,
}

impl Summary {
    fn of(rows: Vec<SummaryRow>) -> Self {
        let mut summary = Self::default();
        for row in rows {
            match row.source.as_str() {
                "ingest_commits" => (summary.commits, summary.chain_id) = (row.rows, row.value),
                "ingest_heads" => summary.sequence = row.value,
                "chain_configurations" => summary.configurations = row.rows,
                "label_loads" => summary.label_loads = row.rows,
                "tokens" => summary.tokens = row.rows,
                "token_steps" => summary.token_steps = row.rows,
                "left_out_tables" => {
                    let is_there = |table: &OptionalTable| row.names.split(',').all(|name| name != table.name());
                    summary.tables = OptionalTable::ALL.into_iter().filter(is_there).collect();
                }
                _ => {}
            }
        }
        summary
    }
}

columns! {
    pub struct CommitCountRow / CommitCountView {
        commits: u64,
    }
}

/// What a look found.
#[derive(Debug, Default)]
pub(crate) struct HeadSummary {
    pub summary: Option<Summary>,
    /// The number of commits after all else was read.
    pub count: u64,
    pub newest: Option<HeadRow>,
}

/// What the look before found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreviousHead<'a> {
    pub summary: Option<&'a Summary>,
    /// The number of the newest head, or 0.
    pub sequence: u64,
    /// Whether what was made of it is good for as long as the same is found again.
    pub is_good: bool,
}

/// What is there now, or nothing if it is what was there before and what was made of that is good.
pub(crate) async fn poll(
    reader: &Reader,
    before: Option<PreviousHead<'_>>,
    look: PollScope,
) -> Result<Option<HeadSummary>, StoreError> {
    let is_known =
        |summary: &Option<Summary>| before.is_some_and(|before| before.is_good && before.summary == summary.as_ref());
    let known = before.and_then(|before| before.summary);
    let known = known.filter(|known| look != PollScope::All && known.chain_id.is_some());
    let mut summary = match known {
        Some(known) if look == PollScope::Commits => {
            Some(Summary { commits: commit_count(reader).await?, ..known.clone() })
        }
        Some(_) => None,
        None => Some(all(reader).await?),
    };
    if is_known(&summary) {
        return Ok(None);
    }
    // The newest blocks first: blocks that leave them meanwhile are committed, and the second read finds them.
    let since = before.map_or(0, |before| before.sequence);
    let mut newest = newest_head(reader, since).await?;
    if newest.is_none() && since > 0 {
        // They were removed, and numbers begin anew.
        newest = newest_head(reader, 0).await?;
    }
    // Counted after the newest head was read: blocks may have left it for a commit in the meantime.
    let count = commit_count(reader).await?;
    if let Some(known) = known {
        let sequence = newest.as_ref().map(|head| head.sequence);
        summary = Some(Summary { commits: count, sequence, ..known.clone() });
        if is_known(&summary) {
            return Ok(None);
        }
    }
    Ok(Some(HeadSummary { summary, count, newest }))
}

async fn all(reader: &Reader) -> Result<Summary, StoreError> {
    let sql = include_str!("../../../../../sql/queries/commit_summary.sql");
    Ok(Summary::of(reader.rows(&Statement::<SummaryRow>::page(sql)).await?))
}

/// The newest head, if its number is at least `since`.
async fn newest_head(reader: &Reader, since: u64) -> Result<Option<HeadRow>, StoreError> {
    let sql = include_str!("../../../../../sql/queries/newest_head.sql");
    Ok(reader.rows(&Statement::<HeadRow>::page(sql).with("since", since)).await?.pop())
}

async fn commit_count(reader: &Reader) -> Result<u64, StoreError> {
    let statement = Statement::<CommitCountRow>::page("SELECT count() AS commits FROM ingest_commits");
    Ok(reader.rows(&statement).await?.pop().map_or(0, |row| row.commits))
}
