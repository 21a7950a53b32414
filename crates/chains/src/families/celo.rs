//! Celo, an OP stack chain since 2025-03 (celo-org/op-geth), and a chain of its own before (celo-org/celo-blockchain):
//! fees in tokens.

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use super::optimism::{BRIDGES, DEPOSIT, DEPOSITS, L1_FEE, ROLLUP_FACTS, TRANSACTION_FACTS, WITHDRAWALS};
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::total_difficulty::TotalDifficulty;
use crate::family::{BurntFees, Family, NodeQuirks, WithdrawalsRoot};
use crate::fields::{CHAIN_ID, DATA, Field, GAS, Kind, NONCE, TO, VALUE};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::rest::{RestMember, RestMembers, RestSource};
use crate::transaction_type::legacy::LegacyRule;
use crate::transaction_type::{BASE_FEE, FamilyTransactionType, ReceiptTail, SenderRule};
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
    header: HeaderRule::Committee,
    legacy: LegacyRule::GatewayFee,
    transaction_types: &[DEPOSIT, CIP_64, CIP_42, CIP_66],
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "L1 message" },
    withdrawals_root: WithdrawalsRoot::ContractStorage,
    total_difficulty: TotalDifficulty::CountUntilTakeover,
    finality: Finality::Tag { depth: 1200 },
    burnt: BurntFees::Nothing,
    evidence: Evidence::Code,
    unhashed: &["randomness", "epochSnarkData"],
    l1_fee: Some("l1Fee"),
    rest: RestMembers { object: None, members: &MEMBERS },
    messages: Some(&WITHDRAWALS),
    deposits: Some(&DEPOSITS),
    reader: ReaderFacts { transaction: &FACTS, ..ROLLUP_FACTS },
    bridges: BRIDGES,
    quirks: NodeQuirks {
        block_receipt: Some("logs of the chain's own calls belong to no transaction"),
        ..NodeQuirks::NONE
    },
    ..ETHEREUM_RULES
};

/// The token that pays for gas: its contract, or one that translates amounts of a token with other decimals.
const FEE_CURRENCY: Field = Field::optional(&[FEE_CURRENCY_NAME], Kind::Address);
const FEE_CURRENCY_NAME: &str = "feeCurrency";

/// What is Celo's alone: the token that pays for gas, null where that is the chain's coin.
const GAS_TOKEN: &[RestMember] = &[RestMember { key: "gas_token", source: RestSource::Token(FEE_CURRENCY_NAME) }];

/// The members of all rollups, and those of Celo.
const MEMBERS: [RestMember; L1_FEE.len() + 1] = {
    let celo = RestMember { key: "celo", source: RestSource::Object(GAS_TOKEN) };
    let mut all = [celo; L1_FEE.len() + 1];
    let mut position = 0;
    while position < L1_FEE.len() {
        all[position] = L1_FEE[position];
        position += 1;
    }
    all
};

/// The facts of all rollups, and those of Celo.
const FACTS: [Fact; TRANSACTION_FACTS.len() + 1] = {
    let currency = Fact::new("Fee currency", RestSource::Token(FEE_CURRENCY_NAME), Unit::Address);
    let mut all = [currency; TRANSACTION_FACTS.len() + 1];
    let mut position = 0;
    while position < TRANSACTION_FACTS.len() {
        all[position] = TRANSACTION_FACTS[position];
        position += 1;
    }
    all
};

const TIP: Field = Field::required(&["maxPriorityFeePerGas"], Kind::Quantity);
const CAP: Field = Field::required(&["maxFeePerGas"], Kind::Quantity);
const ACCESS_LIST: Field = Field::optional(&["accessList"], Kind::AccessList);

/// Fees in a token (CIP-64).
const CIP_64: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7b,
    name: "fee currency",
    fields: &[CHAIN_ID, NONCE, TIP, CAP, GAS, TO, VALUE, DATA, ACCESS_LIST, FEE_CURRENCY],
    constants: &[],
    sender: SenderRule::Signature,
    receipt: ReceiptTail::Shown(&[Field::required(&[BASE_FEE], Kind::Quantity)]),
    // The transaction 0x2499b178…f3ac of block 32,460,725.
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Code,
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
    receipt_evidence: Evidence::Code,
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
    receipt_evidence: Evidence::Code,
};

