//! The JSON-RPC codes of problems.

use trawl_evm::Failure;

use super::Problem;

impl Problem {
    /// The JSON-RPC error code: one of JSON-RPC 2.0, or of EIP-1474 for missing data and exceeded limits.
    #[must_use]
    pub fn code(&self) -> i64 {
        match self {
            Self::ParseError | Self::Malformed => -32700,
            Self::InvalidRequest(_) | Self::PayloadTooLarge | Self::RequestTimeout => -32600,
            Self::MethodNotFound
            | Self::NoSuchMethod(_)
            | Self::NoUpstream(_)
            | Self::NoStateProofs
            | Self::NoSuchSubscription(_)
            | Self::NeedsSocket => -32601,
            Self::InvalidParams(_)
            | Self::Invalid(_)
            | Self::InvalidNumber(_)
            | Self::InvalidMinBlock
            | Self::UnknownBlockHash => -32602,
            Self::BlocksMissing(_)
            | Self::TracesMissing(_)
            | Self::StateMissing(_)
            | Self::RulesUnknown(_)
            | Self::PartMissing { .. }
            | Self::LeftOut(_)
            | Self::UserOperations(_)
            | Self::NotCounted(_)
            | Self::NotProvable(..)
            | Self::NotEncodable(..)
            | Self::ColumnsMissing { .. }
            | Self::NotEstimated(_)
            | Self::NotReady
            | Self::NothingLoaded
            | Self::Damaged => -32002,
            // The code of nodes.
            Self::Call(Failure::Reverted(_)) => 3,
            Self::Simulation(refusal) => refusal.code().into(),
            Self::Call(_)
            | Self::OtherChain { .. }
            | Self::BlockNotFound
            | Self::UnknownBlock
            | Self::TooManyAlternatives { .. }
            | Self::FilterNotFound => -32000,
            Self::Busy
            | Self::Unreachable
            | Self::BlockNotThereYet
            | Self::TooMuchAtOnce
            | Self::TooManyRequests { .. }
            | Self::TooManyFilters
            | Self::Reorganised
            | Self::CallTooLong
            | Self::TooExpensive
            | Self::TooLongForSocket
            | Self::ViewExpired
            | Self::TooManyLogs { .. }
            | Self::TooManyRows { .. }
            | Self::TooManyBlocks { .. } => -32005,
            _ => -32603,
        }
    }
}
