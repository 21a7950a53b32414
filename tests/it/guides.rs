//! What the guides for analysts show is what happens: each command, statement and cell runs as the reader over the
//! bundled mainnet blocks, and prints what the page says; figures are held against the node's own answers in the dump.
//!
//! The page of questions and that of columns are made from `sql/`, that of metrics from their list (`cargo xtask
//! docs`), and compared here.

use anyhow::{Context as _, ensure};
use xtask::workspace;

use crate::chains::{chain, dump};
use crate::clients::{python, succeeds};
use crate::env;

mod columns;
mod questions;

/// The folder of the guides.
const FOLDER: &str = "docs/analysts";
/// In the environment when pages are written instead of compared.
const WRITES: &str = "TRAWL_WRITE_PAGES";

/// Pages that are run.
const SHELL: &str = "curl.md";
const PYTHON: [&str; 4] = ["clickhouse-connect.md", "duckdb.md", "first-look.ipynb", "traps.md"];
/// Pages without code to run: the overview, the page of the files in `grafana`, and what is made.
const OTHERS: [&str; 3] = ["README.md", "grafana.md", "questions.md"];

/// Lets a script run some pages.
fn runs(script: &str, pages: &[&str]) -> anyhow::Result<()> {
    let chain = chain("mainnet");
    let reader = env::reader();
    let mut command = python();
    command.arg(workspace::root().join("tests/clients/guides").join(script));
    command.args([env::store(), &chain.api, reader.user, reader.password, chain.name, &dump(chain.name)]);
    command.args(pages.iter().map(|page| workspace::root().join(FOLDER).join(page)));
    succeeds(command)
}

/// Compares a page that is made, or writes it.
fn is_as_made(page: &str, made: &str) -> anyhow::Result<()> {
    let path = workspace::root().join(page);
    if std::env::var_os(WRITES).is_some() {
        return Ok(std::fs::write(path, made)?);
    }
    let found = std::fs::read_to_string(&path).with_context(|| page.to_owned())?;
    let differing = found.lines().zip(made.lines()).find(|(found, made)| found != made);
    ensure!(found == made, "{page} is not as it is made; run `cargo xtask docs`: {differing:?}");
    Ok(())
}

/// A page that no test runs would rot.
#[test]
fn every_page_is_run_or_made() -> anyhow::Result<()> {
    for entry in std::fs::read_dir(workspace::root().join(FOLDER))? {
        let path = entry?.path();
        let name = path.file_name().context("a name")?.to_string_lossy().into_owned();
        if OTHERS.contains(&&*name) {
            let text = std::fs::read_to_string(&path)?;
            let has_code = ["```sh", "```python", "```sql"].iter().any(|fence| text.contains(fence));
            ensure!(!has_code, "{FOLDER}/{name} has code that is not run");
        } else {
            ensure!(name == "grafana" || name == SHELL || PYTHON.contains(&&*name), "{FOLDER}/{name} is not run");
        }
    }
    Ok(())
}

tests! {
    curl: runs("check.py", &[SHELL]),
    python_and_duckdb: runs("check.py", &PYTHON),
    grafana: runs("grafana.py", &["grafana"]),
    questions: is_as_made("docs/analysts/questions.md", &questions::page()?),
    columns: is_as_made("docs/reference/columns.md", &columns::page()?),
    metrics: is_as_made("docs/reference/metrics.md", &trawl_metrics::page()),
}
