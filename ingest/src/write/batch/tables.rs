//! Which rows a block has, and their way into one record batch per table.

use trawl_core::primitives::{Address, B256, is_padded_address};
use trawl_core::schema::{
    AddressInternalTransactionRow, BalanceRow, BlockByHashRow, BlockRow, BlockTokenTransferRow, CodeChangeRow, CodeRow,
    Column, Columns, ContractRow, CreditRow, DestructionRow, DirectedInternalTransactionRow, DirectedTokenTransferRow,
    InternalTransactionRow, LogRow, NonceRow, ProxyRow, StorageRow, Table, TokenTransferRow, TransactionByHashRow,
    TransactionRow, UncleRow, VerdictRow, WithdrawalRow,
};

use arrow::array::RecordBatch;

use super::counts::RowCounts;

/// A batch for one table, with the names of the tables that store these rows.
#[derive(Debug)]
pub struct TableBatch {
    /// Tables to write to.
    pub tables: &'static [&'static str],
    /// The rows; at least one.
    pub rows: RecordBatch,
}

/// How many rows these are by table, those that views write among them.
#[must_use]
pub fn counts_of(batches: &[TableBatch]) -> RowCounts {
    let mut counts = RowCounts::default();
    for batch in batches {
        batch.tables.iter().for_each(|table| counts.add(table, batch.rows.num_rows() as u64));
        // Views write the following while their sources are written.
        if batch.tables == BlockRow::NAMES {
            counts.add("blocks_by_miner", batch.rows.num_rows() as u64);
        }
        if let (true, Ok(logs)) = (batch.tables == LogRow::NAMES, LogRow::view(&batch.rows)) {
            counts.add("log_topics", logs.topics_count.iter().map(|topics| u64::from(*topics)).sum());
            let topics = |row| [&logs.topic1, &logs.topic2, &logs.topic3].map(|column| B256::get(column, row));
            let of_addresses = |row| addresses_among(topics(row), logs.topics_count[row]);
            counts.add("logs_by_topic", (0..batch.rows.num_rows()).map(of_addresses).sum());
        }
        if let (true, Ok(view)) = (batch.tables == TransactionRow::NAMES, TransactionRow::view(&batch.rows)) {
            let participants = |row| {
                let receivers =
                    [&view.to_address, &view.contract_address].map(|column| Option::<Address>::get(column, row));
                participants(Address::get(&view.from_address, row), receivers)
            };
            counts.add("transactions_by_address", (0..batch.rows.num_rows()).map(participants).sum());
        }
        if let (true, Ok(view)) =
            (batch.tables == InternalTransactionRow::NAMES, InternalTransactionRow::view(&batch.rows))
        {
            let listed = |row: &usize| is_listed(view.frame_index[*row], view.frame_type.value(*row));
            let listed = (0..batch.rows.num_rows()).filter(listed).count();
            counts.add("listed_internal_transactions", listed as u64);
        }
    }
    counts
}

/// Whether lists show a frame: not an outermost call, nor a reward.
fn is_listed(frame_index: u32, frame_type: &[u8]) -> bool {
    frame_type != b"reward" && (frame_index > 0 || frame_type != b"call")
}

/// How many addresses take part in a transaction.
/// How many of the topics 1 to 3 of a log with so many topics `logs_by_topic` has.
fn addresses_among(topics: [&B256; 3], topics_count: u8) -> u64 {
    let there = usize::from(topics_count).saturating_sub(1);
    topics.iter().take(there).filter(|topic| is_padded_address(topic)).count() as u64
}

fn participants(sender: Address, [recipient, created]: [Option<Address>; 2]) -> u64 {
    let others = [recipient, created.filter(|created| Some(*created) != recipient)];
    1 + others.iter().flatten().filter(|other| **other != sender).count() as u64
}

/// The rows of a builder.
pub(super) fn table<T: Table>(builder: T::Builder) -> TableBatch {
    TableBatch { tables: T::NAMES, rows: T::finish(builder) }
}

