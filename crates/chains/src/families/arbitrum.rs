//! Arbitrum since Nitro (OffchainLabs/go-ethereum, `core/types/arb_types.go`): every block begins with an internal
//! transaction.

use alloy_primitives::{Address, B256, address, b256};

use super::arbitrum_forks::FORKS;
use super::ethereum::ETHEREUM_RULES;
use crate::bridge::deposits::{DepositList, DepositMember, DepositSource, FirstTransaction, NewestForm, NewestList};
use crate::bridge::messages::{MessageList, MessageMember, MessageSource, TransactionMessageList, Word};
use crate::bridge::{BridgeEvent, BridgeWay};
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::opening::OpeningTransaction;
use crate::family::{BurntFees, Family, Issuance, PriceRule};
use crate::fields::{CHAIN_ID, DATA, Field, GAS, Kind, NONCE, TO, VALUE};
use crate::finality::Finality;
use crate::header::copies::CopyRule;
use crate::rest::{RestMember, RestMembers, RestSource, TypesWord};
use crate::transaction_type::{Constant, FamilyTransactionType, ReceiptTail, SenderRule};

/// One, Nova and the Orbit chains.
pub static ARBITRUM: Family = Family {
    name: "arbitrum",
    chains: &[
        Chain::new(42_161, "Arbitrum One", "ETH"),
        Chain::new(42_170, "Arbitrum Nova", "ETH"),
        Chain::new(421_614, "Arbitrum Sepolia", "ETH"),
        Chain::new(421_613, "Arbitrum Goerli", "ETH"),
        Chain::new(33_139, "ApeChain", "APE"),
        Chain::new(660_279, "Xai", "XAI"),
        Chain::new(1996, "Sanko", "DMT"),
        Chain::new(666_666_666, "Degen", "DEGEN"),
        Chain::new(46_630, "Robinhood Chain Testnet", "ETH"),
        Chain::new(4663, "Robinhood Chain", "ETH"),
        // Further Orbit chains (OffchainLabs/arbitrum-portal, `orbitChainsData.json`).
        Chain::new(1_380_012_617, "RARI Chain", "ETH"),
        Chain::new(55_244, "Superposition", "ETH"),
        Chain::new(98_985, "Superposition Testnet", "ETH"),
        Chain::new(228, "Mind Network", "ETH"),
        Chain::new(4162, "SX", "SX"),
        Chain::new(1625, "Gravity Alpha", "G"),
        Chain::new(13_505, "Gravity Alpha Sepolia", "G"),
        Chain::new(41_923, "EDU Chain", "EDU"),
        Chain::new(98_866, "Plume", "PLUME"),
        Chain::new(98_867, "Plume Testnet", "PLUME"),
        Chain::new(33_111, "Curtis", "APE"),
        Chain::new(37_714_555_429, "Xai Sepolia", "sXAI"),
    ],
    schedules: FORKS,
    transaction_types: &[DEPOSIT, UNSIGNED, CONTRACT, RETRY, SUBMIT_RETRYABLE, INTERNAL],
    opening: Some(OpeningTransaction { byte: INTERNAL.byte, sender: ARBOS }),
    price: PriceRule::BaseFee,
    copies: CopyRule::MessagesToL1,
    unhashed: &["sendRoot", "sendCount", "l1BlockNumber"],
    // A quarter of an hour of L1, at four blocks a second.
    finality: Finality::Tag { depth: 5000 },
    burnt: BurntFees::Nothing,
    issuance: Issuance::Nothing,
    rest: RestMembers { object: Some("arbitrum"), members: TRANSACTION },
    messages: Some(&MESSAGES),
    deposits: Some(&MESSAGES_FROM_L1),
    block_rest: RestMembers { object: Some("arbitrum"), members: BLOCK },
    reader: FACTS,
    bridges: &[WITHDRAWAL],
    ..ETHEREUM_RULES
};

/// Who sends internal transactions: ArbOS.
const ARBOS: Address = address!("00000000000000000000000000000000000a4b05");

const REQUEST_ID: Field = Field::required(&["requestId"], Kind::Hash);
const FROM: Field = Field::required(&["from"], Kind::Address);
const CAP: Field = Field::required(&["maxFeePerGas", "gasFeeCap", "gasPrice"], Kind::Quantity);

/// A type without a signature, whose sender is one of its fields.
const fn unsigned(byte: u8, name: &'static str, fields: &'static [Field]) -> FamilyTransactionType {
    let (sender, receipt) = (SenderRule::Field, ReceiptTail::Nothing);
    let (evidence, receipt_evidence) = (Evidence::Code, Evidence::Code);
    FamilyTransactionType { byte, name, fields, constants: &[], sender, receipt, evidence, receipt_evidence }
}

