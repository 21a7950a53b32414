//! Berachain since Brectra (berachain/bera-reth, `src/primitives/header.rs` and `src/transaction`; BRIP-0004): headers
//! name who proposed the block below, and each block begins with the distribution of rewards.

use alloy_primitives::{Address, address};

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{Family, Issuance};
use crate::fields::{CHAIN_ID, DATA, Field, Kind, NONCE};
use crate::header::HeaderRule;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};

/// Berachain and its test network.
pub static BERACHAIN: Family = Family {
    name: "berachain",
    chains: &[Chain::new(80_094, "Berachain", "BERA"), Chain::new(80_069, "Berachain Bepolia", "BERA")],
    header: HeaderRule::Proposer,
    transaction_types: &[DISTRIBUTION],
    issuance: Issuance::Nothing,
    evidence: Evidence::Code,
    header_evidence: Evidence::Code,
    ..ETHEREUM_RULES
};

/// The account in whose name the protocol calls contracts (EIP-4788).
const SYSTEM: Address = address!("fffffffffffffffffffffffffffffffffffffffe");

/// The distribution of rewards: unsigned, and without gas in the block's sum.
const DISTRIBUTION: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7e,
    name: "distribution of rewards",
    fields: &[
        CHAIN_ID,
        Field::required(&["from"], Kind::Address),
        Field::required(&["to"], Kind::Address),
        NONCE,
        Field::required(&["gas", "gasLimit"], Kind::Quantity),
        Field::required(&["gasPrice"], Kind::Quantity),
        DATA,
    ],
    constants: &[],
    sender: SenderRule::OneOf(&[SYSTEM]),
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Code,
    receipt_evidence: Evidence::Code,
};

#[cfg(test)]
mod tests {
    use alloy_consensus::Header;
    use alloy_primitives::{B256, hex, keccak256};
    use serde_json::json;

    use super::*;

    /// What `rlp` for Python encodes of the same values.
    #[test]
    fn a_distribution_is_a_list_of_seven() {
        let given = json!({
            "type": "0x7e",
            "chainId": "0x138de",
            "from": "0xfffffffffffffffffffffffffffffffffffffffe",
            "to": "0xd2f19a79b026fb636a7c300bf5947df113940761",
            "nonce": "0x18183e6",
            "gas": "0x1c9c380",
            "gasPrice": "0x3b9aca00",
            "input": "0x163db71b",
        });
        let encoded = DISTRIBUTION.encode(given.as_object().expect("an object")).expect("a transaction");
        assert_eq!(hex::encode(encoded.bytes), PYTHON_TRANSACTION);
    }

    #[test]
    fn the_proposer_ends_the_list_of_a_header() {
        let header = Header {
            number: 25_264_103,
            base_fee_per_gas: Some(1_000_000_000),
            withdrawals_root: Some(B256::repeat_byte(1)),
            blob_gas_used: Some(0),
            excess_blob_gas: Some(0),
            parent_beacon_block_root: Some(B256::repeat_byte(2)),
            requests_hash: Some(B256::repeat_byte(3)),
            ..Header::default()
        };
        let key = format!("0x{}", "ab".repeat(48));
        let hash = |extra: serde_json::Value| HeaderRule::Proposer.hash(&header, extra.as_object().expect("an object"));
        // Before Brectra.
        assert_eq!(hash(json!({})), Ok(header.hash_slow()));
        for name in ["parentProposerPubkey", "prevProposerPubkey"] {
            let found = hash(json!({ name: key })).expect("a hash");
            assert_eq!(hex::encode(found), PYTHON_HEADER, "{name}");
        }
        assert_ne!(keccak256(alloy_rlp::encode(&header)), hash(json!({"parentProposerPubkey": key})).expect("a hash"));
        assert!(hash(json!({"parentProposerPubkey": 7})).is_err());
    }

    const PYTHON_TRANSACTION: &str = "7ef842830138de94fffffffffffffffffffffffffffffffffffffffe94d2f19a79b026fb636a7c30\
         0bf5947df11394076184018183e68401c9c380843b9aca0084163db71b";
    const PYTHON_HEADER: &str = "b4587a170191f79e69a75631941d4212111919a43db69e06bdb60566d8f8dc0c";
}
