//! `cargo xtask demo`: a newcomer's explorer over real data, in one command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use xtask::process::Server;
use xtask::{engine_library, tools};

use chains::BUNDLED;
use load::ChainServer;
use node::Node;
use programs::{Ports, Programs};

mod blocks;
mod chains;
mod check;
mod compare;
mod fee;
mod load;
mod node;
mod programs;
mod show;

/// Flags of the demo.
#[derive(Debug, Args)]
pub struct DemoFlags {
    /// Use free ports, check the answers against the data, and exit: 0 on success.
    #[arg(long)]
    check: bool,
    /// Load a scenario chain from a real node (anvil, from npm) over JSON-RPC instead of the bundled blocks.
    #[arg(long)]
    node: bool,
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupted(_: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Runs the demo.
pub fn run(flags: &DemoFlags) -> anyhow::Result<()> {
    tools::require("cargo", "Rust (https://rustup.rs)")?;
    let library = engine_library::ensure()?;
    programs::build()?;
    // SAFETY: the handler only stores to an atomic.
    unsafe {
        let handler: extern "C" fn(libc::c_int) = interrupted;
        libc::signal(libc::SIGINT, handler as libc::sighandler_t);
    }
    let (programs, engine) = Programs::start(&library, if flags.check { Ports::Free } else { Ports::Fixed })?;
    let (_node, served) = serve(&programs, flags.node)?;
    if flags.check {
        check::all(&served)?;
    } else {
        show::show(&served, &engine.url)?;
        while !INTERRUPTED.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        println!("\nstopping");
    }
    stop(served, engine)
}

/// Loads what is to be shown, and starts an API for each chain; the scenario's node goes on until it is dropped.
fn serve(programs: &Programs, is_scenario: bool) -> anyhow::Result<(Option<Node>, Vec<ChainServer>)> {
    if is_scenario {
        let (node, served) = node::serve(programs)?;
        return Ok((Some(node), vec![served]));
    }
    Ok((None, load::serve_all(programs, BUNDLED)?))
}

fn stop(served: Vec<ChainServer>, engine: Server) -> anyhow::Result<()> {
    for chain in served {
        chain.api.stop()?;
    }
    engine.stop()?;
    Ok(())
}