/// The same, where real transactions have the hash of these fields.
const fn real(byte: u8, name: &'static str, fields: &'static [Field]) -> FamilyTransactionType {
    FamilyTransactionType { evidence: Evidence::Blocks, ..unsigned(byte, name, fields) }
}

const DEPOSIT: FamilyTransactionType = unsigned(0x64, "deposit", &[CHAIN_ID, REQUEST_ID, FROM, TO, VALUE]);
const UNSIGNED: FamilyTransactionType = unsigned(0x65, "unsigned", &[CHAIN_ID, FROM, NONCE, CAP, GAS, TO, VALUE, DATA]);
const CONTRACT: FamilyTransactionType =
    unsigned(0x66, "contract", &[CHAIN_ID, REQUEST_ID, FROM, CAP, GAS, TO, VALUE, DATA]);
const RETRY: FamilyTransactionType = real(
    0x68,
    "retry",
    &[
        CHAIN_ID,
        NONCE,
        FROM,
        CAP,
        GAS,
        TO,
        VALUE,
        DATA,
        Field::required(&["ticketId"], Kind::Hash),
        Field::required(&["refundTo"], Kind::Address),
        Field::required(&["maxRefund"], Kind::Quantity),
        Field::required(&["submissionFeeRefund"], Kind::Quantity),
    ],
);
const SUBMIT_RETRYABLE: FamilyTransactionType = real(
    0x69,
    "submit retryable",
    &[
        CHAIN_ID,
        REQUEST_ID,
        FROM,
        Field::required(&["l1BaseFee"], Kind::Quantity),
        Field::required(&["depositValue"], Kind::Quantity),
        CAP,
        GAS,
        Field::optional(&["retryTo"], Kind::Address),
        Field::required(&["retryValue"], Kind::Quantity),
        Field::required(&["beneficiary"], Kind::Address),
        Field::required(&["maxSubmissionFee"], Kind::Quantity),
        Field::required(&["refundTo", "feeRefundAddr"], Kind::Address),
        Field::required(&["retryData"], Kind::Bytes),
    ],
);
const INTERNAL: FamilyTransactionType = FamilyTransactionType {
    byte: 0x6a,
    name: "internal",
    fields: &[CHAIN_ID, DATA],
    // It is a call of ArbOS to itself.
    constants: &[
        Constant { name: "to", value: "0x00000000000000000000000000000000000a4b05" },
        Constant { name: "value", value: "0x0" },
        Constant { name: "gas", value: "0x0" },
    ],
    sender: SenderRule::OneOf(&[ARBOS]),
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Blocks,
};

/// Messages from L1 that have a position in the queue there: a deposit, a call of a contract on L1, and the submission of
/// a retryable.
const FROM_L1: &[u8] = &[DEPOSIT.byte, CONTRACT.byte, SUBMIT_RETRYABLE.byte];
/// What such a transaction is; what others send to L1 is in their logs, and in the list of messages.
const INCOMING: TypesWord = TypesWord { types: FROM_L1, word: "incoming" };
/// How far such a message is: carried out by the transaction itself.
const RELAYED: TypesWord = TypesWord { types: FROM_L1, word: "relayed" };

/// A message, the other end of which is on L1.
const MESSAGE: &[RestMember] = &[
    RestMember { key: "message_id", source: RestSource::Number("requestId") },
    RestMember { key: "associated_l1_transaction_hash", source: RestSource::OnL1 },
    RestMember { key: "message_status", source: RestSource::OfTypes(&RELAYED) },
];

/// A transaction on L1.
const L1_TRANSACTION: &[RestMember] = &[
    RestMember { key: "hash", source: RestSource::OnL1 },
    RestMember { key: "status", source: RestSource::OnL1 },
    RestMember { key: "timestamp", source: RestSource::OnL1 },
];

/// The gas for L1 and for the chain, what each cost, and where it is on L1. Clients read members of both transactions
/// there without asking whether there are any, so they are objects.
const TRANSACTION: &[RestMember] = &[
    RestMember { key: "gas_used_for_l1", source: RestSource::Receipt("gasUsedForL1") },
    RestMember { key: "gas_used_for_l2", source: RestSource::GasBeside("gasUsedForL1") },
    RestMember { key: "poster_fee", source: RestSource::FeeOf("gasUsedForL1") },
    RestMember { key: "network_fee", source: RestSource::FeeBeside("gasUsedForL1") },
    RestMember { key: "contains_message", source: RestSource::OfTypes(&INCOMING) },
    RestMember { key: "message_related_info", source: RestSource::Object(MESSAGE) },
    RestMember { key: "status", source: RestSource::OnL1 },
    RestMember { key: "batch_number", source: RestSource::OnL1 },
    RestMember { key: "commitment_transaction", source: RestSource::Object(L1_TRANSACTION) },
    RestMember { key: "confirmation_transaction", source: RestSource::Object(L1_TRANSACTION) },
];

