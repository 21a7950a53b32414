//! What is in the database: ranges, gaps and what they lack, for a person or a script.

use std::collections::BTreeMap;

use serde::Serialize;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::schema::migrations::current_version;
use trawl_core::store::{Damage, DamagedTable, Head, LackingColumn, TokenProgress, VerdictCount};

use crate::block::range_list::{list, pairs};

mod following;
mod state_gaps;

pub use following::FollowStatus;
use state_gaps::StateGap;

/// The state of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Version of the schema.
    pub schema_version: u32,
    /// The chain, if a source has named it.
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
    /// Committed ranges whose call frames are missing.
    pub without_traces: Vec<(u64, u64)>,
    /// Committed ranges the rewards of which are missing, as tracers report them.
    pub without_rewards: Vec<(u64, u64)>,
    /// The block up to which the API answers state: the changes of all from 0 on are there.
    pub state: Option<u64>,
    /// Why it is not answered up to the head: at most a reason of block 0, and one of the lowest block above it.
    pub state_gaps: Vec<StateGap>,
    /// Committed ranges whose changes of state are missing: state from there on is not answered.
    pub without_state: Vec<(u64, u64)>,
    /// Committed ranges of which only what the system itself changed is missing: state from there on is answered where
    /// no contract of the system had code.
    pub without_system_state: Vec<(u64, u64)>,
    /// The block up to which the holders and the supply of tokens are counted.
    pub token_statistics: Option<u64>,
    /// The newest head of `trawl-ingest follow`.
    pub following: Option<FollowStatus>,
    /// Columns that some rows lack because their source did not have them.
    pub lacking: Vec<IncompleteColumn>,
    /// Tables that have fewer rows than were committed, or of which ClickHouse set a part aside.
    pub damaged: Vec<TableDamage>,
}

/// A table that lost rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableDamage {
    /// Name of the table without its database.
    pub table: String,
    /// The committed ranges that miss rows; empty for a table that is not of blocks.
    pub blocks: Vec<(u64, u64)>,
    /// How many rows; `None` if that is not known.
    pub rows: Option<u64>,
}

fn damaged(damage: Damage) -> Vec<TableDamage> {
    let of_blocks = damage.tables.into_iter().map(|DamagedTable { table, blocks, rows }| TableDamage {
        table,
        blocks: pairs(blocks.ranges()),
        rows: Some(rows),
    });
    let others = damage.others.into_iter().map(|table| TableDamage { table, blocks: Vec::new(), rows: None });
    let withdrawn = (!damage.withdrawn.is_empty()).then(|| TableDamage {
        table: "ingest_commits".into(),
        blocks: pairs(damage.withdrawn.ranges()),
        rows: None,
    });
    of_blocks.chain(others).chain(withdrawn).collect()
}

/// A column that some rows lack: what needs it is not answered for them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IncompleteColumn {
    /// Its table and name.
    pub column: String,
    /// Lowest block of such a row.
    pub first_block: u64,
    /// Highest block of such a row.
    pub last_block: u64,
    /// How many rows.
    pub rows: u64,
}

impl From<LackingColumn> for IncompleteColumn {
    fn from(column: LackingColumn) -> Self {
        let LackingColumn { column, first_block, last_block, rows } = column;
        Self { column, first_block, last_block, rows }
    }
}

impl Status {
    /// Puts it together from a head and the parts that the tables lack.
    #[must_use]
    pub fn new(
        head: &Head,
        following: Option<FollowStatus>,
        tokens: TokenProgress,
        lacking: Vec<LackingColumn>,
        verdicts: Vec<VerdictCount>,
        damage: Damage,
    ) -> Self {
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
            without_traces: without(&head.traces),
            without_rewards: without(&head.rewards),
            state: all.and_then(|all| match head.known_state.missing(all).first() {
                Some(missing) => missing.first().checked_sub(1),
                None => head.number(),
            }),
            state_gaps: StateGap::all(head),
            without_state: without(&head.known_state),
            without_system_state: pairs(
                &head.known_state.ranges().iter().flat_map(|range| head.state.missing(*range)).collect::<Vec<_>>(),
            ),
            token_statistics: tokens.reach,
            following,
            lacking: lacking.into_iter().map(Into::into).collect(),
            damaged: damaged(damage),
        }
    }

    /// Up to which block state is answered, and why not further.
    fn state_text(&self) -> String {
        let reach = self.state.map_or_else(|| "none".into(), |block| format!("up to block {block}"));
        let reasons: Vec<String> = self.state_gaps.iter().map(|gap| gap.text()).collect();
        if reasons.is_empty() { reach } else { format!("{reach}: {}", reasons.join("; ")) }
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
            ("without traces", list(&self.without_traces)),
            ("without rewards", list(&self.without_rewards)),
            ("without state", list(&self.without_state)),
            ("without system", list(&self.without_system_state)),
            ("state", self.state_text()),
            ("token statistics", self.token_statistics.map_or_else(|| "none".into(), |reach| format!("up to {reach}"))),
            ("following", self.following.as_ref().map_or_else(|| "no".into(), FollowStatus::text)),
            ("damaged", if self.damaged.is_empty() { "no".into() } else { "run `trawl-ingest repair`".into() }),
            ("lacking", if self.lacking.is_empty() { "none".into() } else { String::new() }),
        ];
        let mut text: String = lines.iter().map(|(name, value)| format!("{name:<17} {value}\n")).collect();
        for problem in self.following.iter().flat_map(|following| &following.problems) {
            text.push_str(&format!("  {problem}\n"));
        }
        for TableDamage { table, blocks, rows } in &self.damaged {
            let rows = rows.map_or_else(|| "some".into(), |rows| rows.to_string());
            text.push_str(&format!("  lost by `{table}`: {rows} rows, of blocks {}\n", list(blocks)));
        }
        for IncompleteColumn { column, first_block, last_block, rows } in &self.lacking {
            text.push_str(&format!("  {column}: {rows} rows of blocks {first_block}-{last_block}\n"));
        }
        text
    }
}

fn counts(verdicts: &BTreeMap<String, u64>) -> String {
    let counts: Vec<String> = verdicts.iter().map(|(verdict, blocks)| format!("{blocks} {verdict}")).collect();
    if counts.is_empty() { "none".into() } else { counts.join(", ") }
}