#[cfg(test)]
mod tests {
    use alloy_consensus::crypto::secp256k1::recover_signer_unchecked;
    use alloy_primitives::{U256, keccak256};
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::rest::{RestFacts, RestValue};
    use crate::signer::Signer;

    #[test]
    fn the_fee_currency_is_a_token_and_a_fact() {
        let currency = "0x765DE816845861e75A25fCA122bb6898B8B1282a";
        let of = |fields: Value| {
            let (Value::Object(fields), none) = (fields, Map::new()) else { panic!("an object") };
            let facts = RestFacts { transaction: &fields, receipt: &none, gas_used: 0, price: U256::ZERO };
            let last = MEMBERS[L1_FEE.len()];
            assert_eq!(last.key, "celo");
            let Some(RestValue::Object(members)) = last.source.value(&facts) else { panic!("an object") };
            let shown = FACTS.iter().find(|fact| fact.name == "Fee currency").and_then(|fact| fact.value(&facts));
            (members[0].key, members[0].source.value(&facts), shown)
        };
        let token = RestValue::Token(currency.parse().expect("an address"));
        let lower = json!({"feeCurrency": currency.to_lowercase()});
        assert_eq!(of(lower), ("gas_token", Some(token), Some(currency.into())));
        for coin in [json!({}), json!({"feeCurrency": null}), json!({"feeCurrency": Address::ZERO.to_string()})] {
            assert_eq!(of(coin), ("gas_token", None, None));
        }
    }

    #[test]
    fn legacy_transactions_may_pay_with_a_token() {
        assert!(!CELO.has_coin_fees(0) && CELO.has_coin_fees(2));
        assert!(crate::ETHEREUM.has_coin_fees(0));
    }

    /// A transaction of block 32,460,725, and its receipt.
    #[test]
    fn a_real_transaction_paid_in_a_token_has_its_hash() {
        let given = json!({
            "type": "0x7b", "hash": "0x2499b178a0e54fb856354bb53c9cb0fe2d1f70b2e6c876f6470e7a6e5090f3ac",
            "nonce": "0x705", "from": "0xefe945ee33ce4ab037ff4d1e1384d0efcd95f37b", "chainId": "0xa4ec",
            "to": "0x7a1e295c4babdf229776680c93ed0f73d069abc0", "value": "0x0", "gas": "0x3644c",
            "gasPrice": "0x1ae0426f1", "maxFeePerGas": "0x26442dbed", "maxPriorityFeePerGas": "0x4d7ee",
            "input": "0xcac35c7a290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563",
            "feeCurrency": "0x2f25deb3848c207fc8e0c34035b3ba7fc157602b", "accessList": [], "v": "0x0", "yParity": "0x0",
            "r": "0xaa0cfaa3df893578b3504062b862428f0e4a94046370cf2a4fd6c392c0760dd8",
            "s": "0x1337d022bbb8faed78a9707e6c38d51f575816e7f85aa540f3d37a9081c58a71",
        });
        let given = given.as_object().expect("an object");
        let encoded = CIP_64.encode(given).expect("a transaction");
        assert_eq!(Some(keccak256(&encoded.bytes).to_string().as_str()), given["hash"].as_str());
        let Signer::Signature { payload, signature } = encoded.signer else { panic!("it is signed") };
        let signer = recover_signer_unchecked(&signature, keccak256(payload)).expect("a signer");
        assert_eq!(Some(format!("{signer:#x}").as_str()), given["from"].as_str());
        // As nodes spell it that give no parity.
        let mut other = given.clone();
        other.extend([("yParity".into(), Value::Null), ("v".into(), "0x1b".into())]);
        assert_eq!(CIP_64.encode(&other).map(|other| other.bytes), Ok(encoded.bytes));
        other.insert("v".into(), "0x1d".into());
        assert!(CIP_64.encode(&other).is_err());
        let receipt = json!({"baseFee": "0x1adff4f03", "effectiveGasPrice": "0x1ae0426f1"});
        let base_fee = CIP_64.base_fee_in_receipt(receipt.as_object().expect("an object"));
        assert_eq!(base_fee, Some(U256::from(0x1_ae04_26f1_u64 - 0x4_d7ee)));
        assert_eq!(CIP_42.base_fee_in_receipt(receipt.as_object().expect("an object")), None);
    }
}
