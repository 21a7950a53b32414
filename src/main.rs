//! `trawl-api`: flags, log, services, graceful shutdown; no logic.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use tower::Layer;
use tower::util::MapRequestLayer;
use trawl::app::App;
use trawl::http::metrics::run_upkeep;
use trawl::http::readiness::{self, NotReady};
use trawl::http::router::{router, trim_slash};
use trawl::rpc::start_feed;
use trawl::upstream::UpstreamError;
use trawl_core::store::{HeadWatch, Reader};
use trawl_serve::{Listener, stop_signal};

use flags::Flags;

mod flags;

fn main() -> ExitCode {
    let flags = Flags::of_process();
    flags.log.start("warn,trawl=info");
    keep_freed_memory();
    match run(flags) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("trawl-api: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Batches of a megabyte come and go: given back to the kernel each time, their pages would have to be cleared anew, which
/// was a third of what an Arrow answer costs here. What is free at the top of an arena of the allocator is kept up to so much.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_freed_memory() {
    const KEPT: libc::c_int = 8 << 20;
    // SAFETY: called before there are other threads; values that are out of range change nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT / 2);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn keep_freed_memory() {}

fn exit_code(error: &anyhow::Error) -> u8 {
    let is_usage = matches!(error.downcast_ref(), Some(NotReady::Chain(_))) || error.is::<UpstreamError>();
    if is_usage { 2 } else { 1 }
}

/// How long the start waits for a first look at the database. Whatever it is, this listens then, and says if it is ready.
const FIRST_LOOK: Duration = Duration::from_secs(5);

#[tokio::main]
async fn run(flags: Flags) -> anyhow::Result<()> {
    let metrics =
        metrics_exporter_prometheus::PrometheusBuilder::new().install_recorder().context("cannot keep metrics")?;
    tokio::spawn(run_upkeep(metrics.clone()));
    let reader = Reader::new(&flags.store.address()?, flags.query_timeout, flags.query_memory);
    // It fails only where another provider is installed already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = flags.options()?;
    if let Ok(Err(not_ready)) = tokio::time::timeout(FIRST_LOOK, readiness::check(&reader, &options)).await
        && !not_ready.is_transient()
    {
        return Err(not_ready.into());
    }
    let (is_ready, getting_ready) = tokio::sync::oneshot::channel();
    let head = HeadWatch::follow(reader.clone(), flags.head_interval, async {
        // It is dropped only when all of this ends.
        let _ = getting_ready.await;
    });
    let app = App::new(reader.clone(), head, options.clone(), Some(metrics));
    start_feed(&app);
    let service = MapRequestLayer::new(trim_slash).layer(router(app.clone()));
    let listener = Listener::bind(flags.listen).await?;
    let stop = stop_signal().context("cannot wait for signals")?;
    println!("listening on {}", listener.url());
    let becoming_ready = async move {
        readiness::until_ready(&reader, &options).await?;
        // The head is not followed any more if the server has ended.
        let _ = is_ready.send(());
        Ok(())
    };
    let stop = async move {
        stop.await;
        app.end_sockets().await;
    };
    tokio::select! {
        _ = listener.serve(service, stop) => Ok(()),
        Err(not_ready) = becoming_ready => Err(NotReady::into(not_ready)),
    }
}
