//! Scroll (scroll-tech/go-ethereum): messages from L1.

use super::ethereum::ETHEREUM_RULES;
use crate::evidence::Evidence;
use crate::family::{Burnt, Family};
use crate::fields::{Field, Kind};
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::{ReceiptTail, SenderRule, TransactionType};

/// Scroll and its test network.
pub static SCROLL: Family = Family {
    name: "scroll",
    transaction_types: &[L1_MESSAGE],
    burnt: Burnt::Nothing,
    l1_fee: Some("l1Fee"),
    rest: RestMembers { object: Some("scroll"), members: MESSAGE },
    ..ETHEREUM_RULES
};

const L1_MESSAGE: TransactionType = TransactionType {
    byte: 0x7e,
    name: "L1 message",
    fields: &[
        Field::required(&["queueIndex"], Kind::Quantity),
        Field::required(&["gas"], Kind::Quantity),
        Field::optional(&["to"], Kind::Address),
        Field::required(&["value"], Kind::Quantity),
        Field::required(&["input", "data"], Kind::Bytes),
        Field::required(&["sender", "from"], Kind::Address),
    ],
    constants: &[],
    sender: SenderRule::Field,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
};

/// Which message from L1 it is.
const MESSAGE: &[RestMember] = &[
    RestMember { key: "queue_index", source: RestSource::Number("queueIndex") },
    RestMember { key: "l1_fee", source: RestSource::Receipt("l1Fee") },
];
