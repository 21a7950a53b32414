//! The problems that clients see: here each gets its HTTP status, its JSON-RPC code and its text.

mod causes;
mod codes;
mod response;
#[cfg(test)]
mod tests;
mod words;

use axum::http::StatusCode;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, U256};
use trawl_core::schema::{BlockPart, OptionalTable};
use trawl_evm::simulation::Refusal;
use trawl_evm::{Failure, RulesError};
use words::ranges;
pub use words::{InvalidParameter, Limit, MissingState, UncountedReason};

/// Every failure that a client can see.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Wrong REST parameters, one entry each.
    #[error("Invalid parameter(s)")]
    Invalid(Vec<InvalidParameter>),
    /// A REST path that names a block by a negative number.
    #[error("Invalid number")]
    InvalidNumber(Vec<InvalidParameter>),
    /// Bytes that cannot be read as a request.
    #[error("Bad request")]
    Malformed,
    /// A header that names no block.
    #[error("Invalid header: Trawl-Min-Block is a block number in decimal digits")]
    InvalidMinBlock,
    /// A block that the client knows of is not known here yet.
    #[error("This server does not know the block of Trawl-Min-Block yet; try again shortly")]
    BlockNotThereYet,
    /// The requested object does not exist.
    #[error("Not found")]
    NotFound,
    /// The only known block at this height was reorganised.
    #[error("Block lost consensus")]
    LostConsensus(B256),
    /// The block is indexed, but a part that the answer needs is not.
    #[error("{} of block {block} are not indexed", part.title())]
    PartMissing {
        /// The part that is not indexed.
        part: BlockPart,
        /// Height of the block.
        block: BlockNumber,
    },
    /// An optional table that the answer needs does not exist here.
    #[error("The table {0} is left out here; `trawl-ingest migrate --with {0}` makes it")]
    LeftOut(OptionalTable),
    /// Balances of tokens are not counted here, or not of this token.
    #[error("Token balances are not known here: {0}")]
    NotCounted(UncountedReason),
    /// The source of the block did not have all columns that the answer needs.
    #[error("{what} is indexed without {}", columns.join(", "))]
    ColumnsMissing {
        /// The block or transaction.
        what: String,
        /// The missing columns, as the tables name them.
        columns: Vec<String>,
    },
    /// What is indexed of a block does not hash to what its header says, or is not enough to be hashed.
    #[error("the receipts of block {0} cannot be proven: {1}")]
    NotProvable(BlockNumber, String),
    /// What is indexed of a block does not hash to what the chain says, or is not enough to be hashed.
    #[error("block {0} cannot be encoded as it was hashed: {1}")]
    NotEncodable(BlockNumber, String),
    /// An unknown path under the API.
    #[error("Unknown API v2 action")]
    UnknownAction,
    /// A list of user operations that would take a read of all of them.
    #[error("{0} of user operations (ERC-4337) are not listed here: no table has them")]
    UserOperations(&'static str),
    /// A wrong HTTP method.
    #[error("Method not allowed")]
    MethodNotAllowed,
    /// The client does not accept JSON.
    #[error("Not acceptable: answers are application/json")]
    NotAcceptable,
    /// The query string is too long.
    #[error("URI too long")]
    UriTooLong,
    /// The body is too long.
    #[error("Payload too large")]
    PayloadTooLarge,
    /// The store has not answered since the start.
    #[error("Not ready: the database has not answered yet")]
    NotReady,
    /// No block is committed.
    #[error("Not ready: no block is loaded yet")]
    NothingLoaded,
    /// Rows were lost, so that nothing, or nothing of this kind, can be answered for certain.
    #[error("Not ready: rows of this database were lost; its operator can repair it")]
    Damaged,
    /// The store does not answer.
    #[error("The database cannot be reached; try again shortly")]
    Unreachable,
    /// This server or the store has as much to do as it can take.
    #[error("Too busy; try again shortly")]
    Busy,
    /// A client has as much in progress as one may have.
    #[error("Too many requests of this client are in progress; try again when some have finished")]
    TooMuchAtOnce,
    /// A client has sent as many requests as are answered in a time.
    #[error(
        "Too many requests: the limit is {limit} in {}; try again in {seconds} s",
        humantime::format_duration(*period)
    )]
    TooManyRequests {
        /// How many are answered.
        limit: u32,
        /// In what time.
        period: std::time::Duration,
        /// The time after which there is an answer again.
        seconds: u64,
    },
    /// A client has as many filters as one may have.
    #[error("This client has too many filters: uninstall some, or try again when some have been idle for 5 minutes")]
    TooManyFilters,
    /// The blocks of an answer were reorganised while it was read.
    #[error("The chain was reorganised while this was read; try again")]
    Reorganised,
    /// The body of a request does not arrive.
    #[error("Request Timeout")]
    RequestTimeout,
    /// A statement ran into its time or memory limit. On REST it is the 500 of other explorers, with a text that helps
    /// (docs/reference/http-contract.md#errors); 408 would make browsers and proxies retry the same request.
    #[error("The query exceeds the limits of this server: narrow it")]
    TooExpensive,
    /// A fault of this server; its cause is in the log.
    #[error("Internal server error")]
    Internal,
    /// Part of the requested range is not indexed.
    #[error("blocks {} are not indexed", ranges(.0))]
    BlocksMissing(Vec<BlockRange>),
    /// The call frames of part of the requested range are not indexed.
    #[error("the traces of blocks {} are not indexed", ranges(.0))]
    TracesMissing(Vec<BlockRange>),
    /// The state changes of some blocks are not indexed, so the state after them is not known.
    #[error("historical state is not available here, as it needs the changes of every block from 0 on: {0}")]
    StateMissing(MissingState),
    /// The EVM's rules at a block are not known.
    #[error(transparent)]
    RulesUnknown(RulesError),
    /// A call on state exceeded its time limit. It did not fail: with more time it might succeed.
    #[error("execution aborted (timeout): this server allows calls less time; make the call smaller, or try again")]
    CallTooLong,
    /// A call on state failed.
    #[error(transparent)]
    Call(Failure),
    /// A simulation that is refused.
    #[error(transparent)]
    Simulation(Refusal),
    /// A call for another chain, as nodes say it.
    #[error("chainId does not match node's (have={have}, want={want})")]
    OtherChain {
        /// The chain of the call.
        have: U256,
        /// The chain that is served.
        want: u64,
    },
    /// No block is known by that name.
    #[error("header not found")]
    BlockNotFound,
    /// A cursor whose block was reorganised.
    #[error("block {block} is no longer part of the chain")]
    Forked {
        /// Height of the block of the cursor.
        block: BlockNumber,
        /// Keccak-256 of its header.
        hash: B256,
        /// The last common block of its branch and the chain; `None` if the block is unknown.
        fork: Option<(BlockNumber, B256)>,
    },
    /// Wrong JSON-RPC parameters.
    #[error("{0}")]
    InvalidParams(String),
    /// A JSON-RPC method that is not served.
    #[error("Method not found.")]
    MethodNotFound,
    /// The same, as nodes say it.
    #[error("the method {0} does not exist/is not available")]
    NoSuchMethod(String),
    /// A log filter that names a block by an unknown hash.
    #[error("Invalid block hash")]
    UnknownBlockHash,
    /// A filter that does not exist: unknown, idle for too long, or of blocks that have left the chain.
    #[error("filter not found")]
    FilterNotFound,
    /// The same as [`Problem::UnknownBlockHash`], as nodes say it.
    #[error("unknown block")]
    UnknownBlock,
    /// More alternatives than a filter may have, in geth's words.
    #[error("exceed max addresses or topics per search position: {limit}")]
    TooManyAlternatives {
        /// Most alternatives of a position.
        limit: usize,
    },
    /// More rows than an answer may have, which is never cut. Clients that go on with the range find it in this text:
    /// in reth's words in front, and in Infura's at the end, with upper-case digits, as Chainlink's log poller reads.
    #[error(
        "query exceeds max results {limit}, {}: query returned more than {limit} results. {}",
        words::retry(*fitting), words::try_range(*fitting)
    )]
    TooManyRows {
        /// Most rows of an answer.
        limit: u64,
        /// Blocks of the request that do not have more.
        fitting: BlockRange,
    },
    /// More blocks than a query may cover that names nothing else.
    #[error(
        "query exceeds max block range {limit}, {}: query without {selectors} covers more than {limit} blocks. {}",
        words::retry(*fitting), words::try_range(*fitting)
    )]
    TooManyBlocks {
        /// What it could name.
        selectors: &'static str,
        /// Most blocks of such a query.
        limit: u64,
        /// As many of the request's first blocks.
        fitting: BlockRange,
    },
    /// Logs that take too much time or memory, or a longer message than a WebSocket may have.
    #[error("query exceeds max results of this server, {}: {reason}. {}", words::retry(*fitting), words::try_range(*fitting))]
    TooManyLogs {
        /// What the query exceeds.
        reason: Limit,
        /// Fewer blocks of the request, which are less than that or likely so.
        fitting: BlockRange,
    },
    /// A JSON-RPC method that only a node can answer, while none is configured.
    #[error("`{0}` needs a node: this server has no --upstream-rpc-url")]
    NoUpstream(&'static str),
    /// A proof of state, while no node is configured.
    #[error(
        "`eth_getProof` needs a node, and this server has no --upstream-rpc-url: the state here is not \
         settled, has more than 10,000 rows, or does not have the root in the header of the block"
    )]
    NoStateProofs,
    /// A JSON-RPC method that sends notifications, which need a WebSocket.
    #[error("notifications need a WebSocket: connect to this path with ws:// or wss://")]
    NeedsSocket,
    /// A subscription of an unknown kind.
    #[error("no \"{0}\" subscription in eth namespace")]
    NoSuchSubscription(String),
    /// An answer too long for one message of a WebSocket.
    #[error("response is too big: the answer is longer than a WebSocket message may be; request less, or use HTTP")]
    TooLongForSocket,
    /// A batch that outlasts the view of the chain that all of its calls have.
    #[error("this batch takes longer than its view of the chain lasts: send the remaining calls again")]
    ViewExpired,
    /// No upstream node answers.
    #[error("the upstream node cannot be reached; try again shortly")]
    UpstreamAway,
    /// The error object of an upstream node, unchanged.
    #[error("the upstream node refused: {0}")]
    Relayed(String),
    /// There is no data to compute a fee from.
    #[error("{0}")]
    NotEstimated(String),
    /// A malformed JSON-RPC message.
    #[error("{0}")]
    InvalidRequest(String),
    /// Text that is not JSON.
    #[error("Parse error")]
    ParseError,
}

