//! Plans for the list of all accounts, by what they have or by how many transactions they take part in.
//!
//! No order of a table can follow balances that change with every block, so the rows of each account are grouped as
//! they are read and only the requested number of accounts is held. The caller caches the result for as long as the
//! same blocks are requested.

use crate::select::settled_blocks;
use crate::walk::SortOrder;
use trawl_core::primitives::{Address, BlockRange, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// An account in the list.
    pub struct RankedAddress / RankedAddressView {
        /// Address of the account.
        address: Address,
        /// Wei, or how many transactions.
        amount: U256,
    }
}

columns! {
    /// How many transactions an account takes part in.
    pub struct TransactionCount / TransactionCountView {
        /// Address of the account.
        address: Address,
        /// Transactions with the account on any side, each once.
        transactions: u64,
    }
}

columns! {
    /// The size of a ranking.
    pub struct RankingSize / RankingSizeView {
        /// Rows that a ranking would read.
        found: u64,
    }
}

/// Most rows that are read for a ranking: ten million take four seconds of a processor.
pub const MAX_RANKED: u64 = 40_000_000;

/// The order of the ranking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RankedBy {
    /// Wei after the last of the blocks; accounts without any are left out.
    #[default]
    Balance,
    /// Transactions that they take part in.
    Transactions,
}

/// A list of all accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressRanking {
    /// The order of the ranking.
    pub by: RankedBy,
    /// The end that comes first; of equal accounts the one with the lower address.
    pub order: SortOrder,
    /// Settled blocks from the first one on: accounts are ranked after the last of them.
    pub blocks: BlockRange,
}

/// How many rows a ranking reads, about: those of blocks that are not requested are counted too.
#[must_use]
pub fn size(by: RankedBy) -> Statement<RankingSize> {
    let mut statement = Statement::page(match by {
        RankedBy::Balance => {
            "SELECT (SELECT count() FROM balance_history) + (SELECT count() FROM balance_credits) AS found"
        }
        RankedBy::Transactions => "SELECT count() AS found FROM transactions_by_address",
    });
    statement.workload = Workload::Scan;
    statement
}

/// The first accounts of a ranking, beyond a position: an amount and the account.
#[must_use]
pub fn ranked(ranking: &AddressRanking, beyond: Option<(U256, Address)>, limit: u64) -> Statement<RankedAddress> {
    let (word, operator) = (ranking.order.word(), ranking.order.operator());
    let after = beyond.map_or_else(String::new, |_| {
        format!(
            "\n  AND (amount {operator} toUInt256({{beyond_amount:String}})
    OR amount = toUInt256({{beyond_amount:String}}) AND address > toFixedString(unhex({{beyond_address:String}}), 20))"
        )
    });
    let within = settled_blocks("block_number", &[ranking.blocks]).join(" AND ");
    let sql = format!(
        "SELECT address, amount\nFROM\n(\n{}\n)\nWHERE amount > 0{after}\nORDER BY amount{word}, address\nLIMIT {{limit:UInt64}}",
        match ranking.by {
            RankedBy::Balance => balances(&within),
            RankedBy::Transactions => transactions(&within),
        }
    );
    let statement = bind(Statement::page(sql), ranking.blocks).with("limit", limit);
    match beyond {
        Some((amount, address)) => {
            statement.with("beyond_amount", amount.to_string().as_str()).with("beyond_address", &address)
        }
        None => statement,
    }
}

/// The transactions of some accounts in settled `blocks`.
#[must_use]
pub fn transactions_of(addresses: &[Address], blocks: BlockRange) -> Statement<TransactionCount> {
    let within = settled_blocks("block_number", &[blocks]).join(" AND ");
    let among = format!("address IN {{addresses:Array(FixedString(20))}} AND {within}");
    let sql = format!("SELECT address, toUInt64(amount) AS transactions\nFROM\n(\n{}\n)", transactions(&among));
    bind(Statement::page(sql), blocks).with("addresses", addresses)
}

/// The balance after the last transaction of each account, and what blocks have added since.
fn balances(within: &str) -> String {
    format!(
        "  SELECT address, sum(wei) AS amount
  FROM
  (
    SELECT address, argMax(balance, block_number) AS wei
    FROM balance_history
    WHERE {within}
    GROUP BY address
    UNION ALL
    SELECT credits.address AS address, sum(credits.amount) AS wei
    FROM balance_credits AS credits
    GLOBAL LEFT JOIN
    (
      SELECT address, max(block_number) AS since
      FROM balance_history
      WHERE {within}
        AND address GLOBAL IN (SELECT address FROM balance_credits)
      GROUP BY address
    ) AS balances ON credits.address = balances.address
    WHERE credits.{within}
      AND credits.block_number >= balances.since
    GROUP BY credits.address
  )
  GROUP BY address"
    )
}

/// How many transactions each account takes part in. A row may be stored twice: rows of a position, which are next to
/// each other, are grouped as they are read.
fn transactions(within: &str) -> String {
    format!(
        "  SELECT address, toUInt256(count()) AS amount
  FROM
  (
    SELECT address
    FROM transactions_by_address
    WHERE {within}
    GROUP BY address, block_number, transaction_index
  )
  GROUP BY address"
    )
}

/// Groups are made in the order of the key; those of several tables together go to disk beyond 256 MiB.
const SETTINGS: &[(&str, &str)] = &[
    ("max_threads", "1"),
    ("optimize_aggregation_in_order", "1"),
    ("max_block_size", "8192"),
    ("max_bytes_before_external_group_by", "268435456"),
];

fn bind<R>(statement: Statement<R>, blocks: BlockRange) -> Statement<R> {
    let mut statement = statement.with("first", blocks.first());
    if blocks.count() > 1 {
        statement = statement.with("last", blocks.last());
    }
    statement.workload = Workload::Scan;
    statement.settings = SETTINGS;
    statement.is_settled = true;
    statement
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_behind_the_last_account() {
        let blocks = BlockRange::new(0, 9).expect("ordered");
        let position = (U256::from(7), Address::repeat_byte(1));
        let statement = ranked(
            &AddressRanking { by: RankedBy::Transactions, order: SortOrder::LargestFirst, blocks },
            Some(position),
            51,
        );
        insta::assert_snapshot!(statement.sql, @r"
        SELECT address, amount
        FROM
        (
          SELECT address, toUInt256(count()) AS amount
          FROM
          (
            SELECT address
            FROM transactions_by_address
            WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
            GROUP BY address, block_number, transaction_index
          )
          GROUP BY address
        )
        WHERE amount > 0
          AND (amount < toUInt256({beyond_amount:String})
            OR amount = toUInt256({beyond_amount:String}) AND address > toFixedString(unhex({beyond_address:String}), 20))
        ORDER BY amount DESC, address
        LIMIT {limit:UInt64}
        ");
    }
}
