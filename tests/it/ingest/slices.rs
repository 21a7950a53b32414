//! Slices of a load: several processes write disjoint blocks at once, and leave what one load leaves.

use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::ensure;
use xtask::process::{self, signal};

use super::follow::{Follower, loaded, visible};
use super::node::Node;
use super::proxy::{Phase, Proxy};
use super::statistics::{newest, reach};
use super::{clean, load};
use crate::chains::{chain, dump};
use crate::dice::Dice;
use crate::env;

/// A load of a share of the scenario chain in many batches.
fn spawn(database: &str, slice: &str) -> anyhow::Result<Child> {
    let arguments = ["load", "--dump", &dump("devchain"), "--to", "91", "--slice", slice];
    // Merges change no row, and cost more than all else.
    let batches = ["--batch-blocks", "8", "--merge", "off"];
    Ok(env::ingest(database, &[&arguments[..], &batches].concat()).stderr(Stdio::piped()).spawn()?)
}

fn ensure_succeeds(load: Child) -> anyhow::Result<String> {
    let output = process::output_within(load, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{} {text}", output.status);
    Ok(text)
}

/// Whether the database is as after one load of the whole chain, with holders and supply of tokens.
fn ensure_clean(database: &str) -> anyhow::Result<()> {
    let (found, expected) = (env::contents(env::store(), database)?, clean()?);
    let differing: Vec<_> = expected.iter().filter(|(table, sum)| found.get(*table) != Some(sum)).collect();
    ensure!(
        differing.is_empty() && found.len() == expected.len(),
        "{database} differs from a clean load: {differing:?}"
    );
    let committed = "SELECT sum(last_block - first_block + 1), min(first_block), max(last_block) FROM ingest_commits";
    ensure!(env::sql(database, committed)? == "92\t0\t91", "{}", env::sql(database, committed)?);
    ensure!(reach(database)? == 91, "{}", reach(database)?);
    ensure!(newest(database)? == newest(chain("devchain").name)?, "holders or supplies of tokens differ");
    Ok(())
}

/// A load of everything dies before its first commit: its intent is of blocks of two slices, each of which removes its
/// own. Then four processes, one of which is killed again and again while the others go on.
#[test]
fn killed_at_any_moment_they_leave_what_one_load_leaves() -> anyhow::Result<()> {
    let database = &env::migrate("slices_killed")?;
    let proxy = Proxy::start(env::store())?;
    let arguments = ["load", "--dump", &dump("devchain"), "--batch-blocks", "40"];
    let whole = env::ingest_at(&proxy.url, database, &arguments).stderr(Stdio::null()).spawn()?;
    let process = whole.id();
    proxy.at("INTO ingest_commits", 1, Phase::Before, move || drop(signal(process, libc::SIGKILL)));
    ensure!(process::output_within(whole, env::LONGEST)?.status.code().is_none(), "the first load was not killed");
    let intents = env::sql(database, "SELECT first_block, last_block FROM ingest_intents ORDER BY first_block")?;
    ensure!(intents == "0\t0\n1\t39", "{intents}");
    let mut dice = Dice(23);
    let slices = ["1/4", "2/4", "3/4", "4/4"];
    let mut loads = slices.iter().map(|slice| spawn(database, slice)).collect::<anyhow::Result<Vec<Child>>>()?;
    let mut killed = 0;
    for _ in 0..env::amount(8, 80) {
        std::thread::sleep(Duration::from_millis(20 + dice.roll(160) as u64));
        let seat = dice.roll(slices.len());
        loads[seat].kill()?;
        killed += usize::from(process::wait_within(&mut loads[seat], env::LONGEST)?.code().is_none());
        loads[seat] = spawn(database, slices[seat])?;
    }
    ensure!(killed > 2, "only {killed} loads were killed before their end");
    loads.into_iter().try_for_each(|load| ensure_succeeds(load).map(drop))?;
    ensure_clean(database)?;
    // Whoever takes over has nothing to clean up.
    load(database, &dump("devchain"), &[], 0)?;
    ensure_clean(database)?;
    ensure!(env::sql(database, "SELECT count() FROM ingest_intents")? == "0", "intents are left");
    Ok(())
}

/// Shares of different numbers overlap: they are written one after another.
#[test]
fn of_different_numbers_write_no_block_twice() -> anyhow::Result<()> {
    let database = &env::migrate("slices_overlapping")?;
    let slices = ["1/2", "2/4", "2/2"];
    let loads = slices.iter().map(|slice| spawn(database, slice)).collect::<anyhow::Result<Vec<Child>>>()?;
    loads.into_iter().try_for_each(|load| ensure_succeeds(load).map(drop))?;
    ensure_clean(database)
}

/// From a node, with the rest of the chain followed afterwards.
#[test]
fn are_gone_on_from_by_follow() -> anyhow::Result<()> {
    let name = "slices_followed";
    let (database, node) = (env::migrate(name)?, Node::start("hive", &["--head", "54", "--finality", "8"])?);
    let spawn = |slice: &str| {
        let arguments = ["load", "--rpc-url", &node.url, "--to", "40", "--slice", slice, "--batch-blocks", "10"];
        env::ingest(name, &arguments).stderr(Stdio::piped()).spawn()
    };
    let loads = [spawn("2/2")?, spawn("1/2")?];
    let claimed = || env::sql(name, "SELECT uniqExact(lease) FROM ingest_leases");
    env::eventually(Duration::from_secs(20), || Ok(claimed()? == "2"))?;
    // It waits for both.
    let follower = Follower::start(name, &node.url, &[])?;
    loads.into_iter().try_for_each(|load| ensure_succeeds(load).map(drop))?;
    let newest = "SELECT max(head_block) FROM ingest_heads";
    env::eventually(Duration::from_secs(30), || Ok(env::sql(name, newest)? == "54"))?;
    follower.stop()?;
    ensure!(visible(name)? == loaded(&node, "slices_followed_loaded")?);
    drop(database);
    Ok(())
}

/// A lease of a run on another machine, which lives.
fn hold(database: &str, lease: &str, event: &str) -> anyhow::Result<()> {
    let insert = format!(
        "INSERT INTO ingest_leases (lease, event, host, place, process) \
         VALUES ('{lease}', '{event}', 'faraway', 'another boot', '77:1')"
    );
    env::sql(database, &insert).map(drop)
}

/// Ends a load that waits for the holder of a lease.
fn ensure_waits(load: Child) -> anyhow::Result<()> {
    std::thread::sleep(Duration::from_secs(1));
    signal(load.id(), libc::SIGINT)?;
    let output = process::output_within(load, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(130), "{} {text}", output.status);
    ensure!(text.contains("another run of trawl-ingest is writing") && text.contains("faraway"), "{text}");
    Ok(())
}

#[test]
fn wait_for_whoever_may_write_their_blocks_and_for_nobody_else() -> anyhow::Result<()> {
    let database = &env::migrate("slices_beside")?;
    hold(database, "theirs/1/20-40/31337 ethereum", "claimed")?;
    let whole = env::ingest(database, &["load", "--dump", &dump("devchain")]).stderr(Stdio::piped()).spawn()?;
    for load in [spawn(database, "1/4")?, spawn(database, "1/1")?, whole] {
        ensure_waits(load)?;
    }
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "0");
    ensure_succeeds(spawn(database, "3/4")?)?;
    ensure!(env::sql(database, "SELECT min(block_number), max(block_number), count() FROM blocks")? == "46\t68\t23");
    hold(database, "theirs/1/20-40/31337 ethereum", "released")?;
    hold(database, "theirs/2", "claimed")?;
    ensure_waits(spawn(database, "4/4")?)?;
    hold(database, "theirs/2", "released")?;
    only_what_overlaps_is_taken_over(database)?;
    hold(database, "theirs/3/100-200/7 ethereum", "claimed")?;
    let output = process::output_within(spawn(database, "4/4")?, env::LONGEST)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.code() == Some(3) && text.contains("blocks of `7 ethereum` are being loaded"), "{text}");
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "23");
    Ok(())
}

