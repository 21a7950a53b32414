//! `trawl-ingest`: subcommands and flags; no logic.

use std::process::ExitCode;

use clap::Parser;

mod flags;
mod run;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let flags = flags::Flags::parse();
    flags.log.start();
    // reqwest is built without a provider of its own, so that there is one TLS library in the tree.
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was installed already");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("trawl-ingest: cannot start threads: {error}");
            return ExitCode::FAILURE;
        }
    };
    runtime.block_on(run::run(flags))
}
