//! Token transfers of an account from either end, and what their transactions paid.

use super::at;
use crate::select::{Select, participant, settled_blocks, to_recipient};
use crate::tokens::transfers::senders_columns;
use crate::tokens::{OF_TOKEN, TRANSFERS_OF_LOG};
use crate::transactions::positions::TransactionPositions;
use crate::walk::{Order, Walk};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, Direction, TransactionFee, U256};
use trawl_core::readable::Span;
use trawl_core::schema::TokenTransferRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

const KEY: [&str; 3] = ["block_number", "log_index", "batch_index"];

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
        /// Wei paid for data on L1; none where the chain has no such fee.
        l1_fee: Option<U256>,
        /// Wei that the operator of a rollup took; none where the chain has no such fee.
        operator_fee: Option<U256>,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}

impl TransactionGas {
    /// What it paid; says nothing where the columns are not known.
    #[must_use]
    pub fn fee(&self) -> TransactionFee {
        TransactionFee {
            gas_used: self.gas_used,
            gas_price: self.effective_gas_price,
            l1_fee: self.l1_fee,
            operator_fee: self.operator_fee,
        }
    }
}

/// The transfers of tokens of one standard in `blocks` that an account takes part in, on one side or any, of one token
/// or of all. A token is checked row by row where there is a side too.
#[must_use]
pub fn of(
    account: &Address,
    side: Option<Direction>,
    standard: &'static str,
    token: Option<&Address>,
    blocks: &Span,
    walk: Walk,
) -> Statement<TokenTransferRow> {
    let table = match (side, token) {
        (Some(_), _) => "token_transfers_by_direction",
        (None, Some(_)) => "token_transfers_by_token",
        (None, None) => "token_transfers",
    };
    let select = of_kind(participant(account, side), standard, token, blocks);
    select.page(table, &order_by(walk.order, &KEY), walk.limit)
}

/// Those from one account to another, who is checked row by row.
#[must_use]
pub fn between(
    sender: &Address,
    recipient: &Address,
    standard: &'static str,
    token: Option<&Address>,
    blocks: &Span,
    walk: Walk,
) -> Statement<TokenTransferRow> {
    let select = of_kind(participant(sender, Some(Direction::From)), standard, token, blocks);
    let select = to_recipient(select, &["to_address"], recipient);
    select.page("token_transfers_by_direction", &order_by(walk.order, &KEY), walk.limit)
}

fn of_kind(select: Select, standard: &'static str, token: Option<&Address>, blocks: &Span) -> Select {
    let select = select
        .condition("token_type = {standard:String}", Predicate::is("token_type", standard))
        .with("standard", standard)
        .blocks("block_number", blocks);
    match token {
        Some(token) => {
            let test = Predicate::among("token_address", &[token]);
            let text = "token_address = toFixedString(unhex({token:String}), 20)";
            select.condition(text, test).with("token", token)
        }
        None => select,
    }
}

fn order_by(order: Order, key: &[&str]) -> String {
    key.iter().map(|column| format!("{column} {}", order.word())).collect::<Vec<_>>().join(", ")
}

/// The transfers of one standard of a token in `blocks`: the positions of its logs are a range of `logs`, each with a
/// transfer at least, and the rows are found at them.
#[must_use]
pub fn of_token(token: &Address, standard: &'static str, blocks: &Span, walk: Walk) -> Statement<TokenTransferRow> {
    let positions = positions(standard, &blocks.settled, walk.order);
    let order = order_by(walk.order, &KEY);
    Select::default()
        .blocks("block_number", blocks)
        .settled_condition(format!("(block_number, log_index) GLOBAL IN (\n{positions}\n)"))
        .newest_condition(
            "token_address = toFixedString(unhex({address:String}), 20)",
            Predicate::among("token_address", &[token]),
        )
        .condition("token_type = {standard:String}", Predicate::is("token_type", standard))
        .with("address", token)
        .with("standard", standard)
        .page_of(&senders_columns(), "token_transfers_by_block", &order, walk.limit)
}

/// The positions of the logs of a page that are transfers of a standard.
fn positions(standard: &str, settled: &[BlockRange], order: Order) -> String {
    let of_standard = match standard {
        "ERC-20" => "topics_count = 3",
        "ERC-721" => "topics_count = 4 AND length(data) = 0",
        _ => "topics_count = 4 AND length(data) > 0",
    };
    format!(
        "SELECT block_number, log_index
FROM logs
WHERE {OF_TOKEN}
  AND {}
  AND {TRANSFERS_OF_LOG} > 0
  AND {of_standard}
ORDER BY {}
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n  AND "),
        order_by(order, &["block_number", "log_index"])
    )
}

/// What the transactions at `positions` paid.
#[must_use]
pub fn gas(positions: &TransactionPositions, blocks: &Span) -> Statement<TransactionGas> {
    at(positions, blocks).page("transactions", "block_number, transaction_index", positions.len() as u64)
}
