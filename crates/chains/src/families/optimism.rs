//! The OP stack (<https://specs.optimism.io/protocol/deposits.html>): every block begins with a deposit from L1.

use alloy_primitives::{Address, address, b256};

use super::ethereum::ETHEREUM_RULES;
use super::optimism_forks::{DEPOSIT_TYPE, FORKS};
use crate::evidence::Evidence;
use crate::family::{Burnt, Family, WithdrawalsRoot};
use crate::fields::{Field, Kind};
use crate::finality::Finality;
use crate::messages::{MessageList, MessageMember, MessageSource, Word};
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::{ReceiptTail, SenderRule, TransactionType};
use crate::unsigned::UnsignedRule;

/// OP Mainnet, Base and all others of the stack.
pub static OPTIMISM: Family = Family {
    name: "optimism",
    transaction_types: &[DEPOSIT],
    // Messages from L1 before Bedrock.
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO] },
    // Since Isthmus the storage root of L2ToL1MessagePasser.
    withdrawals_root: WithdrawalsRoot::ContractStorage,
    // Blocks above it are minutes of 2 s each.
    finality: Finality::Tag { depth: 600 },
    burnt: Burnt::Nothing,
    l1_fee: Some("l1Fee"),
    schedules: FORKS,
    rest: RestMembers { object: None, members: L1_FEE },
    messages: Some(&WITHDRAWALS),
    ..ETHEREUM_RULES
};

/// A transaction from L1, unsigned. Its nonce in the JSON is that of the receipt and is not hashed.
pub(super) const DEPOSIT: TransactionType = TransactionType {
    byte: DEPOSIT_TYPE,
    name: "deposit",
    fields: &[
        Field::required(&["sourceHash"], Kind::Hash),
        Field::required(&["from"], Kind::Address),
        Field::optional(&["to"], Kind::Address),
        Field::optional(&["mint"], Kind::Quantity),
        Field::required(&["value"], Kind::Quantity),
        Field::required(&["gas"], Kind::Quantity),
        Field::optional(&["isSystemTx"], Kind::Flag),
        Field::required(&["input", "data"], Kind::Bytes),
    ],
    constants: &[],
    sender: SenderRule::Field,
    // Since Canyon, which is when nodes show both; between Regolith and Canyon the nonce alone is shown and not hashed.
    receipt: ReceiptTail::Shown(&[
        Field::required(&["depositNonce"], Kind::Quantity),
        Field::required(&["depositReceiptVersion"], Kind::Quantity),
    ]),
    evidence: Evidence::Blocks,
};

/// What a transaction paid for its data on L1, of its receipt.
pub(super) const L1_FEE: &[RestMember] = &[
    RestMember { key: "l1_fee", source: RestSource::Receipt("l1Fee") },
    RestMember { key: "l1_gas_price", source: RestSource::Receipt("l1GasPrice") },
    RestMember { key: "l1_gas_used", source: RestSource::Receipt("l1GasUsed") },
    RestMember { key: "l1_fee_scalar", source: RestSource::Receipt("l1FeeScalar") },
];

/// Withdrawals (<https://specs.optimism.io/protocol/withdrawals.html>): `MessagePassed` of `L2ToL1MessagePasser`.
pub(super) static WITHDRAWALS: MessageList = MessageList {
    path: "/api/v2/optimism/withdrawals",
    contract: address!("4200000000000000000000000000000000000016"),
    event: b256!("02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054"),
    members: &[
        MessageMember { key: "msg_nonce_raw", source: MessageSource::Amount(NONCE) },
        MessageMember { key: "msg_nonce", source: MessageSource::VersionedNonce(NONCE) },
        MessageMember { key: "msg_nonce_version", source: MessageSource::NonceVersion(NONCE) },
        MessageMember { key: "msg_sender_address_hash", source: MessageSource::Account(Word::Topic(2)) },
        MessageMember { key: "msg_target_address_hash", source: MessageSource::Account(Word::Topic(3)) },
        MessageMember { key: "msg_value", source: MessageSource::Amount(Word::Data(0)) },
        MessageMember { key: "msg_gas_limit", source: MessageSource::Amount(Word::Data(1)) },
        MessageMember { key: "msg_data", source: MessageSource::Bytes(2) },
        MessageMember { key: "from", source: MessageSource::TransactionSender },
        MessageMember { key: "l2_transaction_hash", source: MessageSource::TransactionHash },
        MessageMember { key: "l2_timestamp", source: MessageSource::BlockTime },
        MessageMember { key: "l1_transaction_hash", source: MessageSource::OnL1 },
        MessageMember { key: "status", source: MessageSource::OnL1 },
        MessageMember { key: "challenge_period_end", source: MessageSource::OnL1 },
        MessageMember { key: "portal_contract_address_hash", source: MessageSource::OnL1 },
    ],
};

const NONCE: Word = Word::Topic(1);