/// The precompile that sends messages to L1 since Nitro (OffchainLabs/nitro-contracts, `src/precompiles/ArbSys.sol`).
const ARB_SYS: Address = address!("0000000000000000000000000000000000000064");
/// Its log of a message: `L2ToL1Tx(address,address,uint256,uint256,uint256,uint256,uint256,uint256,bytes)`.
const L2_TO_L1_TX: B256 = b256!("3e7aafa77dbf186b7fd488006beff893744caa3c4f6f299e8a709fa2087374fc");

/// Messages to L1.
static MESSAGES: MessageList = MessageList {
    path: "/api/v2/arbitrum/messages/from-rollup",
    contract: ARB_SYS,
    event: L2_TO_L1_TX,
    members: &[
        MessageMember { key: "id", source: MessageSource::Integer(Word::Topic(3)) },
        MessageMember { key: "origination_address_hash", source: MessageSource::Account(Word::Data(0)) },
        MessageMember { key: "origination_transaction_hash", source: MessageSource::TransactionHash },
        MessageMember { key: "origination_transaction_block_number", source: MessageSource::BlockNumber },
        MessageMember { key: "origination_timestamp", source: MessageSource::BlockTime },
        MessageMember { key: "completion_transaction_hash", source: MessageSource::OnL1 },
        MessageMember { key: "status", source: MessageSource::OnL1 },
    ],
    of_transaction: Some(TransactionMessageList {
        path: "/api/v2/arbitrum/messages/withdrawals/{transaction_hash}",
        // Accounts under both names that clients know, as Blockscout has them.
        members: &[
            MessageMember { key: "id", source: MessageSource::Integer(Word::Topic(3)) },
            MessageMember { key: "status", source: MessageSource::OnL1 },
            MessageMember { key: "caller_address_hash", source: MessageSource::Account(Word::Data(0)) },
            MessageMember { key: "caller", source: MessageSource::Account(Word::Data(0)) },
            MessageMember { key: "destination_address_hash", source: MessageSource::Account(Word::Topic(1)) },
            MessageMember { key: "destination", source: MessageSource::Account(Word::Topic(1)) },
            MessageMember { key: "arb_block_number", source: MessageSource::Integer(Word::Data(1)) },
            MessageMember { key: "eth_block_number", source: MessageSource::Integer(Word::Data(2)) },
            MessageMember { key: "l2_timestamp", source: MessageSource::Integer(Word::Data(3)) },
            MessageMember { key: "callvalue", source: MessageSource::Amount(Word::Data(4)) },
            MessageMember { key: "data", source: MessageSource::Bytes(5) },
            MessageMember { key: "token", source: MessageSource::OnL1 },
            MessageMember { key: "completion_transaction_hash", source: MessageSource::OnL1 },
        ],
    }),
};

/// The list of messages from L1.
static MESSAGES_FROM_L1: DepositList = DepositList {
    path: "/api/v2/arbitrum/messages/to-rollup",
    newest: Some(NewestList { path: "/api/v2/main-page/arbitrum/messages/to-rollup", form: NewestForm::Items }),
    types: FROM_L1,
    first: FirstTransaction::Protocol,
    members: &[
        DepositMember { key: "id", source: DepositSource::Integer("requestId") },
        DepositMember { key: "origination_address_hash", source: DepositSource::OnL1 },
        DepositMember { key: "origination_transaction_hash", source: DepositSource::OnL1 },
        DepositMember { key: "origination_transaction_block_number", source: DepositSource::OnL1 },
        DepositMember { key: "origination_timestamp", source: DepositSource::OnL1 },
        DepositMember { key: "completion_transaction_hash", source: DepositSource::TransactionHash },
        DepositMember { key: "status", source: DepositSource::Constant("relayed") },
    ],
};

/// How far messages from and to L1 are, and where it is on L1.
const BLOCK: &[RestMember] = &[
    RestMember { key: "l1_block_number", source: RestSource::Number("l1BlockNumber") },
    RestMember { key: "send_count", source: RestSource::Number("sendCount") },
    RestMember { key: "send_root", source: RestSource::Own("sendRoot") },
    RestMember { key: "status", source: RestSource::OnL1 },
    RestMember { key: "batch_number", source: RestSource::OnL1 },
    RestMember { key: "commitment_transaction", source: RestSource::Object(L1_TRANSACTION) },
    RestMember { key: "confirmation_transaction", source: RestSource::Object(L1_TRANSACTION) },
];

