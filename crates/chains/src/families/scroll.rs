//! Scroll (scroll-tech/go-ethereum): messages from L1.

use super::ethereum::ETHEREUM_RULES;
use crate::evidence::Evidence;
use crate::family::Family;
use crate::fields::{Field, Kind};
use crate::transaction_type::{ReceiptTail, SenderRule, TransactionType};

/// Scroll and its test network.
pub static SCROLL: Family =
    Family { name: "scroll", title: "Scroll", transaction_types: &[L1_MESSAGE], ..ETHEREUM_RULES };

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
    sender: SenderRule::Field,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
};
