//! `trawl-api`: flags, log, services, graceful shutdown; no logic.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use futures_util::future::{join_all, try_join_all};
use tokio::sync::oneshot;
use tower::Layer;
use tower::util::MapRequestLayer;
use trawl::app::App;
use trawl::options::Options;
use trawl::remote::upstream::UpstreamError;
use trawl::router::{ChainService, chains_router, router, single_slashes};
use trawl::rpc::{Rpc, start_counting};
use trawl::service::readiness;
use trawl::service::readiness::NotReady;
use trawl_core::flags::{StoreFlagsError, exit_codes};
use trawl_core::served_chain::{ServedChain, for_chain};
use trawl_core::store::{HeadWatch, Reader};
use trawl_metrics::{Build, Exposition, Program};
use trawl_serve::{Listener, TlsError, stop_signal};

use flags::plan::ChainPlan;
use flags::{ChainsError, Flags};

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

/// Retains up to 8 MiB of free memory at the top of each arena of the allocator. Batches of a megabyte are freed all
/// the time; if they went back to the kernel, it would have to clear their pages again, which was a third of the cost
/// of an Arrow answer.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn keep_freed_memory() {
    const RETAINED_BYTES: libc::c_int = 8 << 20;
    // SAFETY: called before there are other threads; values that are out of range change nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, RETAINED_BYTES / 2);
        libc::mallopt(libc::M_TRIM_THRESHOLD, RETAINED_BYTES);
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
        None if error.is::<UpstreamError>() || error.is::<TlsError>() || error.is::<ChainsError>() => 2,
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
    let metrics = match flags.has_names() {
        false => Exposition::install(Program::Api, BUILD),
        true => Exposition::install_by_chain(Program::Api, BUILD, || ServedChain::of_task().map(ServedChain::name)),
    };
    let metrics = metrics.context("cannot keep metrics")?;
    tokio::spawn(metrics.clone().run_upkeep());
    // It fails only if another provider is installed already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let plans = flags.plans()?;
    let tls = flags.tls.open()?;
    let starting: Vec<ChainStart> = plans.into_iter().map(|plan| ChainStart::new(plan, &flags, &metrics)).collect();
    check_first(&starting).await?;
    let (served, becoming_ready) = serve_all(starting, &metrics);
    let service = MapRequestLayer::new(single_slashes).layer(served.routes);
    let listener = Listener::bind(flags.listen).await?.with_limits(flags.limits()).with_tls(tls);
    let stop = stop_signal().context("cannot wait for signals")?;
    println!("listening on {}", listener.url());
    let stop = async move {
        stop.await;
        join_all(served.endpoints.iter().map(Rpc::end_sockets)).await;
    };
    tokio::select! {
        _ = listener.serve(service, stop) => Ok(()),
        Err(not_ready) = becoming_ready => Err(NotReady::into(not_ready)),
    }
}

/// A chain before it is served.
struct ChainStart {
    plan: ChainPlan,
    reader: Reader,
}

impl ChainStart {
    fn new(plan: ChainPlan, flags: &Flags, metrics: &Exposition) -> Self {
        let start = || {
            metrics.start_chain();
            start_counting();
        };
        plan.chain.map_or_else(start, |chain| chain.sync_scope(start));
        let reader = Reader::of_several(&plan.addresses, flags.query_timeout, flags.query_memory)
            .with_coalesced_pages(flags.max_coalesced_pages.into());
        Self { plan, reader }
    }
}

/// Ends the start where waiting would not help any chain.
async fn check_first(starting: &[ChainStart]) -> Result<(), NotReady> {
    let check = async |ChainStart { plan, reader }: &ChainStart| {
        let check = readiness::check(reader, &plan.options);
        let outcome = tokio::time::timeout(FIRST_CHECK_TIMEOUT, for_chain(plan.chain, check)).await;
        outcome.ok().and_then(Result::err).filter(|not_ready| !not_ready.is_transient())
    };
    let hopeless: Vec<NotReady> = join_all(starting.iter().map(check)).await.into_iter().flatten().collect();
    match hopeless.len() == starting.len() {
        true => hopeless.into_iter().next().map_or(Ok(()), Err),
        false => Ok(()),
    }
}

/// What the server answers with.
struct RouteSet {
    routes: Router,
    endpoints: Vec<Rpc>,
}

/// The routes of all chains, and what ends once each is ready, or fails if the only one cannot be.
fn serve_all(
    starting: Vec<ChainStart>,
    metrics: &Exposition,
) -> (RouteSet, impl Future<Output = Result<(), NotReady>> + use<>) {
    let mut endpoints: Vec<Rpc> = Vec::new();
    let (mut services, mut becoming_ready, mut routes) = (Vec::new(), Vec::new(), None);
    for ChainStart { plan: ChainPlan { chain, head, options, web, .. }, reader } in starting {
        let (is_ready, getting_ready) = oneshot::channel();
        let start = || {
            let head = HeadWatch::follow(reader.clone(), head, async {
                // The sender is dropped only when the server ends.
                let _ = getting_ready.await;
            });
            let app = match endpoints.first() {
                Some(first) => first.app().of_another_chain(reader.clone(), head, options.clone()),
                None => App::new(reader.clone(), head, options.clone(), chain.is_none().then(|| metrics.clone())),
            };
            let rpc = Rpc::new(app);
            rpc.start_feed();
            rpc.record_orphans();
            rpc
        };
        let rpc = match chain {
            Some(chain) => chain.sync_scope(start),
            None => start(),
        };
        match chain {
            Some(chain) => services.push(ChainService::new(chain, rpc.clone(), web)),
            None => routes = Some(router(rpc.clone(), web)),
        }
        endpoints.push(rpc);
        becoming_ready.push(for_chain(chain, become_ready(chain, reader, options, is_ready)));
    }
    let routes = routes.unwrap_or_else(|| chains_router(services, metrics.clone()));
    (RouteSet { routes, endpoints }, async { try_join_all(becoming_ready).await.map(drop) })
}

/// Lets a chain be followed once its database is usable.
async fn become_ready(
    chain: Option<ServedChain>,
    reader: Reader,
    options: Options,
    is_ready: oneshot::Sender<()>,
) -> Result<(), NotReady> {
    match chain {
        None => readiness::until_ready(&reader, &options).await?,
        Some(_) => readiness::until_ready_at_last(&reader, &options).await,
    }
    // There is no receiver any more if the server has ended.
    let _ = is_ready.send(());
    Ok(())
}
