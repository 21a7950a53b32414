//! The transfers of a token by day.

use super::{DAY, MAX_NEWEST, grouped, whole};
use crate::select::{Select, settled_blocks};
use crate::tokens::{OF_TOKEN, TRANSFERS_OF_LOG};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, BlockRange, Timestamp, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What the transfers of a day add up to.
    pub struct TransferSum / TransferSumView {
        /// Days since 1970.
        day: u64,
        /// Number of transfers.
        transfers: u64,
        /// Those from the zero address.
        mints: u64,
        /// Those to the zero address.
        burns: u64,
        /// Those of ERC-20.
        with_amount: u64,
        /// What these moved in the smallest unit: the sum of the upper halves of the amounts,
        upper: U256,
        /// and that of the lower halves.
        lower: U256,
    }
}

columns! {
    /// A transfer of the token, with what is added up of it.
    pub struct Transfer / TransferView {
        /// Time of its block.
        block_timestamp: Timestamp,
        /// ERC-20, ERC-721 or ERC-1155.
        token_type: String,
        /// Who gave; zero for a mint.
        from_address: Address,
        /// Who received; zero for a burn.
        to_address: Address,
        /// Amount in the smallest unit.
        value: U256,
    }
}

impl TransferSum {
    /// What the transfers moved in the smallest unit; `None` if one of them has no amount, or the sum does not fit 256
    /// bits.
    #[must_use]
    pub fn amount(&self) -> Option<U256> {
        if self.with_amount == self.transfers { whole(self.upper, self.lower) } else { None }
    }
}

/// The sums of the transfers that logs of `token` in settled blocks are.
#[must_use]
pub fn sums(token: &Address, settled: &[BlockRange]) -> Statement<TransferSum> {
    let sql = format!(
        "SELECT day, toUInt64(sum(found)) AS transfers,
  toUInt64(sumIf(found, giver = toFixedString('', 32))) AS mints,
  toUInt64(sumIf(found, receiver = toFixedString('', 32))) AS burns,
  countIf(has_amount) AS with_amount,
  sumIf(upper_half, has_amount) AS upper,
  sumIf(lower_half, has_amount) AS lower
FROM
(
  SELECT {DAY} AS day, {TRANSFERS_OF_LOG} AS found,
    hex(topic0) = 'DDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF' AS is_plain,
    if(is_plain, topic1, topic2) AS giver, if(is_plain, topic2, topic3) AS receiver,
    is_plain AND topics_count = 3 AS has_amount,
    reinterpretAsUInt256(reverse(substring(data, 1, 16))) AS upper_half,
    reinterpretAsUInt256(reverse(substring(data, 17, 16))) AS lower_half
  FROM logs
  WHERE {OF_TOKEN}
    AND {}
)
WHERE found > 0
GROUP BY day
ORDER BY day
LIMIT {{limit:UInt64}}",
        settled_blocks("block_number", settled).join("\n    AND ")
    );
    grouped(token, settled, sql)
}

/// Its transfers in the blocks of `span`.
#[must_use]
pub fn newest(token: &Address, span: &Span) -> Statement<Transfer> {
    Select::default()
        .blocks("block_number", span)
        .newest_condition(
            "token_address = toFixedString(unhex({address:String}), 20)",
            Predicate::among("token_address", &[token]),
        )
        .with("address", token)
        .page("token_transfers_by_block", "block_number, log_index, batch_index", MAX_NEWEST)
}
