//! Serves the probes and the metrics of a run.

use std::net::SocketAddr;

use trawl_ingest::verify::Check;
use trawl_ingest::watch::FollowProgress;
use trawl_metrics::{Build, Exposition, Program, start_at_zero};
use trawl_serve::{Listener, ProgramHealth, probes};

use super::error::Failure;

/// What this program was built from.
const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: env!("TRAWL_COMMIT") };

/// What a run says of itself.
#[derive(Clone)]
struct Run {
    exposition: Exposition,
    /// None of a load, which ends by itself.
    progress: Option<FollowProgress>,
}

impl ProgramHealth for Run {
    fn readiness(&self) -> Result<String, String> {
        self.progress.as_ref().map_or_else(|| Ok("loading".into()), FollowProgress::readiness)
    }

    fn metrics(&self) -> (&'static str, String) {
        self.progress.iter().for_each(FollowProgress::show);
        (trawl_metrics::CONTENT_TYPE, self.exposition.render())
    }
}

/// Counts from now on, and serves what was counted at `listen` until this process ends.
pub async fn serve_probes(listen: SocketAddr, progress: Option<FollowProgress>) -> Result<(), Failure> {
    let exposition = Exposition::install(Program::Ingest, BUILD).map_err(Failure::Metrics)?;
    start_at_zero("trawl_ingest_refused_blocks_total", "check", &Check::names());
    tokio::spawn(exposition.clone().run_upkeep());
    let listener = Listener::bind(listen).await?;
    tracing::info!(url = listener.url(), "serving probes and metrics");
    tokio::spawn(listener.serve(probes(Run { exposition, progress }), std::future::pending()));
    Ok(())
}
