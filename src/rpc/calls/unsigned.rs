//! An unsigned transaction: its encoding, and its object.

use alloy_consensus::{
    Transaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxEnvelope, TxLegacy, Typed2718, TypedTransaction,
};
use alloy_eips::eip2718::Encodable2718;
use alloy_eips::eip2930::AccessList;
use alloy_eips::eip7702::SignedAuthorization;
use alloy_primitives::{Signature, TxKind, keccak256};
use alloy_rlp::{Encodable, Header};

use crate::error::Problem;
use trawl_core::primitives::{Address, U256};
use trawl_evm::{Call, Fees};
use trawl_json::{JsonWriter, Object};

/// A transaction with its sender.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnsignedTransaction {
    transaction: TypedTransaction,
    from: Address,
    chain_id: u64,
}

impl UnsignedTransaction {
    /// The transaction that a call with all its members becomes: of the kind that its members need.
    ///
    /// # Errors
    ///
    /// [`Problem::Internal`] if the call lacks its gas, nonce, or the address that its kind needs.
    pub fn new(call: &Call, chain_id: u64) -> Result<Self, Problem> {
        let (Some(gas_limit), Some(nonce)) = (call.gas, call.nonce) else { return Err(Problem::Internal) };
        let (max_fee_per_gas, max_priority_fee_per_gas) = match call.fees {
            Fees::Dynamic { max, priority } => (max, priority),
            Fees::Price(price) => (price, price),
            Fees::None => (0, 0),
        };
        let is_dynamic = matches!(call.fees, Fees::Dynamic { .. });
        let to = call.to.map_or(TxKind::Create, TxKind::Call);
        let (value, input) = (call.value, call.input.clone());
        let access_list = call.access_list.clone().unwrap_or_default();
        let address = call.to.ok_or(Problem::Internal);
        let transaction: TypedTransaction = if !call.authorizations.is_empty() {
            let (to, authorization_list) = (address?, call.authorizations.clone());
            TxEip7702 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to,
                value,
                access_list,
                authorization_list,
                input,
            }
            .into()
        } else if !call.blob_hashes.is_empty() {
            let (to, blob_versioned_hashes) = (address?, call.blob_hashes.clone());
            let max_fee_per_blob_gas = call.max_fee_per_blob_gas;
            TxEip4844 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to,
                value,
                access_list,
                blob_versioned_hashes,
                max_fee_per_blob_gas,
                input,
            }
            .into()
        } else if is_dynamic {
            TxEip1559 {
                chain_id,
                nonce,
                gas_limit,
                max_fee_per_gas,
                max_priority_fee_per_gas,
                to,
                value,
                access_list,
                input,
            }
            .into()
        } else if call.access_list.is_some() {
            let gas_price = max_fee_per_gas;
            TxEip2930 { chain_id, nonce, gas_price, gas_limit, to, value, access_list, input }.into()
        } else {
            let gas_price = max_fee_per_gas;
            TxLegacy { chain_id: Some(chain_id), nonce, gas_price, gas_limit, to, value, input }.into()
        };
        Ok(Self { transaction, from: call.from, chain_id })
    }

    /// The encoding of a signed transaction, with zeros in place of the signature, as geth has it.
    fn encoded(&self) -> Vec<u8> {
        match &self.transaction {
            TypedTransaction::Legacy(transaction) => legacy(transaction),
            other => {
                let signature = Signature::new(U256::ZERO, U256::ZERO, false);
                TxEnvelope::from(other.clone().into_envelope(signature)).encoded_2718()
            }
        }
    }

    /// Writes the encoding and the object.
    pub fn write(&self, writer: &mut JsonWriter) {
        let raw = self.encoded();
        writer.object(|object| {
            object.key("raw").hex(&raw);
            object.key("tx").object(|members| {
                self.write_members(members);
                members.key("hash").hex(keccak256(&raw).as_slice());
            });
        });
    }

    fn write_members(&self, members: &mut Object<'_>) {
        let transaction = &self.transaction;
        members.key("type").quantity(u64::from(u8::from(transaction.tx_type())));
        members.key("chainId").quantity(self.chain_id);
        members.key("nonce").quantity(transaction.nonce());
        members.key("from").hex(self.from.as_slice());
        members.key("to").option(transaction.to(), |writer, to| writer.hex(to.as_slice()));
        members.key("gas").quantity(transaction.gas_limit());
        match transaction.max_priority_fee_per_gas() {
            None => members.key("gasPrice").quantity_256(U256::from(transaction.max_fee_per_gas())),
            Some(priority) => {
                members.key("maxPriorityFeePerGas").quantity_256(U256::from(priority));
                members.key("maxFeePerGas").quantity_256(U256::from(transaction.max_fee_per_gas()));
            }
        }
        if let Some(price) = transaction.max_fee_per_blob_gas() {
            members.key("maxFeePerBlobGas").quantity_256(U256::from(price));
        }
        members.key("value").quantity_256(transaction.value());
        members.key("input").hex(transaction.input());
        if let Some(list) = transaction.access_list() {
            write_access_list(members, list);
        }
        if let Some(hashes) = transaction.blob_versioned_hashes() {
            let key = members.key("blobVersionedHashes");
            key.array(|array| hashes.iter().for_each(|hash| array.item().hex(hash.as_slice())));
        }
        if let Some(authorizations) = transaction.authorization_list() {
            write_authorizations(members, authorizations);
        }
        let signature: &[&str] = if transaction.is_legacy() { &["v", "r", "s"] } else { &["v", "r", "s", "yParity"] };
        signature.iter().for_each(|name| members.key(name).quantity(0));
    }
}

