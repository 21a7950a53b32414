//! Lists that are walked while blocks come in and are taken back: each walk is sorted, has nothing twice, nothing that
//! was on no branch, and all that was on every one.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::http;

use super::follow::{hashes, reaches, started, tip};
use super::node::Node;
use crate::chains::quantity;
use crate::dice::Dice;
use crate::env;
use crate::pages::{List, busiest, frames_in, rows_in, transfers_in};

mod balances;
mod ids;
mod on_both;

/// A list, with what a walk has to have, and what it may have.
struct WalkedList {
    list: List,
    always: BTreeSet<String>,
    ever: BTreeSet<String>,
}

impl WalkedList {
    fn new(list: List, branches: &[Vec<String>]) -> Self {
        let sets: Vec<BTreeSet<String>> = branches.iter().map(|names| names.iter().cloned().collect()).collect();
        let ever = sets.iter().flatten().cloned().collect();
        let always = sets.iter().skip(1).fold(sets[0].clone(), |common, set| &common & set);
        Self { list, always, ever }
    }

    fn check(&self, api: &str, size: u64) -> anyhow::Result<()> {
        // In the ordinary run no walk has more than some fifty pages.
        let size = size.max((self.ever.len() / env::amount(50, usize::MAX)) as u64);
        let names = self.list.walk(api, size)?;
        // The numbers that a name begins with are its position.
        let position =
            |name: &String| -> Vec<u64> { name.split(' ').map_while(|part| part.parse().ok()).take(2).collect() };
        let positions: Vec<_> = names.iter().map(position).collect();
        ensure!(positions.is_sorted_by(|one, next| one >= next), "{}: not sorted: {names:#?}", self.list.target);
        let set: BTreeSet<String> = names.iter().cloned().collect();
        ensure!(set.len() == names.len(), "{}: something twice: {names:#?}", self.list.target);
        let (lost, invented) = (&self.always - &set, &set - &self.ever);
        ensure!(lost.is_empty() && invented.is_empty(), "{}: lost {lost:?}, invented {invented:?}", self.list.target);
        Ok(())
    }
}

