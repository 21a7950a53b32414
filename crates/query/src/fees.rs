//! Plans for what blocks and transactions say of fees.

use super::select::Select;
use trawl_core::primitives::{Span, Timestamp, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What a header says of fees.
    pub struct BlockFees / BlockFeesView {
        /// Its height.
        block_number: u64,
        /// Header timestamp.
        timestamp: Timestamp,
        /// Gas the block may use.
        gas_limit: u64,
        /// Gas the block used.
        gas_used: u64,
        /// Wei, EIP-1559; NULL before London.
        base_fee_per_gas: Option<U256>,
        /// Blob gas of the block, EIP-4844; NULL before Cancun.
        blob_gas_used: Option<u64>,
        /// Running excess of blob gas, EIP-4844; NULL before Cancun.
        excess_blob_gas: Option<u64>,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}

columns! {
    /// What a transaction paid.
    pub struct Payment / PaymentView {
        /// Height of its block.
        block_number: u64,
        /// Gas it used.
        gas_used: u64,
        /// Wei paid per gas.
        effective_gas_price: U256,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}

columns! {
    /// What transactions paid above the base fee.
    pub struct Tip / TipView {
        /// How many transactions there are.
        transactions: u64,
        /// Wei per gas: what the wanted share of them paid at most.
        tip: U256,
    }
}

/// Most rows of a read that its span bounds.
const ALL: u64 = 1_000_000_000;

/// What the headers of `span` say, ascending.
#[must_use]
pub fn headers(span: &Span) -> Statement<BlockFees> {
    Select::default().blocks("block_number", span).page("blocks", "block_number", ALL)
}

/// What the transactions of `span` paid, block by block.
#[must_use]
pub fn payments(span: &Span) -> Statement<Payment> {
    Select::default().blocks("block_number", span).page("transactions", "block_number", ALL)
}

/// The percentile of what the transactions of `span` paid above the base fee. `base_fees`: in wei, of the consecutive
/// blocks from the lowest of `span` on; zero where a block has none.
#[must_use]
pub fn tip(span: &Span, base_fees: Vec<String>, percentile: u64) -> Statement<Tip> {
    let first = span.settled.first().map(|range| range.first());
    let first_hot = span.hot.first().map(|range| range.blocks.first());
    let lowest = first.into_iter().chain(first_hot).min().unwrap_or_default();
    Statement::page(include_str!("../../../sql/queries/tip.sql"))
        .with("ranges", span.settled.as_slice())
        .with("first", first.unwrap_or(1))
        .with("last", span.settled.last().map_or(0, |range| range.last()))
        .with("generations", span.hot.as_slice())
        .with("lowest", lowest)
        .with("base_fees", base_fees)
        .with("percentile", percentile)
}
