//! The OP stack (<https://specs.optimism.io/protocol/deposits.html>): every block begins with a deposit from L1.

use alloy_primitives::{Address, B256, address, b256};

use super::ethereum::ETHEREUM_RULES;
use super::optimism_forks::{DEPOSIT_TYPE, FORKS};
use crate::bridge::deposits::{DepositList, DepositMember, DepositSource, FirstTransaction, NewestForm, NewestList};
use crate::bridge::messages::{MessageList, MessageMember, MessageSource, Word};
use crate::bridge::{BridgeEvent, BridgeWay};
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::opening::OpeningTransaction;
use crate::family::total_difficulty::TotalDifficulty;
use crate::family::{BurntFees, Family, Issuance, WithdrawalsRoot};
use crate::fields::{DATA, Field, GAS, Kind, TO, VALUE};
use crate::finality::Finality;
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::{DEPOSIT_NONCE, DEPOSIT_RECEIPT_VERSION, FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// OP Mainnet, Base and all others of the stack.
pub static OPTIMISM: Family = Family {
    name: "optimism",
    chains: &[
        Chain::new(10, "OP Mainnet", "ETH"),
        Chain::new(69, "OP Kovan", "ETH"),
        Chain::new(420, "OP Goerli", "ETH"),
        Chain::new(11_155_420, "OP Sepolia", "ETH"),
        Chain::new(8453, "Base", "ETH"),
        Chain::new(84_531, "Base Goerli", "ETH"),
        Chain::new(84_532, "Base Sepolia", "ETH"),
        Chain::new(204, "opBNB", "BNB"),
        Chain::new(5611, "opBNB Testnet", "tBNB"),
        Chain::new(81_457, "Blast", "ETH"),
        Chain::new(168_587_773, "Blast Sepolia", "ETH"),
        Chain::new(480, "World Chain", "ETH"),
        Chain::new(4801, "World Chain Sepolia", "ETH"),
        Chain::new(130, "Unichain", "ETH"),
        Chain::new(1301, "Unichain Sepolia", "ETH"),
        Chain::new(57_073, "Ink", "ETH"),
        Chain::new(763_373, "Ink Sepolia", "ETH"),
        Chain::new(1868, "Soneium", "ETH"),
        Chain::new(1946, "Soneium Minato", "ETH"),
        Chain::new(7_777_777, "Zora", "ETH"),
        Chain::new(999_999_999, "Zora Sepolia", "ETH"),
        Chain::new(34_443, "Mode", "ETH"),
        Chain::new(919, "Mode Sepolia", "ETH"),
        Chain::new(4326, "MegaETH", "ETH"),
        Chain::new(6342, "MegaETH Testnet", "ETH"),
        Chain::new(6343, "MegaETH Testnet", "ETH"),
        Chain::new(1135, "Lisk", "ETH"),
        Chain::without_coin(252, "Fraxtal"),
        Chain::new(690, "Redstone", "ETH"),
        Chain::new(7560, "Cyber", "ETH"),
        Chain::new(1750, "Metal L2", "ETH"),
        Chain::new(1923, "Swellchain", "ETH"),
        Chain::new(5330, "Superseed", "ETH"),
        // Further members of the Superchain (ethereum-optimism/superchain-registry).
        Chain::new(60_808, "BOB", "ETH"),
        Chain::new(808_813, "BOB Sepolia", "ETH"),
        Chain::new(288, "Boba", "ETH"),
        Chain::new(360, "Shape", "ETH"),
        Chain::new(11_011, "Shape Sepolia", "ETH"),
        Chain::new(8008, "Polynomial", "ETH"),
        Chain::new(7897, "Arena-Z", "ETH"),
        Chain::new(177, "HashKey Chain", "HSK"),
        Chain::new(185, "Mint", "ETH"),
        Chain::new(2192, "SnaxChain", "ETH"),
        Chain::new(957, "Lyra", "ETH"),
        Chain::new(291, "Orderly", "ETH"),
        Chain::new(183, "Ethernity", "ETH"),
        Chain::new(254, "Swan Chain", "ETH"),
        Chain::new(424, "PGN", "ETH"),
        Chain::new(6805, "RACE", "ETH"),
        Chain::new(6806, "RACE Testnet", "ETH"),
        Chain::without_coin(5371, "Settlus"),
        Chain::new(33_979, "Funki", "ETH"),
        Chain::without_coin(65_536, "Automata"),
        Chain::without_coin(624, "Binary"),
        Chain::without_coin(625, "Binary Sepolia"),
        Chain::new(2_702_128, "Xterio Chain (ETH)", "ETH"),
        Chain::new(888_888_888, "Ancient8", "ETH"),
        Chain::new(4202, "Lisk Sepolia", "ETH"),
        Chain::new(1740, "Metal L2 Testnet", "ETH"),
        Chain::new(111_557_560, "Cyber Testnet", "ETH"),
        Chain::without_coin(2522, "Fraxtal Testnet"),
    ],
    transaction_types: &[DEPOSIT],
    opening: Some(OPENING),
    // Messages from L1 before Bedrock.
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "L1 message" },
    // Since Isthmus the storage root of L2ToL1MessagePasser.
    withdrawals_root: WithdrawalsRoot::ContractStorage,
    total_difficulty: TotalDifficulty::SumUntilTakeover,
    // Blocks above it are minutes of 2 s each.
    finality: Finality::Tag { depth: 600 },
    burnt: BurntFees::Nothing,
    issuance: Issuance::Nothing,
    // Of opBNB, whose mix hash carries the milliseconds within the second.
    unhashed: &["milliTimestamp"],
    l1_fee: Some("l1Fee"),
    schedules: FORKS,
    rest: RestMembers { object: None, members: L1_FEE },
    messages: Some(&WITHDRAWALS),
    deposits: Some(&DEPOSITS),
    reader: ROLLUP_FACTS,
    bridges: BRIDGES,
    ..ETHEREUM_RULES
};

