//! Blocks to simulate, as requested.

use std::collections::BTreeMap;

use alloy_eips::eip4895::Withdrawal;

use crate::{AccountOverride, BlockOverrides, Call};
use trawl_core::primitives::{Address, B256};

/// Most blocks above the base, those of gaps included.
pub const MAX_BLOCKS: u64 = 256;

/// A call of a simulated block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockCall {
    /// What is run, as `eth_call` takes it.
    pub call: Call,
    /// Whether it names a gas price, so that its transaction is of the first kind.
    pub has_gas_price: bool,
}

/// A block to simulate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlockPlan {
    /// Overrides of its header.
    pub overrides: BlockOverrides,
    /// Root of its parent beacon block; that of nothing if it is absent.
    pub beacon_root: Option<B256>,
    /// Withdrawals that follow the calls (EIP-4895).
    pub withdrawals: Vec<Withdrawal>,
    /// Overrides of accounts, made before its calls.
    pub accounts: BTreeMap<Address, AccountOverride>,
    /// By precompile, the address where it is found instead.
    pub moves: BTreeMap<Address, Address>,
    /// Calls in the order in which they run.
    pub calls: Vec<BlockCall>,
}

/// What of simulated calls is checked, and what is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mode {
    /// Whether they are checked as transactions are: nonce and base fee.
    pub validates: bool,
    /// Whether transfers of ether have logs.
    pub logs_transfers: bool,
}
