//! `cargo xtask bench`: builds the programs and runs the measurements of `tests/bench`.

use std::process::Command;

use clap::Args;
use xtask::{engine_library, process, workspace};

/// Flags of the measurements.
#[derive(Debug, Args)]
pub struct BenchFlags {
    /// Generated logs; the data set is kept under `target/bench` and made once for each size.
    #[arg(long, default_value_t = 20_000_000)]
    logs: u64,
    /// How often each leg is measured; the legs take turns.
    #[arg(long, default_value_t = 200)]
    rounds: u32,
}

/// Measures.
pub fn run(flags: &BenchFlags) -> anyhow::Result<()> {
    let library = engine_library::ensure()?;
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(arguments).current_dir(workspace::root()).env("TRAWL_LIBRARY", &library);
        command
    };
    process::run(&mut cargo(&["build", "--release", "--quiet", "--workspace", "--bins"]))?;
    let (logs, rounds) = (flags.logs.to_string(), flags.rounds.to_string());
    process::run(&mut cargo(&[
        "bench",
        "--quiet",
        "--bench",
        "trawl-bench",
        "--",
        "--logs",
        &logs,
        "--rounds",
        &rounds,
    ]))
}
