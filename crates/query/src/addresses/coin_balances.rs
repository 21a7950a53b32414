//! Plans for the balances of an account over time: what transactions left it, and what blocks added to that.

use crate::select::{Select, up_to};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A balance after the transactions of a block that changed it.
    pub struct BalanceAfter / BalanceAfterView {
        /// Height of the block.
        block_number: u64,
        /// Wei; credits of the same block come on top.
        balance: U256,
    }
}

columns! {
    /// Wei that a block adds to an account outside its transactions.
    pub struct Credit / CreditAmountView {
        /// Height of the block.
        block_number: u64,
        /// Amount in wei.
        amount: U256,
    }
}

/// Most credits of an account in a block: each kind is summed (withdrawals, block rewards, uncle rewards).
const CREDITS_OF_BLOCK: u64 = 3;

/// The balances of an account after blocks below `before`, newest first: `limit` blocks.
#[must_use]
pub fn balances(address: &Address, blocks: &Span, before: Option<BlockNumber>, limit: u64) -> Statement<BalanceAfter> {
    of_account(address, blocks, before).page("balance_history", "block_number DESC", limit)
}

/// The credits of an account in blocks below `before`, newest first: all those of at least `limit` blocks.
#[must_use]
pub fn credits(address: &Address, blocks: &Span, before: Option<BlockNumber>, limit: u64) -> Statement<Credit> {
    of_account(address, blocks, before).page("balance_credits", "block_number DESC", limit * CREDITS_OF_BLOCK)
}

fn of_account(address: &Address, blocks: &Span, before: Option<BlockNumber>) -> Select {
    let blocks = match before {
        Some(before) => before.checked_sub(1).map_or_else(Span::default, |last| up_to(blocks, last)),
        None => blocks.clone(),
    };
    Select::default()
        .condition("address = toFixedString(unhex({address:String}), 20)", Predicate::among("address", &[address]))
        .with("address", address)
        .blocks("block_number", &blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::BlockRange;

    fn span() -> Span {
        vec![BlockRange::new(0, 9).expect("ordered")].into()
    }

    #[test]
    fn changes_are_read_by_account_newest_first() {
        let statement = balances(&Address::repeat_byte(1), &span(), Some(8), 51);
        insta::assert_snapshot!(statement.sql, @r"
        SELECT block_number, balance
        FROM balance_history
        WHERE address = toFixedString(unhex({address:String}), 20)
          AND block_number BETWEEN {first:UInt64} AND {last:UInt64}
        ORDER BY block_number DESC
        LIMIT {limit:UInt64}
        ");
        assert!(statement.parameters.contains(&("last".into(), 7.into())), "{:?}", statement.parameters);
        let credits = credits(&Address::repeat_byte(1), &span(), None, 51);
        assert!(credits.parameters.contains(&("limit".into(), 153.into())), "{:?}", credits.parameters);
        assert!(credits.sql.contains("FROM balance_credits"), "{}", credits.sql);
    }

    #[test]
    fn nothing_lies_below_the_genesis() {
        assert!(!balances(&Address::ZERO, &span(), Some(0), 51).is_in_tables);
    }
}
