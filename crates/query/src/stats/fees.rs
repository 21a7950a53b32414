//! Plans for fees of blocks and transactions.

use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

/// What a transaction paid, of its columns: gas, data on L1, the operator of a rollup
/// ([`TransactionFee`](trawl_core::primitives::TransactionFee)).
pub(crate) const FEE: &str = "gas_used * effective_gas_price + ifNull(l1_fee, 0) + ifNull(operator_fee, 0)";
/// Whether the source of a transaction lacked a part of that, as SQL.
pub(crate) const LACKS_FEE: &str = "hasAny(lacking, ['gas_used', 'effective_gas_price', 'l1_fee', 'operator_fee'])";

columns! {
    /// The fee fields of a header.
    pub struct BlockFees / BlockFeesView {
        /// Height of the block.
        block_number: u64,
        /// Timestamp of the header.
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
    /// Gas and price of a transaction.
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
    /// What a transaction paid for gas.
    pub struct GasPrice / GasPriceView {
        /// Height of its block.
        block_number: u64,
        /// Wei paid per gas.
        effective_gas_price: U256,
    }
}

/// A limit above the rows of any span: the span bounds the read.
const MAX_ROWS: u64 = 1_000_000_000;

/// The fee fields of the headers of `span`, ascending.
#[must_use]
pub fn headers(span: &Span) -> Statement<BlockFees> {
    Select::default().blocks("block_number", span).page("blocks", "block_number", MAX_ROWS)
}

/// Gas and prices of the transactions of `span`, block by block.
#[must_use]
pub fn payments(span: &Span) -> Statement<Payment> {
    Select::default().blocks("block_number", span).page("transactions", "block_number", MAX_ROWS)
}

/// What the transactions of `span` paid for gas, block by block.
#[must_use]
pub fn prices(span: &Span) -> Statement<GasPrice> {
    let select = Select::default().blocks("block_number", span);
    select.condition("has_receipt = 1", Predicate::equals("has_receipt", 1)).page(
        "transactions",
        "block_number",
        MAX_ROWS,
    )
}
