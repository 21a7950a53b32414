//! Chains of the EVM beyond Ethereum: one value per family says what its blocks have that Ethereum's do not, and how it
//! is hashed. Pure; the only package that knows a family by name.
//!
//! Facts and their sources: `docs/explain/chains.md`, with how to add a chain.

mod bridge;
mod chain;
mod encoding;
mod evidence;
mod execution;
mod facts;
mod families;
mod family;
mod fees;
mod fields;
mod finality;
mod header;
mod own_transactions;
mod producer;
mod registry;
mod rest;
mod signer;
mod transaction_type;
mod unsigned;

pub use bridge::deposits::{
    Deposit, DepositList, DepositMember, DepositSource, FirstTransaction, NewestForm, NewestList,
};
pub use bridge::l1_origin::L1Origin;
pub use bridge::messages::{
    MessageList, MessageLog, MessageMember, MessageSource, TransactionMessageList, VersionedNonce, Word,
};
pub use bridge::{BridgeEvent, BridgeTransfer, BridgeWay};
pub use chain::Chain;
pub use encoding::Encoding;
pub use evidence::Evidence;
pub use execution::{
    BlobRule, ChainFork, Coinbase, ExecutionRules, ExtraDataForm, ForeignCode, ForkRules, ForkSchedule, ForkStart,
    Hardfork, HeaderFacts, InstructionRule, NumberSource, PrecompileRule, Refunds, RollupRules, Tips, TransactionRules,
    VersionedHeader,
};
pub use facts::{Fact, ReaderFacts, Unit};
pub use family::opening::OpeningTransaction;
pub use family::total_difficulty::{Difficulties, LEFT_OUT, SumFit, TotalDifficulty};
pub use family::{BurntFees, Family, Issuance, NodeQuirks, PriceRule, WithdrawalsRoot};
pub use fees::GasPayment;
pub use fees::rollup_fee::{
    BASE_FEE_VAULT, DataSize, FEE_PARAMETERS, L1_FEE_VAULT, L1FeeFormula, OPERATOR_FEE_VAULT, OperatorFeeFormula,
};
pub use fields::{EncodeValue, EncodingError, Field, Kind};
pub use finality::Finality;
pub use header::access_lists::AccessListFields;
pub use header::copies::CopyRule;
pub use header::{HeaderError, HeaderRule};
pub use own_transactions::{InnerCall, TypeSigns};
pub use producer::ProducerRule;
pub use registry::{
    ETHEREUM, by_chain_id, by_header, by_name, by_opening, chain, deposit_paths, listed, message_paths, names,
    newest_deposit_paths, of_chain, transaction_message_paths,
};
pub use rest::{RestFacts, RestMember, RestMembers, RestSource, RestValue, TypesWord};
pub use signer::{KeySigned, Signer};
pub use transaction_type::legacy::{LegacyForm, LegacyRule};
pub use transaction_type::{Constant, DepositNonce, FamilyTransactionType, ReceiptTail, SenderRule, SignWithKey};
pub use unsigned::{UnsignedRule, may_have_state_sync, state_sync_hash};
