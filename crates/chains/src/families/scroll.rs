//! Scroll (scroll-tech/go-ethereum): messages from L1.

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::{Burnt, Family, Issuance};
use crate::fields::{Field, Kind};
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::{ReceiptTail, SenderRule, TransactionType};

/// Scroll and its test network.
pub static SCROLL: Family = Family {
    name: "scroll",
    chains: &[Chain::new(534_352, "Scroll", "ETH"), Chain::new(534_351, "Scroll Sepolia", "ETH")],
    transaction_types: &[L1_MESSAGE],
    burnt: Burnt::Nothing,
    issuance: Issuance::Nothing,
    l1_fee: Some("l1Fee"),
    rest: RestMembers { object: Some("scroll"), members: MESSAGE },
    reader: FACTS,
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

/// What readers see of fees and messages.
const FACTS: ReaderFacts = ReaderFacts {
    fee: &[
        Fact::new("execution", RestSource::GasFee, Unit::Wei),
        Fact::new("data on L1", RestSource::Receipt("l1Fee"), Unit::Wei),
    ],
    transaction: &[Fact::new("Queue index", RestSource::Number("queueIndex"), Unit::Number)],
    ..ReaderFacts::NONE
};