/// Walks the lists over and over while `act` goes on; how many walks began meanwhile.
fn walk_while(api: &str, lists: &[WalkedList], act: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<u64> {
    let (is_over, walks) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let walkers: Vec<_> = (0..env::amount(1, 3))
            .map(|walker: usize| {
                let (is_over, walks) = (&is_over, &walks);
                scope.spawn(move || {
                    for round in walker.. {
                        // Each walks every list at least once.
                        if is_over.load(Ordering::Relaxed) && round >= walker + lists.len() {
                            break;
                        }
                        let is_beside = !is_over.load(Ordering::Relaxed);
                        lists[round % lists.len()].check(api, [11, 5, 2][round % 3])?;
                        walks.fetch_add(u64::from(is_beside), Ordering::Relaxed);
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        let acted = act();
        is_over.store(true, Ordering::Relaxed);
        for walker in walkers {
            walker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        acted
    })?;
    Ok(walks.into_inner())
}

/// What a plain load of a branch has: blocks, and the call frames of an address.
fn branch(database: &str, node: &Node, name: &str, address: &str) -> anyhow::Result<[Vec<String>; 2]> {
    node.control(&json!({"branch": name}))?;
    env::run(env::ingest(database, &["load", "--rpc-url", &node.url]), 0)?;
    let blocks = hashes(name)?.iter().rev().map(|(number, hash)| format!("{number} {hash}")).collect();
    let word = format!("unhex('{}')", address.trim_start_matches("0x"));
    Ok([blocks, frames_in(database, &format!("{word} IN (from_address, ifNull(to_address, ''))"))?])
}

#[test]
fn through_reorganisations_lose_and_invent_nothing() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("walks", &["--head", "54", "--finality", "30"])?;
    reaches(&api.url, tip(&hashes("main")?))?;
    let address = busiest("walks", "hot_internal_transactions_by_address", 1)?[0].clone();
    let branches = ["main", "depth17"];
    let databases = [env::migrate("walks_main")?, env::migrate("walks_depth17")?];
    let of_branches = [0, 1].map(|at: usize| branch(&databases[at], &node, branches[at], &address));
    let [main, deep] = of_branches;
    let ([main_blocks, main_frames], [deep_blocks, deep_frames]) = (main?, deep?);
    // The branch has the same transactions at the same heights, so that no walk of frames may differ from another.
    ensure!(main_blocks != deep_blocks && main_frames.len() > 10 && main_frames == deep_frames);
    let blocks: BTreeSet<String> = main_blocks.iter().chain(&deep_blocks).cloned().collect();
    let (miner, mined) = on_both::mined(&branches.map(|name| format!("walks_{name}")))?;
    let mut lists = vec![
        // What was orphaned, which nothing has at the beginning.
        WalkedList { list: List::of_blocks("reorg"), always: BTreeSet::new(), ever: blocks },
        WalkedList::new(List::of_blocks("block"), &[main_blocks, deep_blocks]),
        WalkedList::new(List::of_mined_blocks(&miner), &mined),
        WalkedList::new(List::of_internal_transactions(&address, ""), &[main_frames.clone(), deep_frames.clone()]),
        WalkedList::new(List::of_internal_transactions(&address, "filter=from"), &[main_frames, deep_frames]),
    ];
    lists.extend(on_both::the_same()?);
    let mut dice = Dice(31);
    let walks = walk_while(&api.url, &lists, || {
        for round in 0..env::amount(2, 40) {
            let name = branches[if env::is_slow_run() { dice.roll(2) } else { round % 2 }];
            node.control(&json!({"branch": name}))?;
            reaches(&api.url, tip(&hashes(name)?))?;
        }
        Ok(())
    })?;
    ensure!(walks > 1, "only {walks} walks");
    follower.stop()
}

#[test]
fn beside_new_blocks_lose_and_invent_nothing() -> anyhow::Result<()> {
    let database = "walks_growing";
    let node = Node::start("devchain", &["--head", "40", "--finality", "8"])?;
    let _database = env::migrate(database)?;
    let follower = super::follow::Follower::start(database, &node.url, &[])?;
    let api = env::start_api(database, &[])?;
    let all = crate::chains::chain("devchain");
    let newest = |height: u64| all.lines[usize::try_from(height).unwrap_or(0)]["block"]["hash"].as_str().unwrap_or("");
    reaches(&api.url, newest(40))?;
    let (all_transfers, sooner) = (transfers_in("devchain", "1")?, transfers_in("devchain", "block_number <= 40")?);
    let (all_frames, sooner_frames) = (frames_in("devchain", "1")?, frames_in("devchain", "block_number <= 40")?);
    let (all_rows, sooner_rows) = (rows_in("devchain", "1")?, rows_in("devchain", "block_number <= 40")?);
    let mut lists = vec![
        WalkedList::new(List::of_everything("advanced-filters"), &[all_rows, sooner_rows]),
        WalkedList::new(List::of_everything("token-transfers"), &[all_transfers, sooner]),
        WalkedList::new(List::of_everything("internal-transactions"), &[all_frames, sooner_frames]),
    ];
    for address in &busiest("devchain", "token_transfers", 2)?[..2] {
        let word = format!("unhex('{}')", address.trim_start_matches("0x"));
        for (parameters, condition) in [
            ("", format!("{word} IN (from_address, to_address)")),
            ("filter=to", format!("to_address = {word}")),
            ("type=ERC-721,ERC-1155", format!("{word} IN (from_address, to_address) AND token_type != 'ERC-20'")),
        ] {
            let all = transfers_in("devchain", &condition)?;
            let sooner = transfers_in("devchain", &format!("({condition}) AND block_number <= 40"))?;
            lists.push(WalkedList::new(List::of_token_transfers(address, parameters), &[all, sooner]));
        }
    }
    lists.extend(ids::beside_new_blocks(40)?);
    ensure!(lists.iter().all(|walked| walked.ever.len() > walked.always.len()));
    ensure!(lists.iter().any(|walked| walked.always.len() > 5));
    for WalkedList { list, .. } in &lists {
        // Balances are counted when the first blocks are settled.
        let is_known = || Ok(http::get(&http::agent(), &format!("{}{}", api.url, list.target))?.status == 200);
        env::eventually(env::SOON, is_known)?;
    }
    let walks = walk_while(&api.url, &lists, || {
        for head in (42..=all.head()).step_by(env::amount(7, 5)) {
            node.control(&json!({"head": head}))?;
            reaches(&api.url, newest(head))?;
        }
        Ok(())
    })?;
    ensure!(walks > 1, "only {walks} walks");
    follower.stop()
}

/// The cursor of a scan names a block: when that was orphaned, the answer says up to where the chain is the same.
#[test]
fn a_scan_of_a_lost_branch_gets_the_fork_block() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("walks_scan", &["--head", "54", "--finality", "30"])?;
    let (main, deep) = (hashes("main")?, hashes("depth6")?);
    reaches(&api.url, tip(&main))?;
    let scan = |path: &str, query: &str| {
        http::get(&http::agent(), &format!("{}/api/v2/scan/{path}?fromBlock=0&toBlock=latest&{query}", api.url))
    };
    let fork = *main.iter().rev().find(|(height, hash)| deep.get(*height) == Some(*hash)).context("a fork")?.0;
    let mut cursors = Vec::new();
    for path in ["logs", "transactions", "internal-transactions"] {
        let whole = scan(path, "")?.json()?;
        let cursor = whole["end"]["cursor"].as_str().context("a cursor")?.to_owned();
        let last = quantity(&whole["end"]["lastBlock"]);
        ensure!(scan(path, &format!("cursor={cursor}"))?.status == 200);
        cursors.push((path, cursor, last));
    }
    ensure!(
        cursors.iter().filter(|(_, _, last)| *last > fork).count() > 1,
        "{cursors:?}, and the branches part behind {fork}"
    );
    node.control(&json!({"branch": "depth6"}))?;
    reaches(&api.url, tip(&deep))?;
    for (path, cursor, last) in cursors {
        let answer = scan(path, &format!("cursor={cursor}"))?;
        if last <= fork {
            ensure!(answer.status == 200, "{path}: {}", answer.text());
            continue;
        }
        let data = answer.json()?["data"].clone();
        ensure!(answer.status == 409 && data["forkBlock"] == format!("{fork:#x}"), "{path} {fork}: {}", answer.text());
        ensure!(data["forkHash"] == main[&fork].as_str() && data["hash"] == main[&last].as_str(), "{path}: {data}");
    }
    follower.stop()
}

/// Rows that do not say the hash of their block get that of the branch they were read from, however the chain moves.
#[test]
fn scans_show_one_branch_each() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("walks_branches", &["--head", "54", "--finality", "30"])?;
    let branches = ["main", "depth17"];
    let chains = [hashes(branches[0])?, hashes(branches[1])?];
    reaches(&api.url, tip(&chains[0]))?;
    let (is_over, whole) = (AtomicBool::new(false), AtomicU64::new(0));
    let look = |path: &str| -> anyhow::Result<()> {
        let url = format!("{}/api/v2/scan/{path}?fromBlock=0&toBlock=latest", api.url);
        let answer = http::get(&http::agent(), &url);
        // One that is broken off, or refused because blocks move too fast, shows nothing wrong.
        let Ok(answer) = answer else { return Ok(()) };
        if answer.status == 503 {
            return Ok(());
        }
        ensure!(answer.status == 200, "{path}: {}", answer.text());
        let answer = answer.json()?;
        let rows = answer["items"].as_array().context("items")?;
        let is_of = |chain: &std::collections::BTreeMap<u64, String>| {
            let is_at = |row: &serde_json::Value| {
                row["blockHash"].as_str() == chain.get(&quantity(&row["blockNumber"])).map(String::as_str)
            };
            rows.iter().all(is_at)
        };
        ensure!(chains.iter().any(is_of) && rows.len() > 20, "{path}: rows of several branches");
        whole.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    std::thread::scope(|scope| {
        let looking: Vec<_> = ["internal-transactions", "transactions"]
            .into_iter()
            .map(|path| {
                let (is_over, look) = (&is_over, &look);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        look(path)?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        let acted = (0..env::amount(4, 8)).try_for_each(|round: usize| {
            node.control(&json!({"branch": branches[(round + 1) % 2]}))?;
            reaches(&api.url, tip(&chains[(round + 1) % 2]))
        });
        is_over.store(true, Ordering::Relaxed);
        for walker in looking {
            walker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        acted
    })?;
    ensure!(whole.into_inner() > 8, "few answers were whole");
    follower.stop()
}

/// A cached page is requested again and again; after a reorganisation it is the new one.
#[test]
fn no_answer_is_older_than_the_head() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("walks_kept", &["--head", "54", "--finality", "30"])?;
    reaches(&api.url, tip(&hashes("main")?))?;
    let agent = http::agent();
    let page = || http::get(&agent, &format!("{}/api/v2/blocks?items_count=20", api.url));
    for name in ["depth6", "main", "depth17", "main", "depth1"] {
        let before = page()?;
        ensure!(page()?.header("etag") == before.header("etag"));
        let expected = hashes(name)?;
        node.control(&json!({"branch": name}))?;
        reaches(&api.url, tip(&expected))?;
        // Whoever saw the new head must not be given the old page.
        let (after, text) = (page()?, page()?.json()?);
        ensure!(after.header("etag") != before.header("etag"), "{name}: the page is the old one");
        for item in text["items"].as_array().context("items")? {
            let height = item["height"].as_u64().context("a height")?;
            ensure!(
                Some(item["hash"].as_str().unwrap_or("")) == expected.get(&height).map(String::as_str),
                "{name}: {item}"
            );
        }
    }
    let hits = http::get(&agent, &format!("{}/metrics", api.url))?.text();
    let hits = hits.lines().find_map(|line| line.strip_prefix("trawl_cache_requests_total{outcome=\"hit\"} "));
    ensure!(hits.and_then(|hits| hits.parse::<u64>().ok()) >= Some(5), "{hits:?}");
    follower.stop()
}
