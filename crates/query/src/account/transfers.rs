//! Token transfers of an account from either end, and what their transactions paid.

use super::at;
use crate::places::Places;
use crate::select::participant;
use crate::walk::Walk;
use trawl_core::newest::Test;
use trawl_core::primitives::{Address, U256};
use trawl_core::readable::Span;
use trawl_core::schema::TokenTransferRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// Nonce and gas of a transaction.
    pub struct TransactionGas / TransactionGasView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Sender's count of transactions before this one.
        nonce: u64,
        /// Gas it may use.
        gas_limit: u64,
        /// Wei per gas, as signed or as paid.
        gas_price: Option<U256>,
        /// Whether the columns of the receipt say anything.
        has_receipt: u8,
        /// Gas it used.
        gas_used: u64,
        /// Gas used in the block up to and with it.
        cumulative_gas_used: u64,
        /// Wei paid per gas.
        effective_gas_price: U256,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}

/// The transfers of tokens of one standard in `blocks` that an account takes part in, of one token or of all.
#[must_use]
pub fn of(
    account: &Address,
    (standard, token): (&'static str, Option<&Address>),
    blocks: &Span,
    walk: Walk,
) -> Statement<TokenTransferRow> {
    let select = participant(account, None)
        .condition("token_type = {standard:String}", Test::is("token_type", standard))
        .with("standard", standard)
        .blocks("block_number", blocks);
    let (table, select) = match token {
        Some(token) => {
            let test = Test::among("token_address", &[token]);
            let text = "token_address = toFixedString(unhex({token:String}), 20)";
            ("token_transfers_by_token", select.condition(text, test).with("token", token))
        }
        None => ("token_transfers", select),
    };
    let word = walk.order.word();
    select.page(
        table,
        &["block_number", "log_index", "batch_index"].map(|column| format!("{column} {word}")).join(", "),
        walk.limit,
    )
}

/// What the transactions at `places` paid.
#[must_use]
pub fn gas(places: &Places, blocks: &Span) -> Statement<TransactionGas> {
    at(places, blocks).page("transactions", "block_number, transaction_index", places.len() as u64)
}
