//! What comes of a simulation.

use alloy_consensus::Header;
use alloy_eips::eip4895::Withdrawal;
use alloy_primitives::Log;

use super::transaction::Envelope;
use crate::Failure;
use trawl_core::primitives::{B256, Bytes};

/// A simulated block. What follows from the state after it is none where that is not known.
#[derive(Debug, Clone)]
pub struct SimulatedBlock {
    /// Its header, where `parent_hash` and `state_root` are zero if they are not known.
    pub header: Header,
    /// Keccak-256 of the header; none while a part of it is not known.
    pub hash: Option<B256>,
    /// The hash of the block before it.
    pub parent_hash: Option<B256>,
    /// The root of the state after it.
    pub state_root: Option<B256>,
    /// Its length in bytes.
    pub size: u64,
    /// The calls as transactions, in order.
    pub transactions: Vec<Envelope>,
    /// What came of each of them.
    pub calls: Vec<CallOutcome>,
    /// Its withdrawals, if blocks have such.
    pub withdrawals: Option<Vec<Withdrawal>>,
}

/// What came of a call.
#[derive(Debug, Clone)]
pub struct CallOutcome {
    /// What it returned.
    pub output: Bytes,
    /// Its logs; none if it failed.
    pub logs: Vec<SimulatedLog>,
    /// The gas that it used.
    pub gas_used: u64,
    /// The gas that it needed before refunds.
    pub gas_needed: u64,
    /// Why it failed.
    pub failure: Option<Failure>,
}

/// A log, and its index in its block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulatedLog {
    /// Emitter, topics and data.
    pub log: Log,
    /// Its index; logs of calls that were undone count.
    pub index: u64,
}