/// The list of EIP-155 with a signature of zeros.
fn legacy(TxLegacy { nonce, gas_price, gas_limit, to, value, input, .. }: &TxLegacy) -> Vec<u8> {
    const NO_SIGNATURE: [u8; 3] = [alloy_rlp::EMPTY_STRING_CODE; 3];
    let mut fields = Vec::new();
    let members: [&dyn Encodable; 6] = [nonce, gas_price, gas_limit, to, value, input];
    members.into_iter().for_each(|member| member.encode(&mut fields));
    fields.extend(NO_SIGNATURE);
    let mut raw = Vec::new();
    Header { list: true, payload_length: fields.len() }.encode(&mut raw);
    raw.extend(fields);
    raw
}

fn write_access_list(members: &mut Object<'_>, list: &AccessList) {
    members.key("accessList").array(|array| {
        for item in &list.0 {
            array.item().object(|object| {
                object.key("address").hex(item.address.as_slice());
                object.key("storageKeys").array(|keys| {
                    item.storage_keys.iter().for_each(|key| keys.item().hex(key.as_slice()));
                });
            });
        }
    });
}

fn write_authorizations(members: &mut Object<'_>, authorizations: &[SignedAuthorization]) {
    members.key("authorizationList").array(|array| {
        for signed in authorizations {
            array.item().object(|object| {
                object.key("chainId").quantity_256(*signed.chain_id());
                object.key("address").hex(signed.address().as_slice());
                object.key("nonce").quantity(signed.nonce());
                object.key("yParity").quantity(signed.y_parity().into());
                object.key("r").quantity_256(signed.r());
                object.key("s").quantity_256(signed.s());
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::hex;

    fn encoded(call: Call) -> String {
        let to = Some(Address::from(hex!("000000000000000000000000000000000000dead")));
        let whole = Call { to, gas: Some(21_000), nonce: Some(0x64), value: U256::from(1), ..call };
        hex::encode(UnsignedTransaction::new(&whole, 31_337).expect("whole").encoded())
    }

    /// The first two as anvil 1.7.1 fills the same transactions; the last is the list of the yellow paper by hand.
    #[test]
    fn the_signature_is_zeros() {
        let fees = Fees::Dynamic { max: 0x3b9a_e837, priority: 1_000_000_000 };
        assert_eq!(
            encoded(Call { fees, ..Call::default() }),
            "02ec827a6964843b9aca00843b9ae83782520894000000000000000000000000000000000000dead0180c0808080"
        );
        let fees = Fees::Price(1_000_000_000);
        assert_eq!(
            encoded(Call { fees, access_list: Some(AccessList::default()), ..Call::default() }),
            "01e7827a6964843b9aca0082520894000000000000000000000000000000000000dead0180c0808080"
        );
        assert_eq!(
            encoded(Call { fees, ..Call::default() }),
            "e364843b9aca0082520894000000000000000000000000000000000000dead0180808080"
        );
    }
}
