//! Flags of what clients may take at the same time (docs/operate/limits.md).

use std::time::Duration;

use axum::http::HeaderName;
use clap::Args;
use trawl::options::LimitSettings;
use trawl::options::rates::{Rate, RateSettings};
use trawl_core::flags::units;
use trawl_serve::Limits;

use super::api_keys::ApiKeys;

/// What clients may take at the same time.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Maximum number of connections; the limit of open files is raised accordingly.
    #[arg(long, env = "TRAWL_API_MAX_CONNECTIONS", default_value_t = 4_096,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,
    /// Maximum number of connections per client, which is an IPv4 address or an IPv6 /64 network.
    #[arg(long, env = "TRAWL_API_MAX_CONNECTIONS_PER_CLIENT", default_value_t = 512,
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections_per_client: u32,
    /// How long a client may read nothing of an answer before its connection is closed.
    #[arg(long, env = "TRAWL_WRITE_TIMEOUT", default_value = "30s", value_parser = units::seconds)]
    write_timeout: Duration,
    /// Maximum request rate per IPv4 address or IPv6 /64 network, such as 300/1m [default: unlimited].
    #[arg(long, env = "TRAWL_RATE_LIMIT", value_name = "N/TIME")]
    rate_limit: Option<Rate>,
    /// File of clients with their own rates: on each line a name, a key, and a rate or `unlimited`.
    #[arg(long, env = "TRAWL_API_KEYS", value_name = "FILE", value_parser = ApiKeys::open, requires = "rate_limit")]
    api_keys: Option<ApiKeys>,
    /// Header in which a proxy passes the address of the client, such as X-Real-IP; of several values the last one is
    /// used. Only for servers that clients can reach only through the proxy.
    #[arg(long, env = "TRAWL_CLIENT_HEADER", value_name = "NAME")]
    pub client_header: Option<HeaderName>,
    /// Maximum number of lists and calls that run at the same time.
    #[arg(long, env = "TRAWL_MAX_READS", default_value_t = 64, value_parser = count)]
    max_reads: usize,
    /// Maximum number of lists and calls that wait for a slot; more are refused.
    #[arg(long, env = "TRAWL_MAX_QUEUE", default_value_t = 512, value_parser = count)]
    max_queue: usize,
    /// How long a request waits for a slot before it is refused.
    #[arg(long, env = "TRAWL_QUEUE_TIMEOUT", default_value = "5s", value_parser = units::seconds)]
    queue_timeout: Duration,
    /// Maximum number of wide scans at the same time.
    #[arg(long, env = "TRAWL_MAX_SCANS", default_value_t = 16, value_parser = count)]
    max_scans: usize,
    /// Maximum number of wide scans per client, including waiting ones.
    #[arg(long, env = "TRAWL_MAX_SCANS_PER_CLIENT", default_value_t = 8, value_parser = count)]
    max_scans_per_client: usize,
    /// Memory for request bodies, at most half of it for one client; at least four times --max-body.
    #[arg(long, env = "TRAWL_BODY_MEMORY", default_value = "256MiB", value_parser = units::bytes)]
    body_memory: u64,
    /// Memory for buffered answers, at most half of it for one client.
    #[arg(long, env = "TRAWL_ANSWER_MEMORY", default_value = "256MiB", value_parser = units::bytes)]
    answer_memory: u64,
}

impl LimitFlags {
    /// The limits of connections.
    pub fn of_connections(&self) -> Limits {
        Limits {
            connections: self.max_connections,
            connections_per_client: self.max_connections_per_client,
            write_timeout: self.write_timeout,
            ..Limits::default()
        }
    }

    /// How many requests are answered in a time.
    pub fn rates(&self) -> Option<RateSettings> {
        let keys = self.api_keys.clone().map(|keys| keys.0).unwrap_or_default();
        self.rate_limit.map(|of_address| RateSettings { of_address, keys })
    }

    /// The other limits.
    pub fn settings(&self) -> LimitSettings {
        LimitSettings {
            chains: 1,
            reads: self.max_reads,
            queue: self.max_queue,
            queue_timeout: self.queue_timeout,
            scans: self.max_scans,
            scans_per_client: self.max_scans_per_client,
            body_memory: self.body_memory,
            answer_memory: self.answer_memory,
        }
    }
}

fn count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=100_000) => Ok(count),
        Ok(_) => Err("must be from 1 to 100000".into()),
        Err(error) => Err(format!("{error}")),
    }
}
