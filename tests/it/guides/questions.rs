//! The page of questions: each with its SQL and the first rows of its answer over the bundled mainnet blocks.
//!
//! `analysts.rs` holds the answers against those of the raw tables.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::{http, workspace};

use crate::chains::chain;
use crate::env;

/// Rows of an answer that the page shows.
const SHOWN: usize = 5;

const HEAD: &str = "# Questions of a first day

Made by `cargo xtask docs` from [sql/analysts/queries](../../sql/analysts/queries). Each answer was given to the reader over the bundled mainnet blocks, and a test compares all
its rows with those of other statements on the raw tables. Of each at most five rows are shown, long texts cut.

";

/// Markdown of docs/analysts/questions.md.
pub fn page() -> anyhow::Result<String> {
    let mut files = fs::read_dir(workspace::root().join("sql/analysts/queries"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    files.sort();
    let mut page = HEAD.to_owned();
    for path in files {
        let name = path.file_stem().context("a name")?.to_string_lossy().into_owned();
        let text = fs::read_to_string(&path)?;
        let (question, sql) = text.split_once('\n').context("a question")?;
        let question = question.trim_start_matches("-- ");
        let number = name.split('_').next().unwrap_or_default().trim_start_matches('0');
        write!(page, "## {number}. {}\n\n```\n{}\n```\n\n", question.trim_end_matches('.'), sql.trim_end())?;
        page.push_str(&table(sql).context(name)?);
    }
    Ok(page.trim_end().to_owned() + "\n")
}

/// The first rows of an answer as a table.
fn table(sql: &str) -> anyhow::Result<String> {
    let chain = chain("mainnet");
    let reader = env::reader();
    let url = format!(
        "{}/?database={}&default_format=JSONCompactStrings&user={}&password={}",
        env::store(),
        chain.name,
        reader.user,
        reader.password
    );
    let answer = http::post(&http::agent(), &url, sql.as_bytes())?;
    ensure!(answer.status == 200, "{}", answer.text());
    let answer = answer.json()?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let names: Vec<String> = list(&answer["meta"]).iter().map(|column| cell(&column["name"])).collect();
    let rows = list(&answer["data"]);
    let mut table = format!("| {} |\n|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for row in rows.iter().take(SHOWN) {
        let cells: Vec<String> = list(row).iter().map(cell).collect();
        writeln!(table, "| {} |", cells.join(" | "))?;
    }
    let more = match rows.len() {
        0 => "No row: the bundled blocks have none.\n\n".to_owned(),
        found if found == SHOWN + 1 => "One more row.\n\n".to_owned(),
        found if found > SHOWN => format!("{} more rows.\n\n", found - SHOWN),
        _ => String::new(),
    };
    Ok(format!("{table}\n{more}"))
}

/// A value that fits a cell of a table.
fn cell(value: &Value) -> String {
    let text = value.as_str().unwrap_or("NULL").replace('|', "\\|");
    if text.chars().count() <= 66 { text } else { text.chars().take(64).chain(['…']).collect() }
}
