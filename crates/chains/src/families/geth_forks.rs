//! Chains of clients made of geth, with something of their own: Sonic and Fantom (0xsoniclabs/sonic,
//! Fantom-foundation/go-opera), Ronin (axieinfinity/ronin).

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{BurntFees, Family, Issuance};
use crate::fields::{CHAIN_ID, DATA, Field, GAS, Kind, NONCE, TO, VALUE};
use crate::finality::Finality;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// Sonic, whose headers are hashed as Ethereum's are (`inter/block.go`), and Fantom, whose hash was that of an event.
pub static SONIC: Family = Family {
    name: "sonic",
    chains: &[
        Chain::new(146, "Sonic", "S"),
        Chain::new(14_601, "Sonic Testnet", "S"),
        Chain::new(250, "Fantom", "FTM"),
        Chain::new(4002, "Fantom Testnet", "FTM"),
    ],
    // Validators are paid at the end of an epoch in the name of the zero address, with zeros for a signature (`utils/signers/internaltx`).
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "internal" },
    header_signs: &["timestampNano", "epoch"],
    finality: Finality::AtOnce,
    // Validators, the chain and the makers of contracts share the fees; some are burnt.
    burnt: BurntFees::Unknown,
    issuance: Issuance::Nothing,
    evidence: Evidence::Code,
    header_evidence: Evidence::Code,
    ..ETHEREUM_RULES
};

/// Ronin, whose headers are Ethereum's.
pub static RONIN: Family = Family {
    name: "ronin",
    chains: &[Chain::new(2020, "Ronin", "RON"), Chain::new(202_601, "Ronin Testnet", "RON")],
    transaction_types: &[SPONSORED],
    burnt: BurntFees::Unknown,
    issuance: Issuance::Nothing,
    ..ETHEREUM_RULES
};

/// A transaction whose gas another account pays, which signs it too (`core/types/sponsored_tx.go`).
const SPONSORED: FamilyTransactionType = FamilyTransactionType {
    byte: 0x64,
    name: "sponsored",
    fields: &[
        CHAIN_ID,
        NONCE,
        Field::required(&["maxPriorityFeePerGas", "gasPrice"], Kind::Quantity),
        Field::required(&["maxFeePerGas", "gasPrice"], Kind::Quantity),
        GAS,
        TO,
        VALUE,
        DATA,
        Field::required(&["expiredTime"], Kind::Quantity),
        Field::required(&["payerV"], Kind::Quantity),
        Field::required(&["payerR"], Kind::Quantity),
        Field::required(&["payerS"], Kind::Quantity),
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
    use alloy_primitives::keccak256;
    use serde_json::json;

    use super::*;
    use crate::signer::Signer;

    /// Signed and hashed with `eth-keys` and `rlp` for Python.
    #[test]
    fn a_sponsored_transaction_has_two_signatures() {
        let given = json!({
            "type": "0x64", "chainId": "0x7e4", "nonce": "0x7", "maxPriorityFeePerGas": "0x4a817c800",
            "maxFeePerGas": "0x4a817c800", "gas": "0x5208", "to": "0x1111111111111111111111111111111111111111",
            "value": "0x5", "input": "0x1234", "expiredTime": "0x68000000",
            "payerV": "0x1",
            "payerR": "0x4661d835a4706c93923c15c1393988cd4966ddf2bad800ac5823fec01dc55c16",
            "payerS": "0x5b230d1c7706dd5d7277220ea3277959c451e621c7cecdc181dc6fc2894f840b",
            "v": "0x1",
            "r": "0x4059df9fae8eadfd7fae15646929970cf2a975e5442dec943b24b5bee87e7bf0",
            "s": "0x114df98ea9813c991d62b838f64fcb9f8d66c3899192cf916002d45cdcd16d35",
        });
        let encoded = SPONSORED.encode(given.as_object().expect("an object")).expect("a transaction");
        let expected = "0x787ceed4bcdb656bdcb30880ed1a36463393aebb5f61c732e7d8e39381da0236";
        assert_eq!(keccak256(&encoded.bytes).to_string(), expected);
        let Signer::Signature { payload, signature } = encoded.signer else { panic!("it is signed") };
        let signer = recover_signer_unchecked(&signature, keccak256(payload)).expect("a signer");
        assert_eq!(format!("{signer:#x}"), "0x1a642f0e3c3af545e7acbd38b07251b3990914f1");
    }
}
