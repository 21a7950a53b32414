//! The token transfers of an address by counterparty and token.

use super::{MAX_NEWEST, grouped, whole};
use crate::select::{participant, settled_blocks};
use trawl_core::primitives::{Address, BlockRange, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What an address received from another and sent to it, of one token.
    pub struct FlowSum / FlowSumView {
        /// The other address; the address itself for what it sent to itself.
        counterparty: Address,
        /// The token contract.
        token_address: Address,
        /// ERC-20, ERC-721 or ERC-1155.
        token_type: String,
        /// Transfers to the address.
        received: u64,
        /// Transfers from it.
        sent: u64,
        /// What it received, in the smallest unit: the sum of the upper halves of the amounts,
        received_upper: U256,
        /// and that of the lower halves.
        received_lower: U256,
        /// What it sent, likewise.
        sent_upper: U256,
        /// The sum of the lower halves.
        sent_lower: U256,
    }
}

columns! {
    /// A token transfer of the address, with what is added up of it.
    pub struct Flow / FlowView {
        /// The token contract.
        token_address: Address,
        /// ERC-20, ERC-721 or ERC-1155.
        token_type: String,
        /// Who gave; zero for a mint.
        from_address: Address,
        /// Who received; zero for a burn.
        to_address: Address,
        /// Amount in the smallest unit; 1 for ERC-721.
        value: U256,
    }
}

impl FlowSum {
    /// What the address received and sent in the smallest unit; `None` for a sum that does not fit 256 bits.
    #[must_use]
    pub fn amounts(&self) -> [Option<U256>; 2] {
        [whole(self.received_upper, self.received_lower), whole(self.sent_upper, self.sent_lower)]
    }
}

/// The sums of the transfers that `address` took part in in settled blocks.
#[must_use]
pub fn sums(address: &Address, settled: &[BlockRange]) -> Statement<FlowSum> {
    let sql = format!(
        "SELECT if(is_receiver, from_address, to_address) AS counterparty, token_address, toString(token_type) AS token_type,
  countIf(is_receiver) AS received,
  countIf(is_sender) AS sent,
  sumIf(bitShiftRight(value, 128), is_receiver) AS received_upper,
  sumIf(bitAnd(value, lower_half), is_receiver) AS received_lower,
  sumIf(bitShiftRight(value, 128), is_sender) AS sent_upper,
  sumIf(bitAnd(value, lower_half), is_sender) AS sent_lower
FROM
(
  SELECT from_address, to_address, token_address, token_type, value,
    to_address = address AS is_receiver, from_address = address AS is_sender,
    toUInt256('340282366920938463463374607431768211455') AS lower_half
  FROM token_transfers
  WHERE address = toFixedString(unhex({{address:String}}), 20)
    AND {}
)
GROUP BY counterparty, token_address, token_type
ORDER BY counterparty, token_address, token_type
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    grouped(address, settled, sql)
}

/// The transfers that it took part in in the blocks of `span`.
#[must_use]
pub fn newest(address: &Address, span: &Span) -> Statement<Flow> {
    participant(address, None).blocks("block_number", span).page(
        "token_transfers",
        "block_number, log_index, batch_index",
        MAX_NEWEST,
    )
}
