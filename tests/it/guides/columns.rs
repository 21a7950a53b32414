//! The page of columns: every view and table with the comments that `sql/` gives them, and a diagram of what joins
//! what.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::Context as _;

use crate::env;

const HEAD: &str = "# Columns

Made by `cargo xtask docs` from [sql](../../sql): what `DESCRIBE TABLE` says of every view and table. How to read them: [views](views.md), [tables](sql.md), [orders and who
reads them](schema.md). Each main table of blocks has a hot one, `hot_<table>`, with the same columns and a `generation` in front.

";

/// A view or a table.
struct Relation {
    comment: String,
    order: String,
    /// Name, type, comment.
    columns: Vec<[String; 3]>,
}

/// What has these columns is part of a row of that view; the closest first: a transfer is of a log, which is of a
/// transaction.
const OF_CHAIN: [(&[&str], &str); 3] = [
    (&["block_number", "log_index"], "v_logs"),
    (&["block_number", "transaction_index"], "v_transactions"),
    (&["block_number"], "v_blocks"),
];
const OF_TOKEN: [(&[&str], &str); 1] = [(&["token_address"], "v_tokens")];

/// The views of the diagram; those of events are as `v_erc20_transfers`.
const DRAWN: [&str; 11] = [
    "v_blocks",
    "v_transactions",
    "v_logs",
    "v_token_transfers",
    "v_internal_transactions",
    "v_withdrawals",
    "v_contracts",
    "v_tokens",
    "v_balances",
    "v_token_holders",
    "v_erc20_transfers",
];

/// Markdown of docs/reference/columns.md.
pub fn page() -> anyhow::Result<String> {
    let relations = relations()?;
    let mut page = format!("{HEAD}{}", diagram(&relations)?);
    let is_view = |name: &str| name.starts_with("v_");
    for (title, is_view_list) in [("Views", true), ("Tables", false)] {
        write!(page, "## {title}\n\n")?;
        for (name, relation) in relations.iter().filter(|(name, _)| is_view(name) == is_view_list) {
            write!(page, "### {name}\n\n{}.", relation.comment)?;
            if !relation.order.is_empty() {
                write!(page, " Ordered by `{}`.", relation.order)?;
            }
            page.push_str("\n\n| column | type | what |\n|---|---|---|\n");
            for [column, ty, comment] in &relation.columns {
                writeln!(page, "| `{column}` | `{ty}` | {} |", comment.replace('|', "\\|"))?;
            }
            page.push('\n');
        }
    }
    Ok(page.trim_end().to_owned() + "\n")
}

/// What the database says of itself.
fn relations() -> anyhow::Result<BTreeMap<String, Relation>> {
    let database = &env::migrate("columns_page")?;
    env::run(env::ingest(database, &["migrate", "--with", "logs_by_topic"]), 0)?;
    let shown = format!("database = '{database}' AND NOT startsWith(TABLE, 'hot_') AND TABLE != 'token_facts'");
    let tables = format!(
        "SELECT name, comment, sorting_key FROM system.tables WHERE {} FORMAT TSVRaw",
        shown.replace("TABLE", "name")
    );
    let mut relations = BTreeMap::new();
    for line in env::sql(database, &tables)?.lines() {
        let mut parts = line.split('\t').map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let name = next();
        relations.insert(name, Relation { comment: next(), order: next(), columns: Vec::new() });
    }
    let columns = format!(
        "SELECT table, name, type, comment FROM system.columns WHERE {} ORDER BY table, position FORMAT TSVRaw",
        shown.replace("TABLE", "table")
    );
    for line in env::sql(database, &columns)?.lines() {
        let [table, column, ty, comment]: [String; 4] =
            line.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().ok().context("four values")?;
        relations.get_mut(&table).context("a table")?.columns.push([column, ty, comment]);
    }
    Ok(relations)
}

/// Views and how they join, for GitHub to draw.
fn diagram(relations: &BTreeMap<String, Relation>) -> anyhow::Result<String> {
    let mut text = "## What joins what\n\n```mermaid\nerDiagram\n".to_owned();
    for many in DRAWN {
        let columns: BTreeSet<&str> =
            relations.get(many).context(many)?.columns.iter().map(|[name, ..]| name.as_str()).collect();
        let joins = |(keys, one): &&(&[&str], &str)| *one != many && keys.iter().all(|key| columns.contains(key));
        for (keys, one) in OF_CHAIN.iter().find(joins).into_iter().chain(OF_TOKEN.iter().find(joins)) {
            writeln!(text, "    {one} ||--o{{ {many} : \"{}\"", keys.join(", "))?;
        }
    }
    text.push_str("```\n\n");
    Ok(text)
}