macro_rules! block_tables {
    ($($(#[$meta:meta])* $name:ident: $Row:ty,)*) => {
        /// Rows of one block. Rows that several tables keep in different orders are here once.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct BlockRows {
            $($(#[$meta])* pub $name: Vec<$Row>,)*
        }

        impl BlockRows {
            /// Adds the rows of another block.
            pub fn append(&mut self, mut other: Self) {
                $(self.$name.append(&mut other.$name);)*
            }

            /// The rows by table, tables without rows left out.
            #[must_use]
            pub fn into_tables(self) -> Vec<TableBatch> {
                let mut builders = Builders::default();
                builders.push(self);
                builders.into_tables()
            }

            /// How many rows it has in each table.
            #[must_use]
            pub fn counts(&self) -> RowCounts {
                let mut counts = RowCounts::default();
                $(for table in <$Row as Table>::NAMES {
                    counts.add(table, self.$name.len() as u64);
                })*
                // Views write the following while their sources are written.
                counts.add("blocks_by_miner", self.blocks.len() as u64);
                let listed = |row: &&InternalTransactionRow| is_listed(row.frame_index, row.frame_type.as_bytes());
                let listed = self.internal_transactions.iter().filter(listed).count();
                counts.add("listed_internal_transactions", listed as u64);
                counts.add("log_topics", self.logs.iter().map(|log| u64::from(log.topics_count)).sum());
                let of_addresses =
                    |log: &LogRow| addresses_among([&log.topic1, &log.topic2, &log.topic3], log.topics_count);
                counts.add("logs_by_topic", self.logs.iter().map(of_addresses).sum());
                let participants = |row: &TransactionRow| {
                    participants(row.from_address, [row.to_address, row.contract_address])
                };
                counts.add("transactions_by_address", self.transactions.iter().map(participants).sum());
                counts
            }
        }

        /// The tables that store the rows of `table`, each in an order of its own; `None` if no block has such rows.
        #[must_use]
        pub fn names_of(table: &str) -> Option<&'static [&'static str]> {
            [$(<$Row as Table>::NAMES),*].into_iter().find(|names| names[0] == table)
        }

        /// The rows of many blocks as columns.
        #[derive(Debug, Default)]
        pub(super) struct Builders {
            $($name: <$Row as Table>::Builder,)*
        }

        impl Builders {
            pub(super) fn push(&mut self, rows: BlockRows) {
                $(for row in rows.$name {
                    <$Row as Table>::push(&mut self.$name, row);
                })*
            }

            /// The rows by table, tables without rows left out.
            pub(super) fn into_tables(self) -> Vec<TableBatch> {
                let all = vec![$(table::<$Row>(self.$name)),*];
                all.into_iter().filter(|batch| batch.rows.num_rows() > 0).collect()
            }
        }
    };
}

block_tables! {
    /// The block itself.
    blocks: BlockRow,
    /// The block by its hash.
    blocks_by_hash: BlockByHashRow,
    /// Transactions by chain position.
    transactions: TransactionRow,
    /// Transactions by their hashes.
    transactions_by_hash: TransactionByHashRow,
    /// Logs by address, and by chain position.
    logs: LogRow,
    /// Withdrawals by receiver, and by block.
    withdrawals: WithdrawalRow,
    /// Headers of its uncles.
    uncles: UncleRow,
    /// Call frames and rewards.
    internal_transactions: InternalTransactionRow,
    /// Call frames by participant.
    internal_transactions_by_address: AddressInternalTransactionRow,
    /// Call frames by participant and side.
    internal_transactions_by_direction: DirectedInternalTransactionRow,
    /// Token transfers by participant, and by participant and token.
    token_transfers: TokenTransferRow,
    /// Token transfers by participant and side.
    token_transfers_by_direction: DirectedTokenTransferRow,
    /// Token transfers by block.
    token_transfers_by_block: BlockTokenTransferRow,
    /// Balances it changed.
    balance_history: BalanceRow,
    /// Nonces it changed.
    nonce_history: NonceRow,
    /// Codes it changed.
    code_history: CodeChangeRow,
    /// Codes that appear in it.
    codes: CodeRow,
    /// Slots it changed.
    storage_history: StorageRow,
    /// Accounts it destroyed.
    account_destructions: DestructionRow,
    /// What it adds to accounts outside its transactions.
    balance_credits: CreditRow,
    /// Contracts it created.
    contracts: ContractRow,
    /// Proxies it pointed somewhere.
    proxy_implementations: ProxyRow,
    /// What was proven of it.
    block_verdicts: VerdictRow,
}
