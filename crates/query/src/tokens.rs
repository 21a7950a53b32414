//! Plans for one token: its transfers, found through its logs, and how many there are.

pub mod balances;
pub mod holders;
pub mod instances;
pub mod ranking;
pub mod transfers;

use std::cmp::Ordering;

use super::select::{Select, settled_blocks, up_to};
use alloy_primitives::b256;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, BlockRange, TransferPosition, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{Columns as _, TokenTransferRow};
use trawl_core::statement::{SUM_SETTINGS, Statement, Workload};

columns! {
    /// Transfers of a token.
    pub struct TokenTransferTotal / TokenTransferTotalView {
        /// How many there are.
        transfers: u64,
    }
}

columns! {
    /// A log of a movement that does not say of which standard it is.
    pub struct UnusualTransfer / UnusualTransferView {
        /// Height of its block.
        block_number: u64,
    }
}

/// `Transfer(address,address,uint256)` of ERC-20 and ERC-721.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
/// `TransferSingle(address,address,address,uint256,uint256)` and
/// `TransferBatch(address,address,address,uint256[],uint256[])`.
const OF_IDS: [B256; 2] = [
    b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62"),
    b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"),
];

/// Whether a log with the event of a standard has fewer topics than that, and the rest of the parameters in its data.
const UNUSUAL: &str = "multiIf(
    hex(topic0) = 'DDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF', topics_count < 3 AND 32 * topics_count + length(data) = 128,
    topics_count > 3, 0,
    hex(topic0) = 'C3D58168C5AE7397731D063D5BBF3D657854427343F4C083240F7AACAA2D0F62', 32 * topics_count + length(data) = 192,
    length(data) % 32 = 0 AND 32 * topics_count + length(data) >= 288)";

/// The newest log of `token` in `blocks` that moves something and has fewer indexed parameters than its standard: which
/// one it follows, an amount or an id, the log does not say.
#[must_use]
pub fn unusual_transfer(token: &Address, blocks: &Span) -> Statement<UnusualTransfer> {
    let fewer = |topics| Predicate::Position { columns: vec!["topics_count"], is: Ordering::Less, than: vec![topics] };
    let test = Predicate::AnyOf(vec![
        Predicate::AllOf(vec![Predicate::among("topic0", &[TRANSFER]), fewer(3)]),
        Predicate::AllOf(vec![Predicate::among("topic0", &OF_IDS), fewer(4)]),
    ]);
    Select::default()
        .condition("address = toFixedString(unhex({address:String}), 20)", Predicate::among("address", &[token]))
        .condition(format!("topic0 IN ({TOPICS})"), Predicate::among("topic0", &[TRANSFER, OF_IDS[0], OF_IDS[1]]))
        .condition(UNUSUAL, test)
        .blocks("block_number", blocks)
        .with("address", token)
        .page("logs", "block_number DESC", 1)
}

/// How many transfers a log is, by its shape alone, as the load tells it: the upper bytes of an address are zero, a
/// batch has its items behind two offsets and two lengths and nothing else, and items of the same id are one transfer.
pub(super) const TRANSFERS_OF_LOG: &str = "multiIf(
    substring(topic1, 1, 12) != unhex(repeat('00', 12)) OR substring(topic2, 1, 12) != unhex(repeat('00', 12)), 0,
    hex(topic0) = 'DDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF',
      (topics_count, length(data)) IN ((3, 32), (4, 0)),
    topics_count != 4 OR substring(topic3, 1, 12) != unhex(repeat('00', 12)), 0,
    hex(topic0) = 'C3D58168C5AE7397731D063D5BBF3D657854427343F4C083240F7AACAA2D0F62', length(data) = 64,
    length(data) < 128 OR length(data) % 64 != 0, 0,
    substring(data, 1, 64) != unhex(concat(leftPad('40', 64, '0'), leftPad(hex(toUInt64(length(data) / 2 + 32)), 64, '0'))), 0,
    substring(data, 65, 32) != unhex(leftPad(hex(toUInt64((length(data) - 128) / 64)), 64, '0')), 0,
    substring(data, toUInt64(length(data) / 2 + 33), 32) != substring(data, 65, 32), 0,
    arrayUniq(arrayMap(item -> substring(data, 97 + 32 * item, 32), range(toUInt64((length(data) - 128) / 64)))))";

/// The events of ERC-20 and ERC-721, and both of ERC-1155.
const TOPICS: &str = "unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'), unhex('c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'), unhex('4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb')";

/// The logs of a token that may be transfers: the events of ERC-20 and ERC-721, and both of ERC-1155.
pub(super) const OF_TOKEN: &str = "address = toFixedString(unhex({address:String}), 20)
  AND topic0 IN (unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'), unhex('c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'), unhex('4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'))";

/// Whether a log that is a transfer moves an id: of ERC-721 its last topic, of ERC-1155 the first word or one item of
/// the first list.
const MOVES_ID: &str = "multiIf(
    hex(topic0) = 'DDF252AD1BE2C89B69C2B068FC378DAA952BA7F163C4A11628F55A4DF523B3EF', topics_count = 4 AND topic3 = unhex({id_word:String}),
    hex(topic0) = 'C3D58168C5AE7397731D063D5BBF3D657854427343F4C083240F7AACAA2D0F62', substring(data, 1, 32) = unhex({id_word:String}),
    arrayExists(item -> substring(data, 97 + 32 * item, 32) = unhex({id_word:String}), range(toUInt64(intDiv(greatest(toInt64(length(data)) - 128, 0), 64)))))";

