//! Mantle (mantlenetworkio/op-geth): an OP stack chain of another coin, whose deposits bring ETH as a token.

use alloy_primitives::{Address, U256};
use serde_json::Value;

use super::ethereum::ETHEREUM_RULES;
use super::optimism::{BRIDGES, DEPOSITS, L1_FEE, OPENING, ROLLUP_FACTS, WITHDRAWALS};
use super::optimism_forks::DEPOSIT_TYPE;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::total_difficulty::TotalDifficulty;
use crate::family::{BurntFees, Family, Issuance, WithdrawalsRoot};
use crate::fields::{DATA, EncodingError, Field, GAS, Kind, TO, VALUE, quantity};
use crate::finality::Finality;
use crate::rest::{RestMembers, RestSource};
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// Mantle and its test network.
pub static MANTLE: Family = Family {
    name: "mantle",
    chains: &[Chain::new(5000, "Mantle", "MNT"), Chain::new(5003, "Mantle Sepolia", "MNT")],
    transaction_types: &[DEPOSIT],
    opening: Some(OPENING),
    total_difficulty: TotalDifficulty::SumUntilTakeover,
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "L1 message" },
    withdrawals_root: WithdrawalsRoot::ContractStorage,
    finality: Finality::Tag { depth: 600 },
    burnt: BurntFees::Nothing,
    issuance: Issuance::Nothing,
    evidence: Evidence::Code,
    header_evidence: Evidence::Code,
    l1_fee: Some("l1Fee"),
    l1_fee_sign: Some(SINCE_ARSIA),
    rest: RestMembers { object: None, members: L1_FEE },
    messages: Some(&WITHDRAWALS),
    deposits: Some(&DEPOSITS),
    reader: FACTS,
    bridges: BRIDGES,
    ..ETHEREUM_RULES
};

/// The field of receipts since Arsia. Before it, what is paid for data on L1 is part of the gas
/// (`core/state_transition.go`).
const SINCE_ARSIA: &str = "daFootprintGasScalar";

/// What readers see of fees and deposits.
const FACTS: ReaderFacts = ReaderFacts {
    fee: &[
        Fact::new("execution", RestSource::GasFee, Unit::Wei),
        Fact::new("data on L1", RestSource::ReceiptBeside { field: "l1Fee", sign: SINCE_ARSIA }, Unit::Wei),
        Fact::new("operator", RestSource::OperatorFee, Unit::Wei),
    ],
    ..ROLLUP_FACTS
};

/// A transaction from L1, unsigned (`core/types/deposit_tx.go`). RLP writes an amount that is not there as it writes
/// zero, but leaves out the last one. The nonce in the receipt is not hashed (`Receipts.EncodeIndex`).
const DEPOSIT: FamilyTransactionType = FamilyTransactionType {
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
        Field::optional(&["ethValue"], Kind::Quantity),
        DATA,
        Field::optional(&["ethTxValue"], Kind::Trailing(eth_tx_value)),
    ],
    constants: &[],
    sender: SenderRule::Field,
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Code,
    receipt_evidence: Evidence::Code,
};

/// ETH that the deposit hands on to its recipient.
fn eth_tx_value(value: &Value) -> Result<Vec<u8>, EncodingError> {
    quantity(value).map(|amount: U256| alloy_rlp::encode(amount)).ok_or(EncodingError::Malformed("ethTxValue"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rest::RestFacts;
    use alloy_primitives::keccak256;
    use serde_json::{Map, json};

    /// The deposit that begins block 63,634,683 of Mantle, as a node gives it.
    fn deposit() -> Map<String, Value> {
        let words = [
            "012ecc87",
            "663eebbf",
            "012ce52460",
            "e091984cf3d2da0b2408a6611fbde9a4a1eb6acedfe57689df496b70f0ec0e50",
            "05",
            "2f40d796917ffb642bd2e2bdd2c762a5e40fd749",
            "bc",
            "2710",
        ];
        let words: String = words.iter().map(|word| format!("{word:0>64}")).collect();
        let given = json!({
            "type": "0x7e",
            "hash": "0x15ef2ac0a08b3c747ab8c938dde2164728ae3fd0c1981b0b88bee64e7c424ba8",
            "sourceHash": "0xd375d8d3d4cc23e681a5c2f4737813f95b8aba4184c23842c029b3477515e6e0",
            "from": "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001",
            "to": "0x4200000000000000000000000000000000000015",
            "mint": "0x0",
            "value": "0x0",
            "gas": "0xf4240",
            "ethValue": "0x0",
            "nonce": "0x259410",
            "input": format!("0x015d8eb9{words}"),
        });
        given.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn parts_of_a_fee_are_those_that_are_paid() {
        let parts = |receipt: Value| {
            let (none, receipt) = (Map::new(), receipt.as_object().cloned().unwrap_or_default());
            let facts = RestFacts { transaction: &none, receipt: &receipt, gas_used: 10, price: U256::from(7) };
            MANTLE.reader.fee.iter().filter_map(|part| part.value(&facts)).collect::<Vec<_>>()
        };
        assert_eq!(parts(json!({"l1Fee": "0x5", "tokenRatio": "0xbb8"})), ["70"]);
        assert_eq!(parts(json!({"l1Fee": "0x5", "daFootprintGasScalar": "0x190"})), ["70", "5"]);
    }

    #[test]
    fn a_real_deposit_has_its_hash() {
        let given = deposit();
        let encoded = DEPOSIT.encode(&given).expect("a deposit");
        assert_eq!(Some(keccak256(&encoded.bytes).to_string().as_str()), given["hash"].as_str());
        assert_eq!(DEPOSIT.uncovered(&given).collect::<Vec<_>>(), ["nonce"]);
        assert_eq!(crate::by_opening(&given), Some(&MANTLE), "no other family hashes it so");
    }

    #[test]
    fn eth_that_is_handed_on_ends_the_list() {
        let mut given = deposit();
        let without = DEPOSIT.encode(&given).expect("a deposit").bytes;
        given.remove("ethValue");
        assert_eq!(DEPOSIT.encode(&given).expect("a deposit").bytes, without, "as zero");
        given.insert("ethTxValue".into(), json!("0x7f"));
        let with = DEPOSIT.encode(&given).expect("a deposit").bytes;
        assert_eq!((with.len(), with.last()), (without.len() + 1, Some(&0x7f)));
        given.insert("ethTxValue".into(), json!("0x0"));
        assert_eq!(DEPOSIT.encode(&given).expect("a deposit").bytes.last(), Some(&0x80), "it is there");
        given.insert("ethTxValue".into(), json!(7));
        assert_eq!(DEPOSIT.encode(&given), Err(EncodingError::Malformed("ethTxValue")));
    }
}
