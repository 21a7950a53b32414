//! Everything a subcommand can fail with, and the exit code of each failure.

use trawl_core::flags::{StoreFlagsError, exit_codes};
use trawl_core::primitives::BlockRange;
use trawl_core::store::{MigrateError, StoreError};
use trawl_ingest::background::token_metadata::FetchError;
use trawl_ingest::backup::BackupError;
use trawl_ingest::fill::FillError;
use trawl_ingest::follow::FollowError;
use trawl_ingest::labels::LabelsError;
use trawl_ingest::labels::export::ExportError;
use trawl_ingest::load::completeness::IncompleteLoad;
use trawl_ingest::load::error::LoadError;
use trawl_ingest::source::SourceError;
use trawl_ingest::state::genesis::GenesisError;
use trawl_ingest::write::lease::LeaseError;
use trawl_node::NodeError;

use super::flags::Slice;

/// Everything a subcommand can fail with.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Load(LoadError),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Genesis(#[from] GenesisError),
    #[error(transparent)]
    StoreFlags(#[from] StoreFlagsError),
    #[error("no source: give --rpc-url URL (or set ETH_RPC_URL), --dump FILE, --cryo DIR, --etl DIR or --era1 FILE")]
    NoSource,
    #[error("--fill needs the node that has the parts: give --rpc-url URL (or set ETH_RPC_URL)")]
    NoNodeToFill,
    #[error(transparent)]
    Fill(FillError),
    #[error("no node to follow: give --rpc-url URL (or set ETH_RPC_URL)")]
    NoNode,
    #[error(transparent)]
    Follow(FollowError),
    #[error("metrics cannot be served")]
    Metrics(#[source] trawl_metrics::InstallError),
    #[error(transparent)]
    Bind(#[from] trawl_serve::BindError),
    #[error(transparent)]
    Backup(#[from] BackupError),
    #[error(transparent)]
    Labels(#[from] LabelsError),
    #[error("nothing to load: these files have no label, ABI or signature for this chain")]
    NothingFound,
    #[error("{0}")]
    View(String),
    #[error("token contracts cannot be called; those that answered are stored")]
    Tokens(#[from] FetchError),
    #[error("cannot wait for signals")]
    Signals(#[source] std::io::Error),
    #[error("--from {from} is above --to {to}")]
    EmptyRange { from: u64, to: u64 },
    #[error("--slice needs the end of the whole range: give --to BLOCK")]
    SliceOfOpenRange,
    #[error("--slice {slice} of blocks {whole} is empty: give fewer slices")]
    EmptySlice { slice: Slice, whole: BlockRange },
    #[error("--slice needs the chain, and nothing here names it: give --chain-id")]
    SliceOfNoChain,
    #[error(transparent)]
    Lease(LeaseError),
    #[error("the source's chain is {found} and the database holds chain {expected}: use another --clickhouse-database")]
    OtherChain { expected: u64, found: u64 },
    #[error("--chain-family needs a chain, and nothing here names it: give --chain-id")]
    FamilyOfNoChain,
    #[error("chain {chain_id} is of the family {listed}, so it cannot be loaded as {given}: leave --chain-family out")]
    ListedChain { chain_id: u64, listed: &'static str, given: &'static str },
    #[error(
        "the database holds blocks by the rules of {stored}, so --chain-family {given} needs another --clickhouse-database; \
         if it was given before and its row was lost, `trawl-ingest repair --chain-family NAME` writes it again"
    )]
    OtherFamily { stored: &'static str, given: &'static str },
    #[error(transparent)]
    Incomplete(#[from] IncompleteLoad),
    #[error("{0} checks of stored data failed; block_verdicts has the blocks")]
    NotProven(usize),
    #[error(
        "`{table}` lost rows, so it is unknown which rows of the other tables are valid: run `trawl-ingest \
         repair`"
    )]
    Damaged { table: String },
    #[error(
        "nothing to verify: no block from {from} to {} is loaded",
        if *to == u64::MAX { "the newest".into() } else { to.to_string() }
    )]
    NothingToProve { from: u64, to: u64 },
    #[error("{0} changes are pending: `trawl-ingest migrate --plan` lists them, `trawl-ingest migrate` applies them")]
    Pending(u64),
    #[error("{0} problems found; the fix is below each")]
    Unfit(usize),
    #[error("interrupted; what is committed stays")]
    Interrupted,
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        SourceError::from(error).into()
    }
}

