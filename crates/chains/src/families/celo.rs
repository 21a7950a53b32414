//! Celo since it is an OP stack chain (2025-03, celo-org/op-geth): fees in tokens.

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use super::optimism::{BRIDGES, DEPOSIT, DEPOSITS, L1_FEE, ROLLUP_FACTS, WITHDRAWALS};
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{BurntFees, Family, TotalDifficulty, WithdrawalsRoot};
use crate::fields::{Field, Kind};
use crate::finality::Finality;
use crate::rest::RestMembers;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// Celo and its test networks.
pub static CELO: Family = Family {
    name: "celo",
    chains: &[
        Chain::new(42_220, "Celo", "CELO"),
        Chain::new(44_787, "Celo Alfajores", "CELO"),
        Chain::new(62_320, "Celo Baklava", "CELO"),
        Chain::new(11_142_220, "Celo Sepolia", "CELO"),
    ],
    transaction_types: &[DEPOSIT, CIP_64, CIP_42, CIP_66],
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "L1 message" },
    withdrawals_root: WithdrawalsRoot::ContractStorage,
    total_difficulty: TotalDifficulty::SumUntilTakeover,
    finality: Finality::Tag { depth: 1200 },
    burnt: BurntFees::Nothing,
    evidence: Evidence::Code,
    l1_fee: Some("l1Fee"),
    rest: RestMembers { object: None, members: L1_FEE },
    messages: Some(&WITHDRAWALS),
    deposits: Some(&DEPOSITS),
    reader: ROLLUP_FACTS,
    bridges: BRIDGES,
    ..ETHEREUM_RULES
};

const FEE_CURRENCY: Field = Field::optional(&["feeCurrency"], Kind::Address);
const CHAIN_ID: Field = Field::required(&["chainId"], Kind::Quantity);
const NONCE: Field = Field::required(&["nonce"], Kind::Quantity);
const TIP: Field = Field::required(&["maxPriorityFeePerGas"], Kind::Quantity);
const CAP: Field = Field::required(&["maxFeePerGas"], Kind::Quantity);
const GAS: Field = Field::required(&["gas"], Kind::Quantity);
const TO: Field = Field::optional(&["to"], Kind::Address);
const VALUE: Field = Field::required(&["value"], Kind::Quantity);
const DATA: Field = Field::required(&["input", "data"], Kind::Bytes);
const ACCESS_LIST: Field = Field::optional(&["accessList"], Kind::AccessList);

/// Fees in a token (CIP-64).
const CIP_64: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7b,
    name: "fee currency",
    fields: &[CHAIN_ID, NONCE, TIP, CAP, GAS, TO, VALUE, DATA, ACCESS_LIST, FEE_CURRENCY],
    constants: &[],
    sender: SenderRule::Signature,
    receipt: ReceiptTail::Shown(&[Field::required(&["baseFee"], Kind::Quantity)]),
    evidence: Evidence::Code,
};

/// Fees in a token and a gateway's (CIP-42), before Celo was an OP stack chain.
const CIP_42: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7c,
    name: "gateway fee",
    fields: &[
        CHAIN_ID,
        NONCE,
        TIP,
        CAP,
        GAS,
        FEE_CURRENCY,
        Field::optional(&["gatewayFeeRecipient"], Kind::Address),
        Field::optional(&["gatewayFee"], Kind::Quantity),
        TO,
        VALUE,
        DATA,
        ACCESS_LIST,
    ],
    constants: &[],
    sender: SenderRule::Signature,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Code,
};

/// Fees in a token, of at most an amount of it (CIP-66).
const CIP_66: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7a,
    name: "denominated fee",
    fields: &[
        CHAIN_ID,
        NONCE,
        TIP,
        CAP,
        GAS,
        TO,
        VALUE,
        DATA,
        ACCESS_LIST,
        FEE_CURRENCY,
        Field::required(&["maxFeeInFeeCurrency"], Kind::Quantity),
    ],
    constants: &[],
    sender: SenderRule::Signature,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Code,
};
