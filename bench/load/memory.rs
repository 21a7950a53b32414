//! How much memory a load takes while it runs, and whether that grows.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use xtask::{process, workspace};

use crate::programs;
use crate::store::Store;

/// Loads the dump once and the same blocks from a node, with few and with many requests at a time.
pub fn measure(store: &Store, folder: &Path, dump: &Path) -> anyhow::Result<()> {
    println!(
        "\n| load | s | peak MiB (goal: at most 1024) | highest MiB, 2nd quarter | last quarter |\n|---|---|---|---|---|"
    );
    let print = |name: &str, spent: programs::RunCost| {
        let [second, last] = spent.quarters;
        println!("| {name} | {:.1} | {:.0} | {second:.0} | {last:.0} |", spent.wall, spent.peak);
    };
    programs::empty(store, "bench")?;
    print("dump", programs::ingest(store, "bench").args(["load", "--dump"]).arg(dump).run()?);
    let (mut node, url) = node(&crate::dump(folder, NODE_BLOCKS)?)?;
    let loads = ["8", "256"].into_iter().try_for_each(|concurrency| {
        programs::empty(store, "bench")?;
        // The generated blocks have neither call frames nor state.
        let arguments = ["load", "--traces", "off", "--state", "off", "--from", "1", "--concurrency", concurrency];
        let run = programs::ingest(store, "bench").args(arguments).arg("--rpc-url");
        print(&format!("node, `--concurrency {concurrency}`"), run.arg(&url).run()?);
        anyhow::Ok(())
    });
    process::end(&mut node)?;
    loads
}

/// The node keeps its chain in memory as Python's objects, several times as large as the text.
const NODE_BLOCKS: u64 = 600;

/// A node over the dump, and where it listens: its first line.
fn node(dump: &Path) -> anyhow::Result<(Child, String)> {
    let mut command = Command::new("python3");
    command.arg(workspace::fixture("replaynode/replaynode.py")).args(["--port", "0", "--data"]);
    let mut node = command.arg(dump.parent().unwrap_or(dump)).stdout(Stdio::piped()).spawn().context("python3")?;
    let mut url = String::new();
    BufReader::new(node.stdout.take().context("its output")?).read_line(&mut url)?;
    Ok((node, url.trim().to_owned()))
}
