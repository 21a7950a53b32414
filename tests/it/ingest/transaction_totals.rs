//! What transactions of a period add up to is added up once, and counts while the blocks have the same commits.

use anyhow::ensure;
use serde_json::Value;
use xtask::http;
use xtask::process::Server;

use super::statistics::reach;
use super::write_dump;
use crate::activity::RESOLUTIONS;
use crate::chains::{lines, quantity};
use crate::env;

const ACTIVITY: &str = "/api/v2/stats/activity";

/// A block every nine hours, over the end of a year: three weeks.
fn chain_of_days() -> anyhow::Result<tempfile::NamedTempFile> {
    let mut lines = lines("hive")?;
    for line in &mut lines {
        let time = 1_702_900_000 + 9 * 60 * 60 * quantity(&line["block"]["number"]);
        line["block"]["timestamp"] = format!("{time:#x}").into();
    }
    write_dump(&lines)
}

/// Loads without proofs: headers with other times have other hashes.
fn load(database: &str, dump: &tempfile::NamedTempFile, range: &[&str]) -> anyhow::Result<()> {
    let dump = dump.path().display().to_string();
    let arguments = [&["load", "--verify", "off", "--dump", &dump], range].concat();
    env::run(env::ingest(database, &arguments), 0)?;
    Ok(())
}

/// The charts in all resolutions, of an API that has read nothing before.
fn charts(database: &str) -> anyhow::Result<Vec<Value>> {
    let (api, agent) = (env::start_api(database, &[])?, http::agent());
    let chart =
        |resolution: &&str| http::get(&agent, &format!("{}{ACTIVITY}?resolution={resolution}", api.url))?.json();
    RESOLUTIONS.iter().map(chart).collect()
}

fn stored(database: &str) -> anyhow::Result<String> {
    env::sql(database, "SELECT first_block, last_block, transactions FROM transaction_totals ORDER BY ALL")
}

#[test]
fn are_those_of_the_transactions_however_the_chain_was_loaded() -> anyhow::Result<()> {
    let database = &env::migrate("totals_in_steps")?;
    let dump = &chain_of_days()?;
    load(database, dump, &["--from", "0", "--to", "20"])?;
    load(database, dump, &["--from", "40", "--to", "54"])?;
    // Over the gap nothing is added up, and what was is not used for more blocks than it is of.
    let in_parts = charts(database)?;
    env::sql(database, "TRUNCATE TABLE transaction_totals")?;
    ensure!(charts(database)? == in_parts);
    load(database, dump, &[])?;
    let (complete, rows) = (charts(database)?, stored(database)?);
    env::sql(database, "TRUNCATE TABLE transaction_totals")?;
    ensure!(charts(database)? == complete, "with totals {complete:#?}");
    // What is there already is not loaded again, but added up.
    load(database, dump, &[])?;
    let again = stored(database)?;
    ensure!(
        again.lines().count() > 20 && again.lines().all(|row| rows.lines().any(|one| one == row)),
        "{again} of {rows}"
    );
    ensure!(charts(database)? == complete);
    Ok(())
}

#[test]
fn count_while_the_commits_are_the_same() -> anyhow::Result<()> {
    let database = &env::migrate("totals_commits")?;
    load(database, &chain_of_days()?, &[])?;
    let right = charts(database)?;
    // One transaction too many in each period shows that charts read them.
    let wrong = "INSERT INTO transaction_totals SELECT * REPLACE
                 (transactions + 1 AS transactions, now64(6) + 60 AS added_up_at) FROM transaction_totals";
    env::sql(database, wrong)?;
    let count = |charts: &[Value]| -> u64 {
        let items = charts.iter().filter_map(|chart| chart["items"].as_array()).flatten();
        items.filter_map(|item| item["transactions_count"].as_u64()).sum()
    };
    let rows = stored(database)?.lines().count() as u64 / 2;
    let found = count(&charts(database)?) - count(&right);
    ensure!(found >= rows && rows > 0, "{found} of {rows}");
    // The blocks are committed again: what was added up before does not count.
    env::sql(database, "INSERT INTO ingest_commits SELECT * REPLACE ('again' AS run) FROM ingest_commits")?;
    ensure!(charts(database)? == right);
    Ok(())
}

/// Token holders are counted all the same, and the load ends well.
#[test]
fn that_cannot_be_written_stop_nothing() -> anyhow::Result<()> {
    let database = &env::migrate("totals_refused")?;
    env::sql(database, "DROP TABLE transaction_totals SYNC")?;
    load(database, &chain_of_days()?, &[])?;
    ensure!(reach(database)? == 54, "{}", reach(database)?);
    Ok(())
}

/// A database that was loaded before there were totals.
#[test]
fn come_to_a_database_of_the_baseline() -> anyhow::Result<()> {
    let (database, dump) = (&env::migrate("totals_of_baseline")?, &chain_of_days()?);
    load(database, dump, &[])?;
    let (right, rows) = (charts(database)?, stored(database)?);
    env::sql(database, "DROP TABLE transaction_totals SYNC")?;
    env::sql(database, "DELETE FROM schema_migrations WHERE version > 1")?;
    // An API that is newer than the tables waits for them.
    let (api, agent) = (Server::start(env::api_at(env::store(), database, &[]))?, http::agent());
    let is_ready = || Ok(http::get(&agent, &format!("{}/health/ready", api.url))?.status == 200);
    ensure!(!is_ready()?);
    env::run(env::ingest(database, &["migrate"]), 0)?;
    env::eventually(env::SOON, is_ready)?;
    ensure!(charts(database)? == right && stored(database)?.is_empty());
    load(database, dump, &[])?;
    ensure!(charts(database)? == right && stored(database)?.lines().all(|row| rows.lines().any(|one| one == row)));
    Ok(())
}
