//! `cargo xtask demo`: a newcomer's explorer over real data, in one command.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use xtask::process::Server;
use xtask::{engine_library, tools};

use chains::BUNDLED;
use load::ChainServer;
use node::Process;
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
    #[arg(long, conflicts_with = "live")]
    node: bool,
    /// Also follow a chain that grows by a block every two seconds (anvil, from npm), at the next port.
    #[arg(long)]
    live: bool,
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
    let (processes, served) = serve(&programs, flags)?;
    if flags.check {
        let (fixed, live) = served.split_at(served.len() - usize::from(flags.live));
        check::all(fixed)?;
        live.iter().try_for_each(check::grows)?;
    } else {
        show::show(&served, &engine.url)?;
        while !INTERRUPTED.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(100));
        }
        println!("\nstopping");
    }
    drop(processes);
    stop(served, engine)
}

/// Loads what is to be shown, and starts an API for each chain; nodes and what follows them go on until they are
/// dropped.
fn serve(programs: &Programs, flags: &DemoFlags) -> anyhow::Result<(Vec<Process>, Vec<ChainServer>)> {
    if flags.node {
        let (node, served) = node::serve(programs)?;
        return Ok((vec![node], vec![served]));
    }
    let mut served = load::serve_all(programs, BUNDLED)?;
    if !flags.live {
        return Ok((Vec::new(), served));
    }
    let (processes, live) = node::serve_live(programs, served.len())?;
    served.push(live);
    Ok((processes.into(), served))
}

fn stop(served: Vec<ChainServer>, engine: Server) -> anyhow::Result<()> {
    for chain in served {
        chain.api.stop()?;
    }
    engine.stop()?;
    Ok(())
}
