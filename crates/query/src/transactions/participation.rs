//! Plans for the transactions that an address takes part in: as sender, recipient or created contract, or in any call
//! within them.

use super::positions::PositionRow;
use crate::select::{Select, participant};
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

/// The end from which a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// From the highest position down.
    Newest,
    /// From the lowest position up.
    Oldest,
}

impl End {
    fn order(self) -> &'static str {
        match self {
            Self::Newest => "block_number DESC, transaction_index DESC",
            Self::Oldest => "block_number, transaction_index",
        }
    }
}

/// The columns of a position.
const POSITION: &str = "block_number, transaction_index";

/// Where an address is searched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParticipationQuery {
    /// Blocks whose transactions are searched.
    pub transactions: Span,
    /// Blocks whose call frames are searched.
    pub frames: Span,
}

/// The positions of the transactions that an address takes part in: lists to be merged, each with at least the first
/// `limit` of its positions, if it has so many. A list may have one several times.
///
/// Frames in memory are not deduplicated by position, so all of the address are read; memory is bounded.
#[must_use]
pub fn positions(
    address: &Address,
    from: End,
    searched: &ParticipationQuery,
    limit: u64,
) -> [Statement<PositionRow>; 4] {
    let ParticipationQuery { transactions, frames } = searched;
    let order = from.order();
    let in_tables = Span { newest: Default::default(), ..frames.clone() };
    let in_memory = Span { newest: frames.newest.clone(), ..Span::default() };
    let by_address = |blocks: &Span| participant(address, None).once(POSITION).blocks("block_number", blocks);
    let columns = ["from_address", "to_address", "contract_address"];
    [
        by_address(&transactions.only_settled()).page("transactions_by_address", order, limit),
        sent_or_received(address, &columns, &transactions.without_settled()).page("transactions", order, limit),
        by_address(&in_tables).page("internal_transactions_by_address", order, limit),
        by_address(&in_memory).page("internal_transactions_by_address", order, u64::MAX),
    ]
}

/// Rows of transactions with an address in one of the columns.
fn sent_or_received(address: &Address, columns: &[&'static str], blocks: &Span) -> Select {
    let equal = |column: &&str| format!("{column} = toFixedString(unhex({{address:String}}), 20)");
    let any: Vec<String> = columns.iter().map(equal).collect();
    Select::default()
        .blocks("block_number", blocks)
        .condition(format!("({})", any.join(" OR ")), Predicate::among_any(columns.to_vec(), &[address]))
        .with("address", address)
}

/// The positions of the newest transactions of a sender with a nonce, `limit` at most: of those of settled blocks,
/// and of the others.
#[must_use]
pub fn of_nonce(sender: &Address, nonce: u64, blocks: &Span, limit: u64) -> [Statement<PositionRow>; 2] {
    let with_nonce = |select: Select| {
        select.condition("nonce = {nonce:UInt64}", Predicate::equals("nonce", nonce)).with("nonce", nonce)
    };
    let settled = participant(sender, None).blocks("block_number", &blocks.only_settled());
    let settled = settled.settled_condition("sides IN (1, 3)");
    let newest = sent_or_received(sender, &["from_address"], &blocks.without_settled());
    [
        with_nonce(settled).page("transactions_by_address", End::Newest.order(), limit),
        with_nonce(newest).page("transactions", End::Newest.order(), limit),
    ]
}

columns! {
    /// A creation of a contract.
    pub struct Creation / CreationView {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// The transaction; zero for the genesis.
        transaction_hash: B256,
        /// Account that created the contract.
        creator: Address,
        /// `create`, `create2`, `transaction` or `genesis`.
        creation_type: String,
    }
}

/// The newest creation of a contract in `blocks`.
#[must_use]
pub fn creation(address: &Address, blocks: &Span) -> Statement<Creation> {
    participant(address, None).blocks("block_number", blocks).page("contracts", End::Newest.order(), 1)
}