/// A transaction from L1, unsigned. Its nonce in the JSON is that of the receipt and is not hashed.
pub(super) const DEPOSIT: FamilyTransactionType = FamilyTransactionType {
    byte: DEPOSIT_TYPE,
    name: "deposit",
    fields: &[
        Field::required(&["sourceHash"], Kind::Hash),
        Field::required(&["from"], Kind::Address),
        TO,
        Field::optional(&["mint"], Kind::Quantity),
        VALUE,
        GAS,
        Field::optional(&["isSystemTx"], Kind::Flag),
        DATA,
    ],
    constants: &[],
    sender: SenderRule::Field,
    // Since Canyon, which is when nodes show both; between Regolith and Canyon the nonce alone is shown and not hashed.
    receipt: ReceiptTail::Shown(&[
        Field::required(&[DEPOSIT_NONCE], Kind::Quantity),
        Field::required(&[DEPOSIT_RECEIPT_VERSION], Kind::Quantity),
    ]),
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Blocks,
};

/// What a transaction paid for its data on L1, of its receipt.
pub(super) const L1_FEE: &[RestMember] = &[
    RestMember { key: "l1_fee", source: RestSource::Receipt("l1Fee") },
    RestMember { key: "l1_gas_price", source: RestSource::Receipt("l1GasPrice") },
    RestMember { key: "l1_gas_used", source: RestSource::Receipt("l1GasUsed") },
    RestMember { key: "l1_fee_scalar", source: RestSource::Receipt("l1FeeScalar") },
    RestMember { key: "operator_fee", source: RestSource::OperatorFee },
];

/// `L2ToL1MessagePasser` of <https://specs.optimism.io/protocol/withdrawals.html>.
const MESSAGE_PASSER: Address = address!("4200000000000000000000000000000000000016");
/// Its log of a withdrawal: `MessagePassed(uint256,address,address,uint256,uint256,bytes,bytes32)`.
const MESSAGE_PASSED: B256 = b256!("02a52367d10742d8032712c1bb8e0144ff1ec5ffda1ed7d70bb05a2744955054");

/// Withdrawals to L1.
pub(super) static WITHDRAWALS: MessageList = MessageList {
    path: "/api/v2/optimism/withdrawals",
    contract: MESSAGE_PASSER,
    event: MESSAGE_PASSED,
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
    of_transaction: None,
};

const NONCE: Word = Word::Topic(1);

