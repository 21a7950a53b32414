//! `trawl-ingest migrate --plan`.

use std::fmt::Write as _;

use bytesize::ByteSize;
use trawl_core::store::{ClusterLayout, MigrationPlan, PlanReason, PlanRoom, PlanTarget, PlannedStatement};

use super::text::nodes;

/// What is said of a database to which nothing is to be done.
pub const UP_TO_DATE: &str = "up to date";

/// What is to be done to a database.
pub struct ChangeList {
    /// The statements, and the room for them.
    pub plan: MigrationPlan,
    /// How many of the signatures bundled with Trawl are missing.
    pub signatures: u64,
}

impl ChangeList {
    /// How many changes these are; the signatures are one.
    pub fn count(&self) -> u64 {
        self.plan.statements.len() as u64 + u64::from(self.signatures > 0)
    }
}

/// What is pending, for people: a line for each statement, below what it is for.
pub fn plan_text(pending: &ChangeList, database: &str, layout: Option<&ClusterLayout>) -> String {
    if pending.count() == 0 {
        return format!("{UP_TO_DATE}\n");
    }
    let mut text = String::new();
    for group in pending.plan.statements.chunk_by(|one, next| one.reason == next.reason) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", reason(group[0].reason, database));
        for statement in group {
            let _ = writeln!(text, "  {}", line(statement, database, layout));
        }
    }
    if pending.signatures > 0 {
        let _ = writeln!(text, "signatures bundled with Trawl\n  {} rows", pending.signatures);
    }
    let _ = writeln!(text, "{}", summary(pending));
    text
}

fn reason(reason: PlanReason, database: &str) -> String {
    match reason {
        PlanReason::NewDatabase => format!("new database `{database}`"),
        PlanReason::Migration(name) => format!("migration {name}"),
        PlanReason::HotTables => "tables of the newest blocks: `follow` fetches these again".into(),
        PlanReason::Without(table) => format!("without {table}"),
        PlanReason::With(table) => format!("with {table}"),
        PlanReason::Comments => "different comments".into(),
        PlanReason::Settings => "different table settings".into(),
        PlanReason::Views => "views, functions and the dictionary that are missing or different".into(),
    }
}

/// The beginning of a statement, where it runs on a cluster, and what it writes again.
fn line(statement: &PlannedStatement, database: &str, layout: Option<&ClusterLayout>) -> String {
    let mut line = match (&statement.target, layout) {
        (_, None) => String::new(),
        (PlanTarget::Nodes(on), Some(_)) => format!("on {}: ", nodes(*on, database)),
        (PlanTarget::Server { url, database }, Some(_)) => format!("on {url}, in {database}: "),
    };
    line.push_str(&beginning(&statement.sql));
    if let Some(work) = &statement.work {
        let (bytes, room) = (ByteSize(work.bytes), ByteSize(work.room_bytes));
        let _ = write!(line, ": {} rows of {}, {bytes}; needs up to {room}", work.rows, work.table);
    }
    // On a cluster the engine says whether the rows are there, and whether they replicate.
    if let Some(engine) = layout.and_then(|_| statement.sql.lines().find(|line| line.starts_with("ENGINE = "))) {
        let _ = write!(line, " {engine}");
    }
    line
}

/// Most characters of a statement that are shown.
const SHOWN: usize = 160;

/// The first line of a statement, and that it goes on.
fn beginning(sql: &str) -> String {
    let mut lines = sql.lines().filter(|line| !line.starts_with("--"));
    let first = lines.next().unwrap_or_default();
    let shown: String = first.chars().take(SHOWN).collect();
    let goes_on = shown.len() < first.len() || lines.next().is_some();
    format!("{}{}", shown.trim_end_matches(';'), if goes_on { " …" } else { "" })
}

/// The last line: how much is written again, and whether there is room.
fn summary(pending: &ChangeList) -> String {
    let work = || pending.plan.statements.iter().filter_map(|statement| statement.work.as_ref());
    let count = pending.count();
    let pending_changes = format!("{count} {}", if count == 1 { "change is pending" } else { "changes are pending" });
    if work().next().is_none() {
        return format!("{pending_changes}; none writes rows again");
    }
    let (rows, bytes) = work().fold((0, 0), |sum, work| (sum.0 + work.rows, sum.1 + work.bytes));
    let again = format!("{pending_changes}; {rows} rows, {} are read and written again", ByteSize(bytes));
    match &pending.plan.room {
        None => format!("{again}; the account may not see how much is free"),
        Some(room) => format!("{again}; {}", room_text(room)),
    }
}

fn room_text(room: &PlanRoom) -> String {
    let (needed, free) = (ByteSize(room.needed_bytes), ByteSize(room.disk.free_bytes));
    let disk =
        format!("up to {needed} are needed and {free} are free on the disk `{}` of {}", room.disk.name, room.url);
    if room.is_enough() { disk } else { format!("{disk}: THERE MAY BE TOO LITTLE ROOM") }
}

#[cfg(test)]
mod tests {
    use trawl_core::schema::OptionalTable;
    use trawl_core::store::{DiskRoom, StatementNodes, TableWork};

    use super::*;

    #[test]
    fn too_little_room_is_said() {
        let work = TableWork { table: "logs_by_block".into(), rows: 7, bytes: 2048, room_bytes: 6144 };
        let statement = PlannedStatement {
            reason: PlanReason::With(OptionalTable::LogsByTopic),
            target: PlanTarget::Nodes(StatementNodes::First),
            sql: "-- what it does\nfill logs_by_topic\nfrom logs_by_block".into(),
            work: Some(work),
        };
        let disk = DiskRoom { name: "default".into(), free_bytes: 1024, total_bytes: 9000 };
        let room = PlanRoom { url: "http://a".into(), disk, needed_bytes: 6144 };
        let plan = MigrationPlan { statements: vec![statement], room: Some(room) };
        let text = plan_text(&ChangeList { plan, signatures: 0 }, "trawl", None);
        let expected = "with logs_by_topic\n  fill logs_by_topic …: 7 rows of logs_by_block, 2.0 KiB; \
                        needs up to 6.0 KiB\n\
                        1 change is pending; 7 rows, 2.0 KiB are read and written again; up to 6.0 KiB are needed \
                        and 1.0 KiB are free on the disk `default` of http://a: THERE MAY BE TOO LITTLE ROOM\n";
        assert_eq!(text, expected);
    }
}
