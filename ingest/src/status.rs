//! What is in the database: ranges, gaps and what they lack, for a person or a script.

use std::collections::BTreeMap;

use serde::Serialize;
use trawl::primitives::{BlockRange, Coverage};
use trawl::schema::migrations::current_version;
use trawl::store::{Head, LackingColumn, VerdictCount};

/// The state of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Version of the schema.
    pub schema_version: u32,
    /// The chain, if a source has told it.
    pub chain_id: Option<u64>,
    /// Highest committed block.
    pub head: Option<u64>,
    /// How many blocks are committed.
    pub blocks: u64,
    /// Committed ranges, both ends inclusive, ascending.
    pub ranges: Vec<(u64, u64)>,
    /// What is missing between genesis and the head.
    pub gaps: Vec<(u64, u64)>,
    /// Committed ranges whose receipts and logs are missing.
    pub without_receipts: Vec<(u64, u64)>,
    /// Committed ranges whose withdrawals are missing.
    pub without_withdrawals: Vec<(u64, u64)>,
    /// Committed ranges the headers of whose uncles are missing.
    pub without_uncles: Vec<(u64, u64)>,
    /// How many blocks have which verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Columns that some rows lack because their source did not have them.
    pub lacking: Vec<Lacking>,
}

/// A column that some rows lack: what needs it is not answered for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// Its table and name.
    pub column: String,
    /// Lowest block of such a row.
    pub first_block: u64,
    /// Highest block of such a row.
    pub last_block: u64,
    /// How many rows.
    pub rows: u64,
}

impl From<LackingColumn> for Lacking {
    fn from(column: LackingColumn) -> Self {
        let LackingColumn { column, first_block, last_block, rows } = column;
        Self { column, first_block, last_block, rows }
    }
}

impl Status {
    /// Reads it off a head and what the tables say to be lacking.
    #[must_use]
    pub fn new(head: &Head, lacking: Vec<LackingColumn>, verdicts: Vec<VerdictCount>) -> Self {
        let all = head.number().and_then(|number| BlockRange::new(0, number));
        let without = |part: &Coverage| {
            let bare = head.blocks.ranges().iter().flat_map(|range| part.missing(*range));
            pairs(bare.collect::<Coverage>().ranges())
        };
        Self {
            schema_version: current_version(),
            chain_id: head.chain_id,
            head: head.number(),
            blocks: head.blocks.ranges().iter().map(|range| range.count()).sum(),
            ranges: pairs(head.blocks.ranges()),
            gaps: all.map_or_else(Vec::new, |all| pairs(&head.blocks.missing(all))),
            without_receipts: without(&head.receipts),
            without_withdrawals: without(&head.withdrawals),
            without_uncles: without(&head.uncles),
            verdicts: verdicts.into_iter().map(|count| (count.verdict, count.blocks)).collect(),
            lacking: lacking.into_iter().map(Into::into).collect(),
        }
    }

    /// For a person; long lists are cut.
    #[must_use]
    pub fn text(&self) -> String {
        let number = |number: Option<u64>| number.map_or_else(|| "unknown".into(), |number| number.to_string());
        let lines = [
            ("schema version", self.schema_version.to_string()),
            ("chain id", number(self.chain_id)),
            ("head", number(self.head)),
            ("blocks", self.blocks.to_string()),
            ("ranges", list(&self.ranges)),
            ("gaps", list(&self.gaps)),
            ("without receipts", list(&self.without_receipts)),
            ("without withdrawals", list(&self.without_withdrawals)),
            ("without uncles", list(&self.without_uncles)),
            ("verdicts", counts(&self.verdicts)),
            ("lacking", if self.lacking.is_empty() { "none".into() } else { String::new() }),
        ];
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<17} {value}\n")).collect();
        for Lacking { column, first_block, last_block, rows } in &self.lacking {
            text.push_str(&format!("  {column}: {rows} rows of blocks {first_block}-{last_block}\n"));
        }
        text
    }
}

fn counts(verdicts: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = verdicts.iter().map(|(verdict, blocks)| format!("{blocks} {verdict}")).collect();
    if counts.is_empty() { "none".into() } else { counts.join(", ") }
}

fn pairs(ranges: &[BlockRange]) -> Vec<(u64, u64)> {
    ranges.iter().map(|range| (range.first(), range.last())).collect()
}

/// How many ranges a person gets to see.
const SHOWN: usize = 20;

fn list(ranges: &[(u64, u64)]) -> String {
    if ranges.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> = ranges
        .iter()
        .take(SHOWN)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let rest = ranges.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
