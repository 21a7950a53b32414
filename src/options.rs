//! Settings of the API, as `main` reads them from the command line.

pub mod rates;

use std::time::Duration;

use alloy_primitives::address;
use axum::http::HeaderName;
use trawl_core::primitives::Address;
use trawl_core::primitives::user_operation::EntryPoints;
use trawl_core::store::Head;

use crate::remote::prices::PriceWatch;
use crate::remote::upstream::Upstream;
use rates::RateSettings;

/// The registry of ENS on Ethereum and its test networks (<https://docs.ens.domains/learn/deployments>).
pub const ENS_REGISTRY: Address = address!("00000000000C2E074eC69A0dFb2997BA6C7d2e1e");

/// Settings of the API.
#[derive(Debug, Clone)]
pub struct Options {
    /// The chain id, used while the loaded data has none.
    pub chain_id: Option<u64>,
    /// Name of the chain; that of the registry if there is none.
    pub chain_name: Option<String>,
    /// Symbol of its coin; that of the registry if there is none.
    pub coin: Option<String>,
    /// What comes before the paths of all routes, as clients write it: `/` and the name of one of several chains, else
    /// nothing.
    pub path_prefix: String,
    /// Whether language models are served at `/mcp`.
    pub mcp: bool,
    /// Whether visitors may run statements under accounts of their own, at `/sql`.
    pub sql_console: bool,
    /// The registry of ENS; none where no names are looked up.
    pub ens_registry: Option<Address>,
    /// The contracts whose events are user operations.
    pub entry_points: EntryPoints,
    /// The answer to a log query over blocks that are not all indexed.
    pub gaps: Gaps,
    /// Most calls in a JSON-RPC batch at `/api/eth-rpc`.
    pub max_batch: usize,
    /// Most calls in a JSON-RPC batch at `/rpc`.
    pub rpc_max_batch: usize,
    /// Longest body of a JSON-RPC request, in bytes.
    pub max_body: usize,
    /// Most logs in an answer of `eth_getLogs`; `None` for all.
    pub max_logs: Option<u64>,
    /// Most logs or traces in an answer at `/rpc`, where longer ones are refused; `None` for all.
    pub rpc_max_logs: Option<u64>,
    /// Limits of connections that stay open.
    pub sockets: SocketSettings,
    /// What clients may take at the same time.
    pub limits: LimitSettings,
    /// How many requests are answered in a time; `None` for all.
    pub rates: Option<RateSettings>,
    /// The header in which a proxy says who the client is; without, it is who connects.
    pub client_header: Option<HeaderName>,
    /// Widest range of blocks that `eth_getLogs` reads without address and topics.
    pub max_unfiltered_blocks: u64,
    /// Most gas of a call.
    pub call_gas: u64,
    /// The longest a call may take.
    pub call_timeout: Duration,
    /// A statement whose first rows take longer is logged with the id of its request; `None` for none.
    pub slow_statement: Option<Duration>,
    /// Whether each request is a line of the log.
    pub access_log: bool,
    /// The approximate memory of the cache of state, in bytes.
    pub state_cache_bytes: u64,
    /// Settings of the gas oracle.
    pub oracle: OracleSettings,
    /// Nodes for calls that the tables cannot answer.
    pub upstream: Option<Upstream>,
    /// Memory of the cache of answers, in bytes; 0 turns it off.
    pub cache_bytes: u64,
    /// Memory of the cache of rows of settled blocks, in bytes; 0 turns it off.
    pub settled_cache_bytes: u64,
    /// After how long without a new block a chain that is followed is not healthy; `None` for never.
    pub stale_after: Option<Duration>,
    /// Prices of tokens.
    pub prices: PriceWatch,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_id: None,
            chain_name: None,
            coin: None,
            path_prefix: String::new(),
            mcp: true,
            sql_console: false,
            ens_registry: Some(ENS_REGISTRY),
            entry_points: EntryPoints::default(),
            gaps: Gaps::Refuse,
            max_batch: 100,
            // As many as geth allows; viem sends so many at once, Chainlink and Blockscout 250.
            rpc_max_batch: 1_000,
            call_gas: 50_000_000,
            call_timeout: Duration::from_secs(5),
            slow_statement: Some(Duration::from_secs(5)),
            access_log: false,
            state_cache_bytes: 128 << 20,
            // As clients of this API family expect.
            max_body: 20_000_000,
            max_logs: Some(1_000),
            rpc_max_logs: Some(20_000),
            sockets: SocketSettings::default(),
            limits: LimitSettings::default(),
            rates: None,
            client_header: None,
            max_unfiltered_blocks: 10_000,
            oracle: OracleSettings::default(),
            upstream: None,
            cache_bytes: 64 << 20,
            settled_cache_bytes: 128 << 20,
            stale_after: Some(Duration::from_secs(60)),
            prices: PriceWatch::default(),
        }
    }
}

/// The options name another chain than the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the loaded blocks belong to chain {data}, but --chain-id is {option}: leave it out, or choose another database"
)]
pub struct OtherChain {
    option: u64,
    pub(crate) data: u64,
}

impl Options {
    /// The chain id that is served: that of the data, or that of the options while the data has none.
    ///
    /// # Errors
    ///
    /// When data and options name different chains.
    pub fn served_chain(&self, head: &Head) -> Result<Option<u64>, OtherChain> {
        match (self.chain_id, head.chain_id) {
            (Some(option), Some(data)) if option != data => Err(OtherChain { option, data }),
            (option, data) => Ok(data.or(option)),
        }
    }
}

/// The answer to a log query over missing blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// An error that names the missing ranges.
    Refuse,
    /// The logs of the indexed blocks.
    Serve,
}

/// Settings of the gas oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OracleSettings {
    /// The number of newest blocks that it reads.
    pub blocks: u64,
    /// The percentile of the tips of their transactions, 0 to 100.
    pub percentile: u64,
}

impl Default for OracleSettings {
    /// The settings of other explorers of this API family (docs/reference/http-contract.md#fees).
    fn default() -> Self {
        Self { blocks: 200, percentile: 60 }
    }
}

/// Limits of connections that stay open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SocketSettings {
    /// Most connections that are open at the same time.
    pub connections: u32,
    /// Most connections of one client.
    pub connections_per_client: u32,
    /// Most subscriptions of one connection.
    pub subscriptions: usize,
}

impl Default for SocketSettings {
    fn default() -> Self {
        Self { connections: 1_000, connections_per_client: 250, subscriptions: 100 }
    }
}

/// What clients may take at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitSettings {
    /// How many chains share them.
    pub chains: usize,
    /// Most lists and calls that are answered at the same time.
    pub reads: usize,
    /// Most that wait for that.
    pub queue: usize,
    /// The longest that anything waits for its slot.
    pub queue_timeout: Duration,
    /// Most wide scans.
    pub scans: usize,
    /// Most wide scans of one client, those that wait among them.
    pub scans_per_client: usize,
    /// Most memory of request bodies, in bytes.
    pub body_memory: u64,
    /// Most memory of answers that are whole in memory, in bytes.
    pub answer_memory: u64,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self {
            chains: 1,
            reads: 64,
            queue: 512,
            queue_timeout: Duration::from_secs(5),
            scans: 16,
            scans_per_client: 8,
            body_memory: 256 << 20,
            answer_memory: 256 << 20,
        }
    }
}
