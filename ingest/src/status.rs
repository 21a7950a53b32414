//! What is in the database: ranges, gaps and what they lack, for a person or a script.

use serde::Serialize;
use trawl::primitives::{BlockRange, Coverage};
use trawl::schema::migrations::current_version;
use trawl::store::Head;

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
}

impl Status {
    /// Reads it off a head.
    #[must_use]
    pub fn new(head: &Head) -> Self {
        let all = head.number().and_then(|number| BlockRange::new(0, number));
        let bare = head.blocks.ranges().iter().flat_map(|range| head.receipts.missing(*range));
        Self {
            schema_version: current_version(),
            chain_id: head.chain_id,
            head: head.number(),
            blocks: head.blocks.ranges().iter().map(|range| range.count()).sum(),
            ranges: pairs(head.blocks.ranges()),
            gaps: all.map_or_else(Vec::new, |all| pairs(&head.blocks.missing(all))),
            without_receipts: pairs(bare.collect::<Coverage>().ranges()),
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
        ];
        lines.iter().map(|(name, value)| format!("{name:<17} {value}\n")).collect()
    }
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
