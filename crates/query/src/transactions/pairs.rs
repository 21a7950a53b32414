//! Plans for the settled transactions from one account to another: no table is ordered by both, so those of the side
//! with fewer are looked up in the key range of the other one.

use super::positions::PositionRow;
use super::sides;
use crate::select::{Select, settled_blocks};
use crate::walk::Walk;
use trawl_core::primitives::{Address, BlockRange, Direction};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// How many transactions an account has on a side.
    pub struct SideSize / SideSizeView {
        /// Transactions; one that is stored twice counts twice.
        found: u64,
    }
}

/// Most transactions of the side with fewer.
pub const MAX_OF_A_SIDE: u64 = 1_000_000;

/// A sender and a recipient; of creations, the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The account that signed.
    pub sender: Address,
    /// Who was called or created.
    pub recipient: Address,
}

impl Pair {
    fn account(&self, side: Direction) -> &Address {
        match side {
            Direction::From => &self.sender,
            Direction::To => &self.recipient,
        }
    }

    /// The number of settled transactions with the account of a side.
    #[must_use]
    pub fn size(&self, side: Direction, settled: &[BlockRange]) -> Statement<SideSize> {
        let sql = format!("SELECT count() AS found\n{}", range("account", "sides", settled));
        let select = Select::default().blocks("block_number", &settled.to_vec().into());
        select.with("account", self.account(side)).with("sides", Parameter::Numbers(sides(Some(side)))).statement(sql)
    }

    /// The positions of the settled transactions of the pair; the side that has `fewer` is read as a whole.
    #[must_use]
    pub fn positions(&self, fewer: Direction, settled: &[BlockRange], walk: Walk) -> Statement<PositionRow> {
        let more = match fewer {
            Direction::From => Direction::To,
            Direction::To => Direction::From,
        };
        let sql = format!(
            "SELECT block_number, transaction_index
{}
  AND (block_number, transaction_index) GLOBAL IN (
SELECT block_number, transaction_index
{}
)
ORDER BY {}
LIMIT 1 BY block_number, transaction_index
LIMIT {{limit:UInt64}}",
            range("more", "sides_of_more", settled),
            range("fewer", "sides_of_fewer", settled),
            walk.order_by()
        );
        let select = Select::default().blocks("block_number", &settled.to_vec().into());
        select
            .with("more", self.account(more))
            .with("sides_of_more", Parameter::Numbers(sides(Some(more))))
            .with("fewer", self.account(fewer))
            .with("sides_of_fewer", Parameter::Numbers(sides(Some(fewer))))
            .with("limit", walk.limit)
            .statement(sql)
    }
}

/// The rows of an account on a side.
fn range(account: &str, sides: &str, settled: &[BlockRange]) -> String {
    format!(
        "FROM transactions_by_address
WHERE address = toFixedString(unhex({{{account}:String}}), 20)
  AND has({{{sides}:Array(UInt64)}}, sides)
  AND {}",
        settled_blocks("block_number", settled).join("\n  AND ")
    )
}