/// What readers see of fees, of messages from L1 and of blocks.
const FACTS: ReaderFacts = ReaderFacts {
    fee: &[
        Fact::new("execution", RestSource::FeeBeside("gasUsedForL1"), Unit::Wei),
        Fact::new("data on L1", RestSource::FeeOf("gasUsedForL1"), Unit::Wei),
    ],
    transaction: &[
        Fact::new("Gas for L1", RestSource::Receipt("gasUsedForL1"), Unit::Gas),
        Fact::new("L1 block", RestSource::Receipt("l1BlockNumber"), Unit::Number),
        Fact::new("Request", RestSource::Own("requestId"), Unit::Hash),
        Fact::new("Ticket", RestSource::Own("ticketId"), Unit::Hash),
        Fact::new("Deposited", RestSource::Own("depositValue"), Unit::Wei),
        Fact::new("Then calls", RestSource::Own("retryTo"), Unit::Address),
        Fact::new("With value", RestSource::Own("retryValue"), Unit::Wei),
        Fact::new("Beneficiary", RestSource::Own("beneficiary"), Unit::Address),
        Fact::new("Refunds go to", RestSource::Own("refundTo"), Unit::Address),
        Fact::new("Most for submission", RestSource::Own("maxSubmissionFee"), Unit::Wei),
        Fact::new("Most refunded", RestSource::Own("maxRefund"), Unit::Wei),
        Fact::new("Base fee on L1", RestSource::Own("l1BaseFee"), Unit::WeiPerGas),
    ],
    block: &[
        Fact::new("L1 block", RestSource::Number("l1BlockNumber"), Unit::Number),
        Fact::new("Messages to L1 so far", RestSource::Number("sendCount"), Unit::Number),
        Fact::new("Root of messages to L1", RestSource::Own("sendRoot"), Unit::Hash),
    ],
    ..ReaderFacts::NONE
};

/// Coins that leave by `ArbSys`: the same log, of a caller to a destination with a value.
const WITHDRAWAL: BridgeEvent = BridgeEvent {
    contract: ARB_SYS,
    event: L2_TO_L1_TX,
    way: BridgeWay::Leaves,
    token: None,
    from: Word::Data(0),
    to: Word::Topic(1),
    amount: Word::Data(4),
};

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;
    use serde_json::{Value, json};

    use super::*;

    fn hash(kind: &FamilyTransactionType, json: &Value) -> String {
        let encoded = kind.encode(json.as_object().expect("an object")).expect("a transaction");
        keccak256(encoded.bytes).to_string()
    }

    /// Of block 1 of Arbitrum Sepolia: the hash of one is the ticket of the other.
    #[test]
    fn real_retryables_have_their_hashes() {
        let ticket = "0x13cb79b086a427f3db7ebe6ec2bb90a806a3b0368ecee6020144f352e37dbdf6";
        let (sender, receiver) =
            ("0xb8787d8f23e176a5d32135d746b69886e03313be", "0x11155ca9bbf7be58e27f3309e629c847996b43c8");
        let request = "0x0000000000000000000000000000000000000000000000000000000000000001";
        let called = "0x3fab184622dc19b6109349b94811493bf2a45362";
        let submitted = json!({
            "chainId": "0x66eee", "requestId": request, "from": sender, "l1BaseFee": "0x5bd57bd9",
            "depositValue": "0x23e3dbb7b88ab8", "maxFeePerGas": "0x3b9aca00", "gas": "0x186a0", "retryTo": called,
            "retryValue": "0x2386f26fc10000", "beneficiary": receiver, "maxSubmissionFee": "0x1f6377d4ab8",
            "refundTo": receiver, "retryData": "0x", "to": "0x000000000000000000000000000000000000006e",
        });
        assert_eq!(hash(&SUBMIT_RETRYABLE, &submitted), ticket);
        let retried = json!({
            "chainId": "0x66eee", "nonce": "0x0", "from": sender, "maxFeePerGas": "0x5f5e100", "gas": "0x186a0",
            "to": called, "value": "0x2386f26fc10000", "input": "0x", "ticketId": ticket, "refundTo": receiver,
            "maxRefund": "0xb0e85efeab8", "submissionFeeRefund": "0x1f6377d4ab8",
        });
        assert_eq!(hash(&RETRY, &retried), "0x873c5ee3092c40336006808e249293bf5f4cb3235077a74cac9cafa7cf73cb8b");
    }
}