/// A slice takes over the lease of its blocks, and not that of others.
fn only_what_overlaps_is_taken_over(database: &str) -> anyhow::Result<()> {
    for lease in ["beside/1/0-22/31337 ethereum", "over/1/80-85/31337 ethereum"] {
        hold(database, lease, "claimed")?;
    }
    let arguments = ["load", "--dump", &dump("devchain"), "--to", "91", "--slice", "4/4", "--take-over"];
    let load = env::ingest(database, &arguments).stderr(Stdio::piped()).spawn()?;
    let fenced = || env::sql(database, "SELECT groupUniqArray(lease) FROM ingest_leases WHERE event = 'fenced'");
    env::eventually(Duration::from_secs(20), || Ok(fenced()? == "['over/1/80-85/31337 ethereum']"))?;
    signal(load.id(), libc::SIGINT)?;
    process::output_within(load, env::LONGEST)?;
    for lease in ["beside/1/0-22/31337 ethereum", "over/1/80-85/31337 ethereum"] {
        hold(database, lease, "released")?;
    }
    Ok(())
}

#[test]
fn that_are_none_are_refused() -> anyhow::Result<()> {
    let dump = dump("devchain");
    for (arguments, reason) in [
        (&["--to", "91", "--slice", "0/4"][..], "K from 1 to N"),
        (&["--to", "91", "--slice", "5/4"], "K from 1 to N"),
        (&["--to", "91", "--slice", "1/0"], "K from 1 to N"),
        (&["--to", "91", "--slice", "1/33"], "N at most 32"),
        (&["--to", "91", "--slice", "x"], "K from 1 to N"),
        (&["--slice", "2/4"], "give --to BLOCK"),
        (&["--to", "latest", "--slice", "2/4"], "give --to BLOCK"),
        (&["--to", "2", "--slice", "1/4"], "is empty"),
    ] {
        let arguments = [&["load", "--dump", &dump][..], arguments].concat();
        let output = env::run(env::ingest("slices_refused", &arguments), 2)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(text.contains(reason), "{arguments:?}: {text}");
    }
    Ok(())
}