/// Deposits of users. Each block begins with one that the protocol makes.
pub(super) static DEPOSITS: DepositList = DepositList {
    path: "/api/v2/optimism/deposits",
    newest: Some(NewestList { path: "/api/v2/main-page/optimism-deposits", form: NewestForm::Array }),
    types: &[DEPOSIT_TYPE],
    first: FirstTransaction::Protocol,
    members: &[
        DepositMember { key: "l1_block_number", source: DepositSource::L1BlockNumber },
        DepositMember { key: "l1_block_timestamp", source: DepositSource::L1BlockTime },
        DepositMember { key: "l1_transaction_hash", source: DepositSource::OnL1 },
        DepositMember { key: "l1_transaction_origin", source: DepositSource::OnL1 },
        DepositMember { key: "l2_transaction_gas_limit", source: DepositSource::GasLimit },
        DepositMember { key: "l2_transaction_hash", source: DepositSource::TransactionHash },
    ],
};

/// Who sends the deposit that begins each block since Bedrock: it writes the attributes of the L1 block.
const L1_ATTRIBUTES: Address = address!("deaddeaddeaddeaddeaddeaddeaddeaddead0001");
/// The deposit of it that begins each block since Bedrock.
pub(super) const OPENING: OpeningTransaction = OpeningTransaction { byte: DEPOSIT_TYPE, sender: L1_ATTRIBUTES };

/// What readers see of fees and deposits.
pub(super) const ROLLUP_FACTS: ReaderFacts = ReaderFacts {
    fee: &[
        Fact::new("execution", RestSource::GasFee, Unit::Wei),
        Fact::new("data on L1", RestSource::Receipt("l1Fee"), Unit::Wei),
        Fact::new("operator", RestSource::OperatorFee, Unit::Wei),
    ],
    transaction: &TRANSACTION_FACTS,
    senders: &[(L1_ATTRIBUTES, "L1 attributes")],
    ..ReaderFacts::NONE
};

/// What readers see of a transaction; of messages before Bedrock what came with them.
pub(super) const TRANSACTION_FACTS: [Fact; 8] = [
    Fact::new("Minted", RestSource::Own("mint"), Unit::Wei),
    Fact::new("Source on L1", RestSource::Own("sourceHash"), Unit::Hash),
    Fact::new("Deposit nonce", RestSource::Receipt(DEPOSIT_NONCE), Unit::Number),
    Fact::new("Gas on L1", RestSource::Receipt("l1GasUsed"), Unit::Gas),
    Fact::new("Gas price on L1", RestSource::Receipt("l1GasPrice"), Unit::WeiPerGas),
    Fact::new("Blob price on L1", RestSource::Receipt("l1BlobBaseFee"), Unit::WeiPerGas),
    Fact::new("L1 block", RestSource::Own("l1BlockNumber"), Unit::Number),
    Fact::new("Sender on L1", RestSource::Own("l1TxOrigin"), Unit::Address),
];

/// Logs of `L2StandardBridge` and `L2ToL1MessagePasser` (ethereum-optimism/optimism,
/// `packages/contracts-bedrock/src/L2`).
pub(super) const BRIDGES: &[BridgeEvent] = &[
    // DepositFinalized(address,address,address,address,uint256,bytes)
    standard_bridge(b256!("b0444523268717a02698be47d0803aa7468c00acbed2f8bd93a0459cde61dd89"), BridgeWay::Arrives),
    // WithdrawalInitiated(address,address,address,address,uint256,bytes)
    standard_bridge(b256!("73d170910aba9e6d50b102db522b1dbcd796216f5128b445aa2135272886497e"), BridgeWay::Leaves),
    // Coins that were sent with a message, without the bridge.
    BridgeEvent {
        contract: MESSAGE_PASSER,
        event: MESSAGE_PASSED,
        way: BridgeWay::Leaves,
        token: None,
        from: Word::Topic(2),
        to: Word::Topic(3),
        amount: Word::Data(0),
    },
];

/// A log of the bridge: tokens on L1 and here, sender; recipient, amount, data.
const fn standard_bridge(event: B256, way: BridgeWay) -> BridgeEvent {
    BridgeEvent {
        contract: address!("4200000000000000000000000000000000000010"),
        event,
        way,
        token: Some(Word::Topic(2)),
        from: Word::Topic(3),
        to: Word::Data(0),
        amount: Word::Data(1),
    }
}
