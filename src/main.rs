//! `trawl-api`: flags, log, services, graceful shutdown; no logic.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use tower::Layer;
use tower::util::MapRequestLayer;
use trawl::app::App;
use trawl::remote::upstream::UpstreamError;
use trawl::router::{router, trim_slash};
use trawl::rpc::{Rpc, start_counting};
use trawl::service::readiness;
use trawl::service::readiness::NotReady;
use trawl_core::flags::{StoreFlagsError, exit_codes};
use trawl_core::store::{HeadWatch, Reader};
use trawl_metrics::{Build, Exposition, Program};
use trawl_serve::{Listener, TlsError, stop_signal};

use flags::Flags;

mod flags;

/// What this program was built from.
const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: env!("TRAWL_COMMIT") };

fn main() -> ExitCode {
    let flags = Flags::of_process();
    flags.log.start("warn,trawl=info");
    keep_freed_memory();
    match start(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trawl-api: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Keeps up to 8 MiB of free memory at the top of each arena of the allocator. Batches of a megabyte are freed all the
/// time; if they went back to the kernel, it would have to clear their pages again, which was a third of the cost of an
/// Arrow answer.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_freed_memory() {
    const KEPT_BYTES: libc::c_int = 8 << 20;
    // SAFETY: called before there are other threads; values that are out of range change nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES / 2);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}

fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(NotReady::Chain(_)) => 2,
        Some(NotReady::Schema(error)) => exit_codes::of_schema(error).unwrap_or(1),
        Some(NotReady::Store(error)) => exit_codes::of_store(error).unwrap_or(1),
        None if error.downcast_ref::<StoreFlagsError>().is_some_and(StoreFlagsError::is_usage) => 2,
        None if error.is::<UpstreamError>() || error.is::<TlsError>() => 2,
        None => 1,
    }
}

/// The longest that the start waits for the first check of the database. After that the server listens in any case, and
/// reports whether it is ready.
const FIRST_CHECK_TIMEOUT: Duration = Duration::from_secs(5);

/// Stack of a thread that answers requests, in bytes. A page waits for a dozen statements at once, and their futures
/// are made there; what is not used of a stack is no memory.
const STACK_SIZE: usize = 4 << 20;

fn start(flags: Flags) -> anyhow::Result<()> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.enable_all().thread_stack_size(STACK_SIZE);
    runtime.build().context("cannot start threads")?.block_on(run(flags))
}

async fn run(flags: Flags) -> anyhow::Result<()> {
    let metrics = Exposition::install(Program::Api, BUILD).context("cannot keep metrics")?;
    tokio::spawn(metrics.clone().run_upkeep());
    start_counting();
    // It fails only if another provider is installed already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let reader = Reader::of_several(&flags.store.addresses()?, flags.query_timeout, flags.query_memory)
        .with_coalesced_pages(flags.max_coalesced_pages.into());
    let options = flags.options()?;
    let tls = flags.tls.open()?;
    if let Ok(Err(not_ready)) = tokio::time::timeout(FIRST_CHECK_TIMEOUT, readiness::check(&reader, &options)).await
        && !not_ready.is_transient()
    {
        return Err(not_ready.into());
    }
    let (is_ready, getting_ready) = tokio::sync::oneshot::channel();
    let head = HeadWatch::follow(reader.clone(), flags.head(), async {
        // The sender is dropped only when the server ends.
        let _ = getting_ready.await;
    });
    let app = App::new(reader.clone(), head, options.clone(), Some(metrics));
    let rpc = Rpc::new(app);
    rpc.start_feed();
    let service = MapRequestLayer::new(trim_slash).layer(router(rpc.clone(), flags.web()));
    let listener = Listener::bind(flags.listen).await?.with_limits(flags.limits()).with_tls(tls);
    let stop = stop_signal().context("cannot wait for signals")?;
    println!("listening on {}", listener.url());
    let becoming_ready = async move {
        readiness::until_ready(&reader, &options).await?;
        // There is no receiver any more if the server has ended.
        let _ = is_ready.send(());
        Ok(())
    };
    let stop = async move {
        stop.await;
        rpc.end_sockets().await;
    };
    tokio::select! {
        _ = listener.serve(service, stop) => Ok(()),
        Err(not_ready) = becoming_ready => Err(NotReady::into(not_ready)),
    }
}
