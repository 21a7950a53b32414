//! What the API's metrics say of the newest blocks.

use anyhow::{Context as _, ensure};
use xtask::http;

/// Blocks that are not settled.
#[derive(Debug, Clone, Copy)]
pub struct NewestBlocks {
    /// Of them in the API's memory.
    pub in_memory: f64,
    /// Of them beyond `--hot-memory`.
    pub in_tables: f64,
    /// What those in memory take, in MiB.
    pub mebibytes: f64,
}

impl NewestBlocks {
    /// As the API at a URL has them now.
    pub fn of(url: &str) -> anyhow::Result<Self> {
        let response = http::get(&http::agent(), &format!("{url}/metrics"))?;
        ensure!(response.status == 200, "/metrics: status {}", response.status);
        let text = response.text();
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|value| value.trim().parse::<f64>().ok()).with_context(|| format!("/metrics has no {name}"))
        };
        Ok(Self {
            in_memory: value("trawl_newest_blocks{place=\"memory\"}")?,
            in_tables: value("trawl_newest_blocks{place=\"tables\"}")?,
            mebibytes: value("trawl_newest_bytes")? / 1024. / 1024.,
        })
    }
}