/// A token, or one id of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenPart<'a> {
    /// All of a token.
    Token(&'a Address),
    /// One id of an ERC-721 or ERC-1155 token.
    Id(&'a Address, U256),
}

impl<'a> TokenPart<'a> {
    /// Address of the token contract.
    #[must_use]
    pub fn token(&self) -> &'a Address {
        let (Self::Token(token) | Self::Id(token, _)) = self;
        token
    }

    /// The condition on logs that transfers of it satisfy.
    fn condition(&self) -> String {
        match self {
            Self::Token(_) => format!("{TRANSFERS_OF_LOG} > 0"),
            Self::Id(..) => format!("{TRANSFERS_OF_LOG} > 0\n  AND {MOVES_ID}"),
        }
    }

    fn select(&self) -> Select {
        let select = Select::default().with("address", self.token());
        match self {
            Self::Token(_) => select,
            Self::Id(_, id) => select.with("id_word", const_hex::encode(id.to_be_bytes::<32>()).as_str()),
        }
    }
}

/// The transfers of a token, or of one id of it, in `blocks`, from the highest position down, below `before`: the
/// positions of its logs are a range of `logs`, each with a transfer at least, and the rows are found at them.
#[must_use]
pub fn transfers(
    part: TokenPart<'_>,
    blocks: &Span,
    before: Option<TransferPosition>,
    limit: u64,
) -> Statement<TokenTransferRow> {
    let blocks = before.map_or_else(|| blocks.clone(), |before| up_to(blocks, before.block_number));
    let select = part
        .select()
        .blocks("block_number", &blocks)
        .settled_condition(format!(
            "(block_number, log_index) GLOBAL IN (\n{}\n)",
            positions(&part, &blocks.settled, before)
        ))
        .newest_condition(
            "token_address = toFixedString(unhex({address:String}), 20)",
            Predicate::among("token_address", &[part.token()]),
        );
    let select = match part {
        TokenPart::Token(_) => select,
        TokenPart::Id(_, id) => select
            .condition("token_id = toUInt256({id:String})", Predicate::among("token_id", &[id.to_le_bytes::<32>()]))
            .with("id", id.to_string().as_str()),
    };
    let select = match before {
        Some(before) => below(select, before),
        None => select,
    };
    let spelt = |name: &&'static str| if *name == "address" { "from_address AS address" } else { *name };
    let columns: Vec<&str> = TokenTransferRow::names().iter().map(spelt).collect();
    let order = "block_number DESC, log_index DESC, batch_index DESC";
    select.page_of(&columns.join(", "), "token_transfers_by_block", order, limit)
}

fn below(select: Select, before: TransferPosition) -> Select {
    let position = Predicate::Position {
        columns: vec!["block_number", "log_index", "batch_index"],
        is: Ordering::Less,
        than: vec![before.block_number, before.log_index, before.batch_index],
    };
    select
        .condition(
            "(block_number, log_index, batch_index) < ({before_block:UInt64}, {before_log:UInt64}, {before_batch:UInt64})",
            position,
        )
        .with("before_block", before.block_number)
        .with("before_log", before.log_index)
        .with("before_batch", before.batch_index)
}

/// The positions of the logs of a page: one more than it has rows, as that of the cursor may have none left.
fn positions(part: &TokenPart<'_>, settled: &[BlockRange], before: Option<TransferPosition>) -> String {
    let before =
        before.map_or("", |_| "\n  AND (block_number, log_index) <= ({before_block:UInt64}, {before_log:UInt64})");
    format!(
        "SELECT block_number, log_index
FROM logs
WHERE {OF_TOKEN}
  AND {}{before}
  AND {}
ORDER BY block_number DESC, log_index DESC
LIMIT {{limit:UInt64}} + 1",
        settled_blocks("block_number", settled).join("\n  AND "),
        part.condition()
    )
}

/// How many transfers of a token, or of one id of it, there are in settled blocks: along its logs, so that the cost
/// grows with the token and the memory does not. Items of a batch with the same id are one transfer.
#[must_use]
pub fn transfers_total(part: TokenPart<'_>, settled: &[BlockRange]) -> Statement<TokenTransferTotal> {
    let count = match part {
        TokenPart::Token(_) => format!("sum({TRANSFERS_OF_LOG})"),
        TokenPart::Id(..) => format!("countIf({})", part.condition()),
    };
    let sql = format!(
        "SELECT toUInt64({count}) AS transfers
FROM logs
WHERE {OF_TOKEN}
  AND {}",
        settled_blocks("block_number", settled).join("\n  AND ")
    );
    let select = part.select().blocks("block_number", &settled.to_vec().into());
    let mut statement: Statement<TokenTransferTotal> = select.statement(sql);
    statement.settings = SUM_SETTINGS;
    statement.workload = Workload::Scan;
    statement.is_in_tables = !settled.is_empty();
    statement.is_settled = true;
    statement
}
