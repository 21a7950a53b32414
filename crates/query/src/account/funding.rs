//! Who first gave coins to an account: the oldest frames that moved some to it.

use crate::select::{Select, settled_blocks};
use crate::stats::charts::coins::{MOVES, moves};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A frame that gave coins to an account, the outermost of a transaction among them.
    pub struct FundingFrame / FundingFrameView {
        /// Height of its block.
        block_number: u64,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Caller, creator or the contract that destroyed itself.
        from_address: Address,
        /// Wei that the account received.
        value: U256,
    }
}

/// The oldest frames with a value for an account that are looked at: those that a frame around them undid gave nothing.
pub const MAX_CANDIDATES: u64 = 10_000;

/// The frames in `blocks` that gave coins to `account`, the oldest first. Those of the newest blocks may be from the
/// account itself.
#[must_use]
pub fn gifts(account: &Address, blocks: &Span, limit: u64) -> Statement<FundingFrame> {
    let settled = settled_blocks("block_number", &blocks.settled).join("\n    AND ");
    let order = "block_number, transaction_index, frame_index";
    let candidates = format!(
        "({order}) GLOBAL IN (
  SELECT {order}
  FROM internal_transactions_by_address
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND ifNull(to_address, created_contract) = address
    AND from_address != address
    AND value > 0
    AND error = ''
    AND {settled}
  ORDER BY {order}
  LIMIT {{candidates:UInt64}}
  UNION ALL
  SELECT block_number, transaction_index, toUInt32(0)
  FROM transactions_by_address
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND sides = 2
    AND value > 0
    AND {settled}
  ORDER BY block_number, transaction_index
  LIMIT {{candidates:UInt64}}
)"
    );
    let receiver = "ifNull(to_address, created_contract) = toFixedString(unhex({address:String}), 20)";
    Select::default()
        .blocks("block_number", blocks)
        .settled_condition(candidates)
        .condition(receiver, Predicate::among_any(vec!["to_address", "created_contract"], &[account]))
        .condition(MOVES, moves())
        .with("address", account)
        .with("candidates", MAX_CANDIDATES)
        .page("internal_transactions", order, limit)
}
