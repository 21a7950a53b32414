//! A chain that is followed and none of whose blocks is settled yet.

use std::time::Duration;

use anyhow::ensure;
use xtask::http;

use crate::env;
use crate::ingest::follow::Follower;
use crate::ingest::node::Node;

#[test]
fn nothing_is_counted_before_a_block_is_settled() -> anyhow::Result<()> {
    let database = "analysts_unsettled";
    let node = Node::start("devchain", &["--head", "40", "--finality", "60"])?;
    let _database = env::migrate(database)?;
    let follower = Follower::start(database, &node.url, &["--from", "5"])?;
    let api = env::start_api(database, &[])?;
    let shown = || env::sql(database, "SELECT max(block_number) FROM v_blocks");
    env::eventually(Duration::from_secs(20), || Ok(shown()? == "40"))?;
    ensure!(env::sql(database, "SELECT count() FROM ingest_commits")? == "0");
    ensure!(env::sql(database, "SELECT count() > 0 FROM v_token_transfers")? == "1", "there is nothing to count");
    // What was received before the chain was followed is not known, and never less than nothing.
    ensure!(env::sql(database, "SELECT * FROM v_counted")? == "\\N\t0\t0");
    for view in ["v_token_holders", "v_balances"] {
        ensure!(env::sql(database, &format!("SELECT count() FROM {view}"))? == "0", "{view}");
    }
    // All blocks since the seventh are loaded, and not one is counted.
    let seventh = env::sql(
        database,
        "SELECT formatDateTime(timestamp, '%Y-%m-%dT%H:%i:%SZ') FROM v_blocks WHERE block_number = 7",
    )?;
    let path = format!("{}/api/v2/stats/activity/failures?from={seventh}", api.url);
    let failures = http::get(&http::agent(), &path)?.json()?;
    ensure!(failures["block_number"].is_null() && failures["is_complete"] == false, "{failures}");
    follower.stop()
}
