//! The coins that an address received and sent, by counterparty.

use super::{MAX_NEWEST, grouped, of_blocks, whole};
use crate::select::{Select, settled_blocks};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What an address received from another and sent to it.
    pub struct CoinSum / CoinSumView {
        /// The other address; the address itself for what it sent to itself. None where an old node did not name it,
        /// and then the amount is not known either.
        counterparty: Option<Address>,
        /// Transactions and calls to the address.
        received: u64,
        /// Those from it.
        sent: u64,
        /// Wei that it received: the sum of the upper halves of the amounts,
        received_upper: U256,
        /// and that of the lower halves.
        received_lower: U256,
        /// Wei that it sent, likewise.
        sent_upper: U256,
        /// The sum of the lower halves.
        sent_lower: U256,
    }
}

columns! {
    /// A call frame that moved coins.
    pub struct Coin / CoinView {
        /// Sender, caller or creator, or the contract that destroyed itself.
        from_address: Address,
        /// Who received; none for a creation, and where an old node did not say it.
        to_address: Option<Address>,
        /// The contract that a creation made.
        created_contract: Option<Address>,
        /// Wei that it moved.
        value: U256,
    }
}

columns! {
    /// How much there is to read.
    pub struct CoinsSize / CoinsSizeView {
        /// Transactions and calls of the address, at most twice [`MAX_MOVES`].
        found: u64,
    }
}

/// Most transactions and calls of an address that are looked at.
pub const MAX_MOVES: u64 = 5_000_000;

/// A frame that moves coins: a delegated call does not, though nodes show the value of the frame above it. What a
/// contract that destroys itself gives is not known where an old node did not name the receiver.
pub(crate) const MOVES: &str = "is_undone = 0
  AND frame_type != 'reward'
  AND (frame_type != 'call' OR call_type = 'call')
  AND (value > 0 OR frame_type = 'selfdestruct' AND to_address IS NULL)";

impl CoinSum {
    /// Wei that the address received and sent; `None` for a sum that does not fit 256 bits.
    #[must_use]
    pub fn amounts(&self) -> [Option<U256>; 2] {
        [whole(self.received_upper, self.received_lower), whole(self.sent_upper, self.sent_lower)]
    }
}

/// How many transactions and calls of settled blocks `address` takes part in.
#[must_use]
pub fn size(address: &Address, settled: &[BlockRange]) -> Statement<CoinsSize> {
    let rows = |table: &str| {
        format!(
            "SELECT 1 FROM {table} WHERE address = toFixedString(unhex({{address:String}}), 20) AND {} LIMIT {{limit:UInt64}}",
            settled_blocks("block_number", settled).join(" AND ")
        )
    };
    let sql = format!(
        "SELECT count() AS found
FROM
(
  {}
  UNION ALL
  {}
)",
        rows("internal_transactions_by_address"),
        rows("transactions_by_address")
    );
    of_blocks(settled, sql).with("address", address).with("limit", MAX_MOVES)
}

/// The sums of what `address` received and sent in settled blocks, by transactions and by calls that were not undone.
#[must_use]
pub fn sums(address: &Address, settled: &[BlockRange]) -> Statement<CoinSum> {
    let blocks = settled_blocks("block_number", settled).join(" AND ");
    let sql = format!(
        "SELECT if(is_receiver, from_address, receiver) AS counterparty,
  countIf(is_receiver) AS received,
  countIf(is_sender) AS sent,
  sumIf(bitShiftRight(value, 128), is_receiver) AS received_upper,
  sumIf(bitAnd(value, lower_half), is_receiver) AS received_lower,
  sumIf(bitShiftRight(value, 128), is_sender) AS sent_upper,
  sumIf(bitAnd(value, lower_half), is_sender) AS sent_lower
FROM
(
  SELECT from_address, ifNull(to_address, created_contract) AS receiver, value,
    toFixedString(unhex({{address:String}}), 20) AS address,
    ifNull(receiver = address, 0) AS is_receiver, from_address = address AS is_sender,
    toUInt256('340282366920938463463374607431768211455') AS lower_half
  FROM internal_transactions
  WHERE (block_number, transaction_index, frame_index) GLOBAL IN
  (
    SELECT block_number, transaction_index, frame_index
    FROM internal_transactions_by_address
    WHERE address = toFixedString(unhex({{address:String}}), 20)
      AND (value > 0 OR frame_type = 'selfdestruct')
      AND {blocks}
    UNION ALL
    SELECT block_number, transaction_index, toUInt32(0)
    FROM transactions_by_address
    WHERE address = toFixedString(unhex({{address:String}}), 20)
      AND value > 0
      AND {blocks}
  )
  AND {blocks}
  AND {MOVES}
)
WHERE is_receiver OR is_sender
GROUP BY counterparty
ORDER BY counterparty
LIMIT {{limit:UInt64}}"
    );
    grouped(address, settled, sql)
}

/// The same of rows in memory.
pub(crate) fn moves() -> Predicate {
    Predicate::AllOf(vec![
        Predicate::equals("is_undone", 0),
        Predicate::IsNot { column: "frame_type", value: "reward" },
        Predicate::AnyOf(vec![
            Predicate::IsNot { column: "frame_type", value: "call" },
            Predicate::is("call_type", "call"),
        ]),
        Predicate::AnyOf(vec![Predicate::NotZero { column: "value" }, Predicate::is("frame_type", "selfdestruct")]),
    ])
}

/// The frames in the blocks of `span` that gave something to `address` or took something from it.
#[must_use]
pub fn newest(address: &Address, span: &Span) -> Statement<Coin> {
    let sides = vec!["from_address", "to_address", "created_contract"];
    let side = |column: &&str| format!("{column} = toFixedString(unhex({{address:String}}), 20)");
    let is_side: Vec<String> = sides.iter().map(side).collect();
    Select::default()
        .blocks("block_number", span)
        .newest_condition(format!("({})", is_side.join(" OR ")), Predicate::among_any(sides, &[address]))
        .newest_condition(format!("({MOVES})"), moves())
        .with("address", address)
        .page("internal_transactions", "block_number, transaction_index, frame_index", MAX_NEWEST)
}
