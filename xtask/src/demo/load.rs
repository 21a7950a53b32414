//! Loads the bundled blocks of each chain into a database of its own, and serves them.

use std::path::PathBuf;
use std::thread;

use anyhow::{Context as _, anyhow};
use xtask::process::Server;
use xtask::workspace;

use super::blocks::{self, Blocks};
use super::chains::Chain;
use super::programs::Programs;

/// A chain that is loaded and served.
pub struct ChainServer {
    /// The chain whose blocks were loaded.
    pub chain: &'static Chain,
    /// trawl-api over the database of the chain.
    pub api: Server,
    /// What was loaded.
    pub blocks: Blocks,
}

/// Serves all of them, side by side.
pub fn serve_all(programs: &Programs, chains: &'static [Chain]) -> anyhow::Result<Vec<ChainServer>> {
    thread::scope(|scope| {
        let started: Vec<_> = chains
            .iter()
            .enumerate()
            .map(|(position, chain)| scope.spawn(move || serve(programs, chain, position)))
            .collect();
        started.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread ended early"))?).collect()
    })
}

fn serve(programs: &Programs, chain: &'static Chain, position: usize) -> anyhow::Result<ChainServer> {
    programs.ingest(chain, &["migrate"])?;
    let files = dumps(programs, chain)?;
    let id = chain.id.to_string();
    let mut arguments = vec!["load", "--chain-id", &id];
    for file in &files {
        arguments.extend(["--dump", file.to_str().context("the checkout's path is not UTF-8")?]);
    }
    programs.ingest(chain, &arguments)?;
    let api = programs.api(chain, position).with_context(|| chain.name.to_owned())?;
    Ok(ChainServer { chain, api, blocks: blocks::of_chain(chain)? })
}

/// The dump files of a chain; parts are joined into one beside the engine's data.
fn dumps(programs: &Programs, chain: &Chain) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = chain.dumps.iter().map(|dump| workspace::fixture(dump)).collect();
    if let Some(parts) = &chain.parts {
        let file = programs.data.with_extension(format!("{}.ndjson", chain.database));
        std::fs::write(&file, format!("{}\n", blocks::join(parts)?))
            .with_context(|| format!("cannot write {}", file.display()))?;
        files.push(file);
    }
    Ok(files)
}
