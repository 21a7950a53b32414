//! `trawl-api`: flags, tracing, listener, graceful shutdown; no logic.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::serve::ListenerExt;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tower::Layer;
use tower::util::MapRequestLayer;
use trawl::api::accept;
use trawl::app::App;
use trawl::http::metrics::run_upkeep;
use trawl::http::readiness::{self, NotReady};
use trawl::http::router::{router, trim_slash};
use trawl::rpc::start_feed;
use trawl::upstream::UpstreamError;
use trawl_core::store::{HeadWatch, Reader};

use flags::Flags;

mod flags;

/// How long requests in progress may go on after the order to stop.
const GRACE: Duration = Duration::from_secs(25);

fn main() -> ExitCode {
    let flags = Flags::of_process();
    flags.log.start();
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
    let address = flags.store.address()?;
    let reader = Reader::new(&address, flags.query_timeout, flags.query_memory);
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
    let router = router(app.clone());
    let listener =
        TcpListener::bind(flags.listen).await.with_context(|| format!("cannot listen on {}", flags.listen))?;
    println!("listening on http://{}", listener.local_addr()?);
    let becoming_ready = async move {
        readiness::until_ready(&reader, &options).await?;
        // Nobody follows the commits any more if the server has ended.
        let _ = is_ready.send(());
        Ok(())
    };
    tokio::select! {
        served = serve(listener, app, router) => served,
        Err(not_ready) = becoming_ready => Err(NotReady::into(not_ready)),
    }
}

/// Serves until the order to stop, and then until the requests in hand are answered.
async fn serve(listener: TcpListener, app: App, router: Router) -> anyhow::Result<()> {
    let service = MapRequestLayer::new(trim_slash).layer(router);
    let (stopping, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let serving = accept::serve(listener.tap_io(prepare), service, accept::HEAD_LIMIT, async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
        app.end_sockets().await;
        // Whoever waits has gone only if the server has ended already.
        let _ = stopping.send(());
    });
    tokio::select! {
        () = serving => {}
        () = async { let _ = stopped.await; tokio::time::sleep(GRACE).await } => {}
    }
    Ok(())
}

/// Silence after which a client's machine is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// Between further such questions. After four without an answer, that is two minutes in all, the connection ends.
const REPEATED: Duration = Duration::from_secs(15);

/// Sets a client's connection up.
fn prepare(connection: &mut TcpStream) {
    // Small answers must not wait for the acknowledgement of the piece before them.
    if let Err(error) = connection.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps Nagle's algorithm");
    }
    // A client whose machine has vanished would hold its connection, and a query behind it, for ever.
    let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(REPEATED).with_retries(4);
    if let Err(error) = SockRef::from(&*connection).set_tcp_keepalive(&keepalive) {
        tracing::debug!(%error, "a connection goes without keepalive");
    }
}
