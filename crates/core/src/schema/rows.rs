//! The rows of each table, one file per noun, and the joins of some that reads select.

mod blocks;
mod commits;
mod heads;
mod labels;
mod logs;
mod scans;
mod sources;
mod state;
mod statistics;
mod tokens;
mod totals;
mod traces;
mod transactions;
mod uncles;
mod verdicts;
mod withdrawals;

pub use blocks::{BlockByHashRow, BlockRow, BlockView};
pub use commits::{CommitRow, IntentRow};
pub use heads::HeadRow;
pub use labels::{AbiEntryRow, EventSignatureRow, FunctionSignatureRow, LabelLoadRow, LabelRow};
pub use logs::{LogRow, LogView};
pub use scans::{
    AccountFrame, AccountFrameView, ScannedInternalTransaction, ScannedInternalTransactionView, ScannedTransaction,
    ScannedTransactionView,
};
pub use sources::{ContractSourceRow, SourceContentRow};
pub use state::{
    BalanceRow, CodeChangeRow, CodeRow, ContractRow, CreditRow, DestructionRow, NonceRow, ProxyRow, StorageRow,
};
pub use statistics::{
    TokenBalanceChangeRow, TokenBalanceRow, TokenIdBalanceRow, TokenIdChangeRow, TokenStatisticsRow, TokenStepRow,
};
pub use tokens::{
    BlockTokenTransferRow, BlockTokenTransferView, DirectedTokenTransferRow, TokenRow, TokenTransferRow,
    TokenTransferView,
};
pub use totals::TransactionTotalsRow;
pub use traces::{
    AddressInternalTransactionRow, AddressInternalTransactionView, DirectedInternalTransactionRow,
    InternalTransactionRow, InternalTransactionView,
};
pub use transactions::{TransactionByHashRow, TransactionRow, TransactionView};
pub use uncles::{UncleRow, UncleView};
pub use verdicts::VerdictRow;
pub use withdrawals::{WithdrawalRow, WithdrawalView};
