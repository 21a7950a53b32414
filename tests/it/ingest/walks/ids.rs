//! Lists of single ids of tokens, while blocks come in and are taken back.

use std::collections::BTreeSet;

use anyhow::ensure;
use serde_json::json;
use xtask::http;

use super::super::empty_branch;
use super::super::follow::{Follower, reaches};
use super::super::node::Node;
use super::{WalkedList, walk_while};
use crate::chains::chain;
use crate::env;
use crate::pages::List;

/// A list of ids, with what it has at a height, and what it has in whatever blocks come after one.
struct Ids {
    target: String,
    name: fn(&serde_json::Value) -> String,
    at: Box<dyn Fn(u64) -> String>,
    always: Box<dyn Fn(u64) -> String>,
    ever: String,
}

/// The ids of the token that was moved most, and those that its receivers have who had nothing of another.
fn lists() -> anyhow::Result<Vec<Ids>> {
    let most = "SELECT lower(hex(token_address)) FROM token_transfers_by_block WHERE token_type = 'ERC-721' GROUP BY 1
                ORDER BY count() DESC LIMIT 1";
    let token = env::sql("devchain", most)?;
    let ids = format!(
        "SELECT 'id ' || toString(assumeNotNull(token_id)) FROM token_transfers_by_block WHERE token_address = unhex('{token}')"
    );
    let (zero, position) = ("unhex(repeat('00', 20))", "(block_number, log_index)");
    let (at, always) = (ids.clone(), ids.clone());
    let mut lists = vec![Ids {
        target: format!("/api/v2/tokens/0x{token}/instances?"),
        name: |item| format!("id {}", item["id"].as_str().unwrap_or_default()),
        at: Box::new(move |height| {
            format!(
                "{at} AND block_number <= {height} GROUP BY token_id HAVING argMax(to_address, {position}) != {zero} ORDER BY token_id DESC"
            )
        }),
        always: Box::new(move |height| {
            format!(
                "{always} GROUP BY token_id HAVING min(block_number) <= {height} AND countIf(to_address = {zero}) = 0"
            )
        }),
        ever: ids,
    }];
    let receivers = format!(
        "SELECT lower(hex(to_address)) FROM token_transfers_by_block WHERE token_type = 'ERC-721' AND to_address != {zero}
         GROUP BY 1 HAVING countIf(token_address != unhex('{token}')) = 0 ORDER BY count() DESC LIMIT 3"
    );
    for holder in env::sql("devchain", &receivers)?.lines() {
        let word = format!("unhex('{holder}')");
        let ids = "SELECT 'id ' || lower(hex(token_address)) || ' ' || toString(assumeNotNull(token_id)) FROM token_transfers_by_block
                   WHERE token_type != 'ERC-20'";
        let (one, other, token) = (word.clone(), word.clone(), token.clone());
        lists.push(Ids {
            target: format!("/api/v2/addresses/0x{holder}/nft?"),
            name: |item| {
                let token = item["token"]["address_hash"].as_str().unwrap_or_default().to_lowercase();
                format!("id {} {}", token.trim_start_matches("0x"), item["id"].as_str().unwrap_or_default())
            },
            at: Box::new(move |height| {
                format!(
                    "{ids} AND block_number <= {height} GROUP BY token_address, token_type, token_id
                     HAVING sumIf(value, to_address = {one}) > sumIf(value, from_address = {one})
                     ORDER BY token_address, token_type, token_id"
                )
            }),
            always: Box::new(move |height| {
                format!(
                    "{ids} GROUP BY token_address, token_id HAVING argMax(to_address, {position}) = {other}
                     AND max(block_number) <= {height} AND token_address = unhex('{token}')"
                )
            }),
            ever: format!("{ids} AND to_address = {word}"),
        });
    }
    ensure!(lists.len() == 4);
    Ok(lists)
}

fn names(sql: &str) -> anyhow::Result<Vec<String>> {
    Ok(env::sql("devchain", sql)?.lines().map(str::to_owned).collect())
}

impl Ids {
    fn list(&self) -> List {
        List { target: self.target.clone(), name: self.name }
    }

    fn walked(&self, from: u64) -> anyhow::Result<WalkedList> {
        let set = |sql: &str| -> anyhow::Result<BTreeSet<String>> { Ok(names(sql)?.into_iter().collect()) };
        Ok(WalkedList { list: self.list(), always: set(&(self.always)(from))?, ever: set(&self.ever)? })
    }

    /// All pages have what the transfers up to a height leave, in the order of the list.
    fn is_as_of(&self, api: &str, height: u64) -> anyhow::Result<()> {
        self.list().is(api, &names(&(self.at)(height))?, &[1, 7, 100])
    }
}

/// The lists while blocks come after `head`: what stays from there on, and what is there at any height.
pub(super) fn beside_new_blocks(head: u64) -> anyhow::Result<Vec<WalkedList>> {
    lists()?.iter().map(|ids| ids.walked(head)).collect()
}

/// Tokens are moved on one branch and not on the other: lists have what is on the one in force, and nothing of a lost
/// one.
#[test]
#[ignore = "a minute: runs with `cargo xtask test --slow`, and balances of the same chain always"]
fn through_reorganisations_have_the_owners_of_the_branch() -> anyhow::Result<()> {
    const FORK: u64 = 40;
    const HEAD: u64 = 64;
    let database = "walks_ids";
    let folder = env::directory()?;
    let tip = empty_branch::write("devchain", folder.path(), (FORK + 1, HEAD + 2))?;
    let main = &chain("devchain").lines[usize::try_from(HEAD)?]["block"]["hash"];
    let main = main.as_str().unwrap_or_default();
    let node = Node::start(&folder.path().to_string_lossy(), &["--head", &HEAD.to_string(), "--finality", "30"])?;
    let _database = env::migrate(database)?;
    let follower = Follower::start(database, &node.url, &[])?;
    let api = env::start_api(database, &[])?;
    reaches(&api.url, main)?;
    let lists = lists()?;
    for ids in &lists {
        // Balances are counted when the first blocks are settled.
        env::eventually(env::SOON, || {
            Ok(http::get(&http::agent(), &format!("{}{}", api.url, ids.target))?.status == 200)
        })?;
        ids.is_as_of(&api.url, HEAD)?;
        ensure!(names(&(ids.at)(HEAD))? != names(&(ids.at)(FORK))?, "{} is the same on both branches", ids.target);
    }
    let walked = lists.iter().map(|ids| ids.walked(FORK)).collect::<anyhow::Result<Vec<_>>>()?;
    let walks = walk_while(&api.url, &walked, || {
        for _ in 0..20 {
            node.control(&json!({"branch": "empty"}))?;
            reaches(&api.url, &tip)?;
            lists.iter().try_for_each(|ids| ids.is_as_of(&api.url, FORK))?;
            node.control(&json!({"branch": "main", "branchHead": HEAD}))?;
            reaches(&api.url, main)?;
            lists.iter().try_for_each(|ids| ids.is_as_of(&api.url, HEAD))?;
        }
        Ok(())
    })?;
    ensure!(walks > 1, "only {walks} walks");
    follower.stop()
}
