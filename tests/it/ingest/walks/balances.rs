//! Balances of addresses over time, walked while blocks that changed them are taken back.

use anyhow::ensure;
use serde_json::json;
use xtask::workspace;

use super::super::follow::{Follower, hashes, reaches, tip};
use super::super::node::Node;
use super::{WalkedList, walk_while};
use crate::dice::Dice;
use crate::env;
use crate::pages::List;

const BRANCHES: [&str; 2] = ["main", "depth17"];

fn history(address: &str) -> List {
    List {
        target: format!("/api/v2/addresses/{address}/coin-balance-history?"),
        name: |item| format!("{} {}", item["block_number"], item["value"].as_str().unwrap_or_default()),
    }
}

/// That each branch alone has what another EVM computed is a test of its own: `coin_balances::follow_the_chain`.
#[test]
fn through_reorganisations_have_balances_of_one_branch_or_the_other() -> anyhow::Result<()> {
    let database = "walks_balances";
    let genesis = workspace::fixture("hive/genesis.json").display().to_string();
    let node = Node::start("hive", &["--head", "54", "--finality", "30"])?;
    let _database = env::migrate(database)?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url, "--to", "20", "--genesis", &genesis]), 0)?;
    let follower = Follower::start(database, &node.url, &["--genesis", &genesis])?;
    let api = env::start_api(database, &[])?;
    reaches(&api.url, tip(&hashes(BRANCHES[0])?))?;
    let most =
        "SELECT '0x' || lower(hex(address)) FROM hot_balance_history GROUP BY 1 ORDER BY count() DESC, 1 LIMIT 4";
    let addresses: Vec<String> = env::sql(database, most)?.lines().map(str::to_owned).collect();
    ensure!(addresses.len() == 4, "{addresses:?}");
    let mut on_branches: Vec<Vec<Vec<String>>> = vec![Vec::new(); addresses.len()];
    for name in BRANCHES {
        node.control(&json!({"branch": name}))?;
        reaches(&api.url, tip(&hashes(name)?))?;
        for (address, branches) in addresses.iter().zip(&mut on_branches) {
            branches.push(history(address).walk(&api.url, 100)?);
        }
    }
    let lists: Vec<WalkedList> = addresses
        .iter()
        .zip(&on_branches)
        .map(|(address, branches)| WalkedList::new(history(address), branches))
        .collect();
    let differ = lists.iter().filter(|walked| walked.ever.len() > walked.always.len()).count();
    ensure!(differ > 0 && lists.iter().all(|walked| walked.always.len() > 5), "{differ} lists differ: {on_branches:?}");
    let mut dice = Dice(37);
    let walks = walk_while(&api.url, &lists, || {
        for round in 0..env::amount(4, 40) {
            let name = BRANCHES[if env::is_slow_run() { dice.roll(2) } else { round % 2 }];
            node.control(&json!({"branch": name}))?;
            reaches(&api.url, tip(&hashes(name)?))?;
        }
        Ok(())
    })?;
    ensure!(walks > 1, "only {walks} walks");
    follower.stop()
}
