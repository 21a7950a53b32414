//! Reads of rows at some positions of the chain: of the transactions of a page.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, Bytes, Coverage, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{LogRow, TransactionRow};
use trawl_core::statement::{Parameter, Statement};

/// Heights and positions of transactions.
pub type TransactionPositions = BTreeSet<(BlockNumber, u32)>;

columns! {
    /// The position of a transaction.
    pub struct PositionRow / PositionRowView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
    }
}

columns! {
    /// How the outermost call of a transaction ended, and whether it ran code.
    pub struct Ending / EndingView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Error message of the node; empty if the call succeeded.
        error: String,
        /// Return data; code of a creation.
        output: Bytes,
        /// Calls that it made.
        subtraces: u32,
        /// Gas that its code used; none where the source does not separate it from the intrinsic gas.
        execution_gas_used: Option<u64>,
    }
}

columns! {
    /// What a transaction with blobs paid for them.
    pub struct BlobPayment / BlobPaymentView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Blob gas that it used.
        blob_gas_used: Option<u64>,
        /// Wei per blob gas.
        blob_gas_price: Option<U256>,
    }
}

impl BlobPayment {
    /// Wei in all, if both are known.
    #[must_use]
    pub fn fee(&self) -> Option<U256> {
        U256::from(self.blob_gas_used?).checked_mul(self.blob_gas_price?)
    }
}

columns! {
    /// A frame that failed.
    pub struct FailedFrame / FailedFrameView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Which child at each depth, from the outermost frame on.
        trace_address: Vec<u32>,
        /// The address whose code ran; none of a creation.
        to_address: Option<Address>,
        /// Output of the call.
        output: Bytes,
    }
}

columns! {
    /// A frame with a value, or with that of the frame above.
    pub struct ValuedFrame / ValuedFrameView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Which child at each depth, from the outermost frame on.
        trace_address: Vec<u32>,
        /// `delegatecall` if it runs with the value of the frame above.
        call_type: String,
        /// Wei of the frame; 0 for `delegatecall`.
        value: U256,
    }
}

/// Most token transfers that are read to find which transactions of a page moved tokens.
pub const MAX_TRANSFERS: u64 = 100_000;

/// The part of `blocks` that is needed to read the blocks at `numbers`.
pub(crate) fn at_heights(numbers: &BTreeSet<BlockNumber>, blocks: &Span) -> Span {
    let heights: Coverage = numbers.iter().map(|number| BlockRange::single(*number)).collect();
    let has_numbers = |range: &BlockRange| numbers.range(range.first()..=range.last()).next().is_some();
    let newest = heights.ranges().iter().flat_map(|range| blocks.newest.within(*range).ranges().to_vec());
    Span {
        settled: blocks.settled.iter().copied().filter(has_numbers).collect(),
        hot: blocks.hot.iter().copied().filter(|range| has_numbers(&range.blocks)).collect(),
        newest: blocks.newest.of(newest.collect()),
    }
}

/// The condition of a row to be of one of the transactions at `positions`.
const AT_POSITIONS: &str = "(block_number, transaction_index) IN {positions:Array(Tuple(UInt64, UInt64))} \
    AND block_number IN {heights:Array(UInt64)}";

/// Rows of the transactions at `positions`; of blocks that are not settled, of others in the same blocks too.
fn at_positions(positions: &TransactionPositions, blocks: &Span) -> Select {
    let numbers: BTreeSet<BlockNumber> = positions.iter().map(|position| position.0).collect();
    let pairs = positions.iter().map(|(block, index)| (*block, u64::from(*index))).collect();
    Select::default()
        .blocks("block_number", &at_heights(&numbers, blocks))
        .settled_condition(AT_POSITIONS)
        .with("positions", Parameter::Ranges(pairs))
        .with("heights", Parameter::Numbers(numbers.into_iter().collect()))
}

/// The position of each token transfer of the transactions at `positions`, and maybe of others; no more than
/// [`MAX_TRANSFERS`].
#[must_use]
pub fn token_transfers(positions: &TransactionPositions, blocks: &Span) -> Statement<PositionRow> {
    at_positions(positions, blocks).page("token_transfers_by_block", "block_number", MAX_TRANSFERS)
}

/// How the outermost calls of the transactions at `positions`, and maybe of others, ended.
#[must_use]
pub fn endings(positions: &TransactionPositions, blocks: &Span) -> Statement<Ending> {
    at_positions(positions, blocks).condition("frame_index = 0", Predicate::equals("frame_index", 0)).page(
        "internal_transactions",
        "block_number",
        1_000_000,
    )
}

/// Most failed frames of one statement: of transactions beyond them only the outermost frame is read.
const MAX_FAILED: u64 = 10_000;

/// The frames that failed of the transactions at `positions` and of no others, in order of execution; no more than
/// 10,000.
#[must_use]
pub fn failed_frames(positions: &TransactionPositions, blocks: &Span) -> Statement<FailedFrame> {
    only_at_positions(positions, blocks).condition("error != ''", Predicate::IsNot { column: "error", value: "" }).page(
        "internal_transactions",
        "block_number, transaction_index, frame_index",
        MAX_FAILED,
    )
}

/// Most frames of one statement: a call costs at least 100 gas, so that one transaction of 100 million gas has no more.
pub const MAX_FRAMES: u64 = 1_000_000;

/// The frames of the transactions at `positions`, and maybe of others, that have a value or share that of the frame
/// above; no more than [`MAX_FRAMES`].
#[must_use]
pub fn valued_frames(positions: &TransactionPositions, blocks: &Span) -> Statement<ValuedFrame> {
    let valued = [Predicate::NotZero { column: "value" }, Predicate::is("call_type", "delegatecall")];
    at_positions(positions, blocks)
        .condition("(value > 0 OR call_type = 'delegatecall')", Predicate::AnyOf(valued.into()))
        .page("internal_transactions", "block_number", MAX_FRAMES)
}

/// Rows of the transactions at `positions` and of no others.
pub(crate) fn only_at_positions(positions: &TransactionPositions, blocks: &Span) -> Select {
    let at = |(block, index): &(BlockNumber, u32)| Predicate::Position {
        columns: vec!["block_number", "transaction_index"],
        is: Ordering::Equal,
        than: vec![*block, u64::from(*index)],
    };
    at_positions(positions, blocks).newest_condition(AT_POSITIONS, Predicate::AnyOf(positions.iter().map(at).collect()))
}

/// The transactions at `positions`, ascending.
#[must_use]
pub fn transactions(positions: &TransactionPositions, blocks: &Span) -> Statement<TransactionRow> {
    let order = "block_number, transaction_index";
    only_at_positions(positions, blocks).page("transactions", order, positions.len() as u64)
}

/// What the transactions at `positions` paid for blobs.
#[must_use]
pub fn blob_payments(positions: &TransactionPositions, blocks: &Span) -> Statement<BlobPayment> {
    let order = "block_number, transaction_index";
    only_at_positions(positions, blocks).page("transactions", order, positions.len() as u64)
}

/// More logs than the transactions of a page emit: each costs 375 gas.
const MAX_LOGS: u64 = 100_000_000;

/// The logs of the transactions at `positions`, ascending.
#[must_use]
pub fn logs(positions: &TransactionPositions, blocks: &Span) -> Statement<LogRow> {
    only_at_positions(positions, blocks).page("logs_by_block", "block_number, log_index", MAX_LOGS)
}