/// Whether an error only says that this process was told to stop.
fn is_stop(error: &LoadError) -> bool {
    matches!(error, LoadError::Source(SourceError::Node(NodeError::Stopped { .. })))
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        LoadError::from(error).into()
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        if is_stop(&error) { Self::Interrupted } else { Self::Load(error) }
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Store(error) => error.into(),
            error => Self::Lease(error),
        }
    }
}

impl From<FollowError> for Failure {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Load(error) if is_stop(&error) => Self::Interrupted,
            error => Self::Follow(error),
        }
    }
}

impl From<FillError> for Failure {
    fn from(error: FillError) -> Self {
        match error {
            FillError::Load(error) if is_stop(&error) => Self::Interrupted,
            error => Self::Fill(error),
        }
    }
}

/// The exit code of checks that find pending migrations.
const PENDING: u8 = 9;

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Migrate(MigrateError::Cluster(_)) => 2,
            Self::StoreFlags(error) if error.is_usage() => 2,
            Self::FamilyOfNoChain | Self::ListedChain { .. } | Self::OtherFamily { .. } => 2,
            Self::SliceOfOpenRange | Self::EmptySlice { .. } | Self::SliceOfNoChain => 2,
            Self::EmptyRange { .. } | Self::NoSource | Self::NoNode | Self::NoNodeToFill | Self::View(_) => 2,
            Self::Load(error) | Self::Follow(FollowError::Load(error)) | Self::Fill(FillError::Load(error)) => {
                load_code(error)
            }
            Self::Fill(FillError::OtherBlock { .. }) => 3,
            Self::Labels(LabelsError::Refused { .. }) | Self::NothingFound => 3,
            Self::Labels(LabelsError::UnknownChain { .. } | LabelsError::Export(ExportError::UnknownChain { .. })) => 2,
            Self::Labels(LabelsError::Export(ExportError::File { .. })) => 1,
            Self::Labels(LabelsError::Export(_)) => 3,
            Self::Backup(BackupError::OtherChain { .. }) => 3,
            Self::Lease(LeaseError::HolderStopped { .. }) => 1,
            Self::Lease(_)
            | Self::OtherChain { .. }
            | Self::NotProven(_)
            | Self::Follow(FollowError::BelowFinality { .. }) => 3,
            Self::Damaged { .. } => exit_codes::DAMAGE,
            Self::Pending(_) => PENDING,
            Self::Interrupted => 130,
            Self::Migrate(error) if let Some(code) = exit_codes::of_schema(error) => code,
            other => other.store_error().map_or(1, store_code),
        }
    }

    /// The error of ClickHouse, if that is the failure.
    fn store_error(&self) -> Option<&StoreError> {
        match self {
            Self::Store(error)
            | Self::Tokens(FetchError::Store(error))
            | Self::Labels(LabelsError::Store(error))
            | Self::Follow(FollowError::Store(error))
            | Self::Fill(FillError::Store(error))
            | Self::Backup(BackupError::Store(error))
            | Self::Migrate(MigrateError::Store(error) | MigrateError::Step { source: error, .. }) => Some(error),
            _ => None,
        }
    }
}

fn store_code(error: &StoreError) -> u8 {
    if error.is_unreachable() { 5 } else { exit_codes::of_store(error).unwrap_or(1) }
}

fn load_code(error: &LoadError) -> u8 {
    match error {
        LoadError::Verify(_)
        | LoadError::Decode(_)
        | LoadError::Timestamp { .. }
        | LoadError::Chain { .. }
        | LoadError::UnknownChain { .. }
        | LoadError::Source(
            SourceError::Malformed { .. } | SourceError::Node(NodeError::Chains { .. } | NodeError::Foreign { .. }),
        ) => 3,
        LoadError::Source(SourceError::Node(NodeError::Address { .. })) => 2,
        LoadError::Source(SourceError::Node(NodeError::Unreachable { .. })) => 4,
        LoadError::Sink(trawl_ingest::write::sink::SinkError { source, .. }) => store_code(source),
        _ => 1,
    }
}
