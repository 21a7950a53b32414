//! Scroll (scroll-tech/go-ethereum): messages from L1.

use alloy_primitives::{Address, B256, address, b256};

use super::ethereum::ETHEREUM_RULES;
use crate::bridge::deposits::{DepositList, DepositMember, DepositSource, FirstTransaction};
use crate::bridge::messages::{MessageList, MessageMember, MessageSource, Word};
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::{BurntFees, Family, Issuance};
use crate::fields::{DATA, Field, GAS, Kind, TO, VALUE};
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};

/// Scroll and its test network.
pub static SCROLL: Family = Family {
    name: "scroll",
    chains: &[Chain::new(534_352, "Scroll", "ETH"), Chain::new(534_351, "Scroll Sepolia", "ETH")],
    transaction_types: &[L1_MESSAGE],
    burnt: BurntFees::Nothing,
    issuance: Issuance::Nothing,
    l1_fee: Some("l1Fee"),
    messages: Some(&WITHDRAWALS),
    deposits: Some(&DEPOSITS),
    rest: RestMembers { object: Some("scroll"), members: MESSAGE },
    reader: FACTS,
    ..ETHEREUM_RULES
};

const L1_MESSAGE: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7e,
    name: "L1 message",
    fields: &[
        Field::required(&["queueIndex"], Kind::Quantity),
        GAS,
        TO,
        VALUE,
        DATA,
        Field::required(&["sender", "from"], Kind::Address),
    ],
    constants: &[],
    sender: SenderRule::Field,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Blocks,
};

/// `L2ScrollMessenger`, which sends messages to L1 (scroll-tech/scroll-contracts, `src/L2/L2ScrollMessenger.sol`).
const MESSENGER: Address = address!("781e90f1c8fc4611c9b7497c3b47f99ef6969cbc");
/// Its log of a message: `SentMessage(address,address,uint256,uint256,uint256,bytes)`.
const SENT_MESSAGE: B256 = b256!("104371f3b442861a2a7b82a070afbbaab748bb13757bf47769e170e37809ec1e");
/// `relayMessage(address,address,uint256,uint256,bytes)`, by which a message from L1 is carried out.
const RELAY_MESSAGE: [u8; 4] = [0x8e, 0xf1, 0x33, 0x2e];

/// Messages to L1.
static WITHDRAWALS: MessageList = MessageList {
    path: "/api/v2/scroll/withdrawals",
    contract: MESSENGER,
    event: SENT_MESSAGE,
    members: &[
        MessageMember { key: "id", source: MessageSource::Integer(Word::Data(1)) },
        MessageMember { key: "origination_transaction_block_number", source: MessageSource::BlockNumber },
        MessageMember { key: "origination_transaction_hash", source: MessageSource::TransactionHash },
        MessageMember { key: "origination_timestamp", source: MessageSource::BlockTime },
        MessageMember { key: "completion_transaction_hash", source: MessageSource::OnL1 },
        MessageMember { key: "value", source: MessageSource::Amount(Word::Data(0)) },
    ],
    of_transaction: None,
};

/// Messages from L1.
static DEPOSITS: DepositList = DepositList {
    path: "/api/v2/scroll/deposits",
    newest: None,
    types: &[L1_MESSAGE.byte],
    first: FirstTransaction::User,
    members: &[
        DepositMember { key: "id", source: DepositSource::Integer("queueIndex") },
        DepositMember { key: "origination_transaction_block_number", source: DepositSource::OnL1 },
        DepositMember { key: "origination_transaction_hash", source: DepositSource::OnL1 },
        DepositMember { key: "origination_timestamp", source: DepositSource::OnL1 },
        DepositMember { key: "completion_transaction_hash", source: DepositSource::TransactionHash },
        DepositMember { key: "value", source: DepositSource::Argument { selector: RELAY_MESSAGE, position: 2 } },
    ],
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

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;

    #[test]
    fn signatures_of_messages_are_those_of_the_messenger() {
        assert_eq!(SENT_MESSAGE, keccak256("SentMessage(address,address,uint256,uint256,uint256,bytes)"));
        assert_eq!(RELAY_MESSAGE, keccak256("relayMessage(address,address,uint256,uint256,bytes)")[..4]);
    }
}
