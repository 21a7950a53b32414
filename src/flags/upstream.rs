//! Flags of the nodes that `trawl-api` calls.

use std::time::Duration;

use clap::Args;
use trawl::remote::upstream::{Upstream, UpstreamError, UpstreamSettings};
use trawl_core::flags::units;

/// The upstream nodes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Upstream")]
pub(super) struct UpstreamFlags {
    /// Node for eth_sendRawTransaction and for what the tables do not cover. If there are several, the next one is used
    /// when one fails.
    #[arg(
        long = "upstream-rpc-url",
        env = "TRAWL_UPSTREAM_RPC_URL",
        value_name = "URL",
        value_delimiter = ',',
        hide_env_values = true
    )]
    urls: Vec<String>,
    /// Maximum time that a node may take to answer.
    #[arg(long = "upstream-timeout", alias = "upstream-timeout-ms", env = "TRAWL_UPSTREAM_TIMEOUT",
          default_value = "10s", value_parser = units::milliseconds)]
    timeout: Duration,
    /// Maximum number of calls to nodes at the same time.
    #[arg(long = "upstream-connections", env = "TRAWL_UPSTREAM_CONNECTIONS", value_name = "N", default_value_t = 32,
          value_parser = clap::value_parser!(u16).range(1..))]
    connections: u16,
}

impl UpstreamFlags {
    /// The nodes, if there are any.
    ///
    /// # Errors
    ///
    /// When a URL cannot be used.
    pub fn upstream(&self) -> Result<Option<Upstream>, UpstreamError> {
        let settings = UpstreamSettings { timeout: self.timeout, connections: self.connections.into() };
        (!self.urls.is_empty()).then(|| Upstream::new(&self.urls, settings)).transpose()
    }
}
