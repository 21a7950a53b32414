//! The flags of what runs serve.

use clap::Args;

/// Where a run says how it is.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Probes")]
pub struct ProbeFlags {
    /// Address to serve /health/live, /health/ready and /metrics on, such as 127.0.0.1:9002 [default: none].
    #[arg(long, env = "TRAWL_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<std::net::SocketAddr>,
}
