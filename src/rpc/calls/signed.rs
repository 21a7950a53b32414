//! A signed transaction as a call: it runs, and is not sent.

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{Transaction, TxEnvelope};
use alloy_eips::eip2718::Decodable2718;
use revm::primitives::hardfork::SpecId;
use serde_json::Value;

use super::CallRequest;
use crate::error::Problem;
use crate::http::values::invalid;
use crate::rpc::state;
use trawl_core::primitives::{Address, U256};
use trawl_evm::{BlockOverrides, Call, Fees};

impl CallRequest {
    /// What a signed transaction does after a block, the newest one if it is absent. Its bytes are those of EIP-2718,
    /// with its blobs or without them.
    ///
    /// # Errors
    ///
    /// When it cannot be decoded, when its signature is not valid, or when the block has a wrong value.
    pub fn of_signed(bytes: &[u8], block: Option<&Value>) -> Result<Self, Problem> {
        let mut remaining = bytes;
        let signed = TxEnvelope::decode_2718(&mut remaining)
            .map_err(|error| invalid(&format!("invalid transaction: {error}")))?;
        if !remaining.is_empty() {
            return Err(invalid(&format!("invalid transaction: {} bytes after its end", remaining.len())));
        }
        if signed.blob_versioned_hashes().is_some_and(<[_]>::is_empty) {
            return Err(invalid("invalid transaction: blob transaction missing blob hashes"));
        }
        if signed.authorization_list().is_some_and(<[_]>::is_empty) {
            return Err(invalid("invalid transaction: EIP-7702 transaction with empty auth list"));
        }
        let sender = signed.recover_signer().map_err(|_| invalid("invalid sender: the signature is not valid"))?;
        Ok(Self {
            call: call(&signed, sender),
            chain_id: signed.chain_id().map(U256::from),
            fork: fork(&signed),
            block: state::block_of(block)?,
            accounts: Default::default(),
            overrides: BlockOverrides::default(),
        })
    }
}

fn call(signed: &TxEnvelope, from: Address) -> Call {
    Call {
        from,
        to: signed.to(),
        gas: Some(signed.gas_limit()),
        fees: match signed.max_priority_fee_per_gas() {
            Some(priority) => Fees::Dynamic { max: signed.max_fee_per_gas(), priority },
            None => Fees::Price(signed.max_fee_per_gas()),
        },
        value: signed.value(),
        input: signed.input().clone(),
        nonce: Some(signed.nonce()),
        access_list: signed.access_list().cloned(),
        blob_hashes: signed.blob_versioned_hashes().unwrap_or_default().to_vec(),
        max_fee_per_blob_gas: signed.max_fee_per_blob_gas().unwrap_or_default(),
        authorizations: signed.authorization_list().unwrap_or_default().to_vec(),
    }
}

/// The fork with which transactions of its kind came, as far as calls differ.
fn fork(signed: &TxEnvelope) -> SpecId {
    if signed.max_fee_per_blob_gas().is_some() {
        SpecId::CANCUN
    } else if signed.max_priority_fee_per_gas().is_some() {
        SpecId::LONDON
    } else {
        SpecId::FRONTIER
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_consensus::{SignableTransaction, TxEip1559, TxEip4844};
    use alloy_eips::eip2718::Encodable2718;
    use alloy_primitives::{B256, Bytes, Signature, TxKind, hex};

    /// EIP-155's own example, which is of chain 1.
    const EXAMPLE: &[u8] = &hex!(
        "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
    );

    #[test]
    fn transactions_become_calls() {
        let request = CallRequest::of_signed(EXAMPLE, None).expect("a transaction");
        // The sender that the EIP names for the key 0x46…46.
        let expected = Call {
            from: Address::from(hex!("9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f")),
            to: Some(Address::repeat_byte(0x35)),
            gas: Some(21_000),
            fees: Fees::Price(20_000_000_000),
            value: U256::from(10).pow(U256::from(18)),
            nonce: Some(9),
            ..Call::default()
        };
        assert_eq!((request.call, request.chain_id, request.fork), (expected, Some(U256::from(1)), SpecId::FRONTIER));
        let signature = Signature::new(U256::from(1), U256::from(1), false);
        let dynamic = TxEip1559 {
            max_fee_per_gas: 7,
            max_priority_fee_per_gas: 2,
            to: TxKind::Create,
            input: Bytes::from_static(&[0x5f]),
            ..TxEip1559::default()
        };
        let dynamic = TxEnvelope::from(dynamic.into_signed(signature)).encoded_2718();
        let request = CallRequest::of_signed(&dynamic, None).expect("a transaction");
        assert_eq!(request.call.fees, Fees::Dynamic { max: 7, priority: 2 });
        assert_eq!((request.call.to, request.call.input.to_vec(), request.fork), (None, vec![0x5f], SpecId::LONDON));
        let hashes = vec![B256::repeat_byte(1)];
        let blob = TxEip4844 { blob_versioned_hashes: hashes.clone(), max_fee_per_blob_gas: 3, ..TxEip4844::default() };
        let blob = TxEnvelope::from(blob.into_signed(signature)).encoded_2718();
        let request = CallRequest::of_signed(&blob, None).expect("without its blobs");
        assert_eq!((request.call.blob_hashes, request.call.max_fee_per_blob_gas), (hashes, 3));
        assert_eq!(request.fork, SpecId::CANCUN);
    }

    #[test]
    fn other_bytes_are_refused() {
        let text = |bytes: &[u8]| CallRequest::of_signed(bytes, None).err().map(|problem| problem.to_string());
        for bytes in [&[][..], &[0x02], &[0x7f], &EXAMPLE[1..], &EXAMPLE[..50]] {
            assert!(text(bytes).is_some_and(|text| text.starts_with("invalid transaction: ")), "{:?}", text(bytes));
        }
        assert!(text(&[EXAMPLE, &[0]].concat()).is_some_and(|text| text.ends_with("1 bytes after its end")));
    }
}
