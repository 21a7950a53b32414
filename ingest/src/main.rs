//! `trawl-ingest`: subcommands and flags; no logic.

use std::process::ExitCode;

mod cli;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    use_small_pages();
    let flags = cli::flags();
    flags.log.start("warn,trawl=info");
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
    runtime.block_on(cli::run(flags))
}

/// Batches come and go by the hundred megabytes: in pages of 2 MiB, clearing them anew was a third of a load's own
/// time.
#[cfg(target_os = "linux")]
fn use_small_pages() {
    // SAFETY: no memory is involved, and where the kernel does not know the call nothing changes.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

#[cfg(not(target_os = "linux"))]
fn use_small_pages() {}
