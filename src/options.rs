//! Settings of the API, as `main` reads them from the command line.

use std::time::Duration;

use trawl_core::store::Head;

use crate::enrich::prices::PriceWatch;
use crate::upstream::Upstream;

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct Options {
    /// The chain, for as long as the loaded data does not tell it.
    pub chain_id: Option<u64>,
    /// What to do with a log range that is not wholly indexed.
    pub gaps: Gaps,
    /// Most calls in a JSON-RPC batch.
    pub max_batch: usize,
    /// Longest body of a JSON-RPC request, in bytes.
    pub max_body: usize,
    /// Most logs in an answer of `eth_getLogs`; `None` for all.
    pub max_logs: Option<u64>,
    /// Limits of connections that stay open.
    pub sockets: SocketSettings,
    /// Widest range of blocks that `eth_getLogs` reads without address and topics.
    pub max_unfiltered_blocks: u64,
    /// Most gas of a call.
    pub call_gas: u64,
    /// Longest a call may take.
    pub call_timeout: Duration,
    /// About how much memory state that was read may take.
    pub state_cache_bytes: u64,
    /// What the gas oracle looks at.
    pub oracle: OracleSettings,
    /// Nodes for what the tables do not tell.
    pub upstream: Option<Upstream>,
    /// Memory for answers that are asked for again, in bytes; 0 keeps none.
    pub cache_bytes: u64,
    /// What tokens are worth.
    pub prices: PriceWatch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_id: None,
            gaps: Gaps::Refuse,
            max_batch: 100,
            call_gas: 50_000_000,
            call_timeout: Duration::from_secs(5),
            state_cache_bytes: 128 << 20,
            // As clients of this API family expect.
            max_body: 20_000_000,
            max_logs: Some(1_000),
            sockets: SocketSettings::default(),
            max_unfiltered_blocks: 10_000,
            oracle: OracleSettings::default(),
            upstream: None,
            cache_bytes: 64 << 20,
            prices: PriceWatch::default(),
        }
    }
}

/// The options name another chain than the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the loaded blocks belong to chain {data} and --chain-id says {option}: leave it out, or choose another database"
)]
pub struct OtherChain {
    option: u64,
    pub(crate) data: u64,
}

impl Options {
    /// The chain that is served: the one of the data, or the one of the options while the data does not tell it.
    pub fn served_chain(&self, head: &Head) -> Result<Option<u64>, OtherChain> {
        match (self.chain_id, head.chain_id) {
            (Some(option), Some(data)) if option != data => Err(OtherChain { option, data }),
            (option, data) => Ok(data.or(option)),
        }
    }
}

/// What a log query over missing blocks gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// An error that names the missing ranges.
    Refuse,
    /// What there is.
    Serve,
}

/// What the oracle looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OracleSettings {
    /// How many of the newest blocks.
    pub blocks: u64,
    /// Which percentile of what their transactions paid above the base fee, 0 to 100.
    pub percentile: u64,
}

impl Default for OracleSettings {
    /// What other explorers of this API family do (docs/reference/http-contract.md#fees).
    fn default() -> Self {
        Self { blocks: 200, percentile: 60 }
    }
}

/// Limits of connections that stay open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketSettings {
    /// Most connections.
    pub connections: u32,
    /// Most subscriptions of one connection.
    pub subscriptions: usize,
}

impl Default for SocketSettings {
    fn default() -> Self {
        Self { connections: 1_000, subscriptions: 100 }
    }
}
