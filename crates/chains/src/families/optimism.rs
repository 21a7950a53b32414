//! The OP stack (<https://specs.optimism.io/protocol/deposits.html>): every block begins with a deposit from L1.

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use super::optimism_forks::{DEPOSIT_TYPE, FORKS};
use crate::evidence::Evidence;
use crate::family::{Burnt, Family, WithdrawalsRoot};
use crate::fields::{Field, Kind};
use crate::finality::Finality;
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