impl Problem {
    /// One REST parameter is wrong.
    #[must_use]
    pub fn invalid_parameter(name: &str, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![InvalidParameter { name: name.into(), detail: detail.into() }])
    }

    /// An answer cannot be encoded in its format, which is a fault of this server.
    pub(crate) fn not_encoded(error: &dyn std::error::Error) -> Self {
        tracing::error!(cause = trawl_core::error_chain(error), "an answer could not be encoded");
        Self::Internal
    }

    /// The HTTP status, for REST.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) | Self::InvalidNumber(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Malformed | Self::InvalidMinBlock | Self::UnknownAction | Self::ParseError => StatusCode::BAD_REQUEST,
            Self::NotFound
            | Self::LostConsensus(_)
            | Self::PartMissing { .. }
            | Self::ColumnsMissing { .. }
            | Self::RulesUnknown(_)
            | Self::BlockNotFound
            | Self::BlocksMissing(_)
            | Self::TracesMissing(_) => StatusCode::NOT_FOUND,
            Self::LeftOut(_)
            | Self::UserOperations(_)
            | Self::NotCounted(_)
            | Self::NotProvable(..)
            | Self::NotEncodable(..)
            | Self::StateMissing(_) => StatusCode::NOT_IMPLEMENTED,
            Self::Forked { .. } => StatusCode::CONFLICT,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Self::UriTooLong => StatusCode::URI_TOO_LONG,
            Self::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::TooMuchAtOnce | Self::TooManyRequests { .. } | Self::TooManyFilters => StatusCode::TOO_MANY_REQUESTS,
            Self::NotReady
            | Self::NothingLoaded
            | Self::Damaged
            | Self::Busy
            | Self::Unreachable
            | Self::BlockNotThereYet
            | Self::Reorganised => StatusCode::SERVICE_UNAVAILABLE,
            Self::TooExpensive | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::InvalidParams(_)
            | Self::MethodNotFound
            | Self::NoSuchMethod(_)
            | Self::UnknownBlockHash
            | Self::UnknownBlock
            | Self::FilterNotFound
            | Self::TooManyRows { .. }
            | Self::TooManyLogs { .. }
            | Self::TooManyAlternatives { .. }
            | Self::TooManyBlocks { .. }
            | Self::Call(_)
            | Self::Simulation(_)
            | Self::OtherChain { .. }
            | Self::CallTooLong
            | Self::NoUpstream(_)
            | Self::NoStateProofs
            | Self::NeedsSocket
            | Self::NoSuchSubscription(_)
            | Self::TooLongForSocket
            | Self::ViewExpired
            | Self::UpstreamAway
            | Self::Relayed(_)
            | Self::NotEstimated(_)
            | Self::InvalidRequest(_) => StatusCode::OK,
        }
    }

    /// The text of a JSON-RPC error; an internal one has another in REST
    /// (docs/reference/http-contract.md#json-rpc-errors).
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Internal => "Something went wrong".into(),
            other => other.to_string(),
        }
    }

    /// The whole JSON-RPC error object, if an upstream node made it.
    #[must_use]
    pub fn relayed(&self) -> Option<&str> {
        match self {
            Self::Relayed(error) => Some(error),
            _ => None,
        }
    }
}
