//! Cursors of lists: the position of the last item of a page, as `next_page_params` holds it and as clients send it
//! back. Each type reads, writes and describes itself.

mod ids;

pub(super) use ids::{IdCursor, InstanceCursor};

use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query};
use trawl_core::primitives::{Address, BlockNumber, FramePosition, LogPosition, TransactionPosition, TransferPosition};
use trawl_json::tokens::balances::TokenBalance;
use trawl_json::{JsonWriter, Object};
use trawl_query::tokens::balances::HoldingPosition;
use trawl_query::tokens::holders::HolderPosition;

/// The position of the last item of a page.
pub(super) trait Cursor: Sized {
    /// The query parameters of the cursor.
    const PARAMETERS: ParameterGroup;

    /// The cursor of a request; `None` on the first page.
    ///
    /// # Errors
    ///
    /// When a part of it is missing.
    fn read(query: &Query) -> Result<Option<Self>, Problem>;

    /// Writes its members, in alphabetical order, with the number of items on the page.
    fn write(&self, next: &mut Object<'_>, count: u64);

    /// A function that calls [`Cursor::write`] for a page of `count` items.
    fn writer(self, count: u64) -> impl FnOnce(&mut Object<'_>) {
        move |next| self.write(next, count)
    }
}

/// Members of cursors of transactions that Blockscout has for pending ones; of others they say nothing more.
pub(super) const OF_PENDING: ParameterGroup = &[("inserted_at", Kind::Text), ("hash", Kind::Hash)];

/// Requires that a cursor with any of [`OF_PENDING`] names a block too: alone they are no position here.
///
/// # Errors
///
/// When the block is missing.
pub(super) fn require_block(query: &Query) -> Result<(), Problem> {
    let is_of_pending = query.text("inserted_at").is_some() || query.hash("hash").is_some();
    match is_of_pending && query.integer("block_number").is_none() {
        true => Err(missing("block_number")),
        false => Ok(()),
    }
}

/// An integer of a cursor; a negative one counts as 0, since no item lies below either.
fn non_negative(query: &Query, name: &str) -> Option<u64> {
    query.integer(name).map(|number| number.try_into().unwrap_or(0))
}

/// A part of a cursor is missing.
pub(super) fn missing(name: &str) -> Problem {
    Problem::invalid_parameter(name, format!("Missing field: {name}"))
}

/// The cursor of lists of blocks, several of which may have the same height.
pub(super) struct BlockCursor {
    /// Height of the last block of the page.
    pub block_number: BlockNumber,
}

impl Cursor for BlockCursor {
    const PARAMETERS: ParameterGroup = &[("block_number", Kind::Height)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        Ok(query.height("block_number").map(|block_number| Self { block_number }))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("block_number").number(self.block_number);
        next.key("items_count").number(count);
    }
}

/// The cursor of lists of withdrawals.
pub(super) struct WithdrawalCursor {
    /// The index over all withdrawals of the chain.
    pub index: u64,
}

impl Cursor for WithdrawalCursor {
    const PARAMETERS: ParameterGroup = &[("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        Ok(non_negative(query, "index").map(|index| Self { index }))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("index").number(self.index);
        next.key("items_count").number(count);
    }
}

/// The cursor of the list of all withdrawals, whose order is that of blocks.
pub(super) struct ChainWithdrawalCursor {
    /// The block of the withdrawal; `None` in the cursors that Blockscout makes.
    pub block_number: Option<BlockNumber>,
    /// The index over all withdrawals of the chain.
    pub index: u64,
}

impl Cursor for ChainWithdrawalCursor {
    const PARAMETERS: ParameterGroup = &[("block_number", Kind::Height), ("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require("block_number", "index")?;
        let block_number = query.height("block_number");
        Ok(non_negative(query, "index").map(|index| Self { block_number, index }))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("block_number").option(self.block_number, JsonWriter::number);
        next.key("index").number(self.index);
        next.key("items_count").number(count);
    }
}

/// The cursor of the logs of a transaction, which ascend.
pub(super) struct LogCursor {
    /// The block of the transaction.
    pub block_number: BlockNumber,
    /// The index of the log in its block; `None` for the position before the first log.
    pub log_index: Option<u64>,
}

impl Cursor for LogCursor {
    const PARAMETERS: ParameterGroup = &[("block_number", Kind::Height), ("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        // The index alone is a cursor too: the block is that of the transaction.
        query.require("block_number", "index")?;
        let log_index = |index| u64::try_from(index).ok();
        let block_number = query.height("block_number").unwrap_or_default();
        Ok(query.integer("index").map(|index| Self { block_number, log_index: log_index(index) }))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("block_number").number(self.block_number);
        next.key("index").number(self.log_index.unwrap_or_default());
        next.key("items_count").number(count);
    }
}

/// The cursor of the logs of an address, which descend.
pub(super) struct AddressLogCursor(pub LogPosition);

impl Cursor for AddressLogCursor {
    const PARAMETERS: ParameterGroup = LogCursor::PARAMETERS;

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["block_number", "index"])?;
        let log_index = non_negative(query, "index").unwrap_or_default();
        Ok(query.height("block_number").map(|block_number| Self(LogPosition { block_number, log_index })))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        LogCursor { block_number: self.0.block_number, log_index: Some(self.0.log_index) }.write(next, count);
    }
}

/// The cursor of a search: where names that begin with the text go on.
pub(super) struct TermCursor {
    /// The name, in lower case from one of its words on.
    pub term: String,
    /// An address of that name.
    pub address: Address,
}

impl Cursor for TermCursor {
    const PARAMETERS: ParameterGroup = &[("term", Kind::Text), ("address_hash", Kind::Address)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        let missing = |name: &str| Problem::invalid_parameter(name, format!("Missing field: {name}"));
        match (query.text("term"), query.address("address_hash")) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(missing("term")),
            (Some(_), None) => Err(missing("address_hash")),
            (Some(term), Some(address)) => Ok(Some(Self { term: term.to_owned(), address })),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("address_hash").string(&self.address.to_checksum(None));
        next.key("items_count").number(count);
        next.key("term").string(&self.term);
    }
}

/// The cursor of lists of transactions.
pub(super) struct TransactionCursor(pub TransactionPosition);

impl Cursor for TransactionCursor {
    const PARAMETERS: ParameterGroup = &[("block_number", Kind::Height), ("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["block_number", "index"])?;
        let position = |block_number| TransactionPosition {
            block_number,
            transaction_index: non_negative(query, "index").unwrap_or_default(),
        };
        Ok(query.height("block_number").map(|block_number| Self(position(block_number))))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("block_number").number(self.0.block_number);
        next.key("index").number(self.0.transaction_index);
        next.key("items_count").number(count);
    }
}

impl TransactionCursor {
    /// The cursor of a list that ascends: a negative index is the position before the first transaction of a block,
    /// thus after the last one of the block before it.
    ///
    /// # Errors
    ///
    /// When a part of it is missing.
    pub fn read_ascending(query: &Query) -> Result<Option<TransactionPosition>, Problem> {
        let Some(Self(position)) = Self::read(query)? else { return Ok(None) };
        if query.height("index").is_some() {
            return Ok(Some(position));
        }
        let before = |block_number| TransactionPosition { block_number, transaction_index: u64::MAX };
        Ok(position.block_number.checked_sub(1).map(before))
    }
}

/// The cursor of lists of call frames.
pub(super) struct FrameCursor(pub FramePosition);

impl Cursor for FrameCursor {
    const PARAMETERS: ParameterGroup =
        &[("block_number", Kind::Height), ("transaction_index", Kind::Integer), ("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["block_number", "transaction_index", "index"])?;
        Ok(non_negative(query, "block_number").map(|block_number| {
            Self(FramePosition {
                block_number,
                transaction_index: non_negative(query, "transaction_index").unwrap_or(0),
                frame_index: non_negative(query, "index").unwrap_or(0),
            })
        }))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("block_number").number(self.0.block_number);
        next.key("index").number(self.0.frame_index);
        next.key("items_count").number(count);
        next.key("transaction_index").number(self.0.transaction_index);
    }
}

/// The cursor of what an address holds: in the order of the tokens.
pub(super) struct HoldingCursor(pub HoldingPosition);

impl Cursor for HoldingCursor {
    const PARAMETERS: ParameterGroup =
        &[("token_contract_address_hash", Kind::Address), ("token_type", Kind::Standards)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        match (query.address("token_contract_address_hash"), query.standards("token_type").first()) {
            (Some(token), Some(standard)) => Ok(Some(Self(HoldingPosition { token, standard }))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(missing("token_contract_address_hash")),
            (Some(_), None) => Err(missing("token_type")),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("items_count").number(count);
        next.key("token_contract_address_hash").string(&self.0.token.to_checksum(None));
        next.key("token_type").string(self.0.standard);
    }
}

impl HoldingCursor {
    /// The cursor after a holding.
    pub fn of(holding: &TokenBalance) -> Option<Self> {
        let standard = ["ERC-20", "ERC-721", "ERC-1155"].into_iter().find(|name| *name == holding.token_type)?;
        Some(Self(HoldingPosition { token: holding.token, standard }))
    }
}

/// The cursor of who holds a token: the largest balance first.
pub(super) struct HolderCursor(pub HolderPosition);

impl Cursor for HolderCursor {
    const PARAMETERS: ParameterGroup = &[("address_hash", Kind::Address), ("value", Kind::Amount)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        match (query.address("address_hash"), query.amount("value")) {
            (Some(holder), Some(held)) => Ok(Some(Self(HolderPosition { held, holder }))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(missing("address_hash")),
            (Some(_), None) => Err(missing("value")),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("address_hash").string(&self.0.holder.to_checksum(None));
        next.key("items_count").number(count);
        next.key("value").decimal_256(self.0.held);
    }
}

/// The cursor of the call frames of a block, which ascend.
pub(super) struct BlockFrameCursor {
    /// Position of the transaction in the block.
    pub transaction_index: u64,
    /// Position of the frame in the transaction.
    pub frame_index: u64,
}

impl Cursor for BlockFrameCursor {
    const PARAMETERS: ParameterGroup = &[("transaction_index", Kind::Integer), ("index", Kind::Integer)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["transaction_index", "index"])?;
        Ok(query
            .integer("transaction_index")
            .zip(query.integer("index"))
            .and_then(|(transaction, frame)| Self::after(transaction, frame)))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("index").number(self.frame_index);
        next.key("items_count").number(count);
        next.key("transaction_index").number(self.transaction_index);
    }
}

impl BlockFrameCursor {
    /// The position after which frames are listed: before the first frame of a transaction lie all frames of the
    /// transactions before it; `None` before the first transaction.
    fn after(transaction: i64, frame: i64) -> Option<Self> {
        let transaction_index = u64::try_from(transaction).ok()?;
        match u64::try_from(frame) {
            Ok(frame_index) => Some(Self { transaction_index, frame_index }),
            Err(_) => Some(Self { transaction_index: transaction_index.checked_sub(1)?, frame_index: u64::MAX }),
        }
    }
}

/// The cursor of lists of token transfers.
pub(super) struct TransferCursor {
    /// The log, and where a page ended inside a batch, the index in the batch.
    pub position: TransferPosition,
    /// For a page that ended inside a batch: the hashes of its block and of its transaction.
    pub batch: Option<[[u8; 32]; 2]>,
}

impl Cursor for TransferCursor {
    const PARAMETERS: ParameterGroup = &[
        ("block_number", Kind::Height),
        ("index", Kind::Integer),
        ("batch_log_index", Kind::Integer),
        ("batch_block_hash", Kind::Hash),
        ("batch_transaction_hash", Kind::Hash),
        ("index_in_batch", Kind::Integer),
    ];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["block_number", "index"])?;
        Ok(non_negative(query, "block_number").map(|block_number| {
            let log_index = non_negative(query, "index").unwrap_or(0);
            // Without it, the page before ended after a whole log.
            let batch_index = non_negative(query, "index_in_batch").unwrap_or(0);
            Self { position: TransferPosition { block_number, log_index, batch_index }, batch: None }
        }))
    }

    /// The members of a batch come last, under the names that clients of this API family send back.
    fn write(&self, next: &mut Object<'_>, _count: u64) {
        next.key("block_number").number(self.position.block_number);
        next.key("index").number(self.position.log_index);
        if let Some([block_hash, transaction_hash]) = &self.batch {
            next.key("batch_log_index").number(self.position.log_index);
            next.key("batch_block_hash").hex(block_hash);
            next.key("batch_transaction_hash").hex(transaction_hash);
            next.key("index_in_batch").number(self.position.batch_index);
        }
    }
}
