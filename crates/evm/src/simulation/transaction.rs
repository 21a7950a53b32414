//! Calls in the shape of transactions, without a signature.

use alloy_consensus::TxType;
use alloy_eips::eip2930::AccessList;
use alloy_primitives::{TxKind, keccak256};
use alloy_rlp::{BufMut, Encodable, Header};

use super::plan::BlockCall;
use crate::{Call, Fees};
use trawl_core::primitives::B256;

/// A transaction without a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// EIP-2718 type: legacy, or what the fields of the call require.
    pub kind: TxType,
    /// The chain that it is for.
    pub chain_id: u64,
    /// What it calls.
    pub call: Call,
    /// Nonce of the sender before it.
    pub nonce: u64,
    /// Its gas limit.
    pub gas: u64,
    /// Keccak-256 of `bytes`, though no signature is among them.
    pub hash: B256,
    /// The bytes that are hashed.
    pub bytes: Vec<u8>,
}

impl Envelope {
    pub(super) fn new(call: &BlockCall, chain_id: u64, nonce: u64, gas: u64) -> Self {
        let kind = kind(call);
        let mut envelope =
            Self { kind, chain_id, call: call.call.clone(), nonce, gas, hash: B256::ZERO, bytes: Vec::new() };
        envelope.bytes = envelope.encoded();
        envelope.hash = keccak256(&envelope.bytes);
        envelope
    }

    /// Most that is paid for gas, and most of it for the recipient of fees.
    #[must_use]
    pub fn fees(&self) -> (u128, u128) {
        match self.call.fees {
            Fees::None => (0, 0),
            Fees::Price(price) => (price, price),
            Fees::Dynamic { max, priority } => (max, priority),
        }
    }

    /// What is paid for gas.
    #[must_use]
    pub fn price(&self, base_fee: u64) -> u128 {
        let (max, priority) = self.fees();
        if self.kind == TxType::Legacy { max } else { max.min(priority.saturating_add(u128::from(base_fee))) }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut fields = Vec::new();
        self.put_fields(&mut fields);
        let mut bytes = Vec::with_capacity(fields.len() + 10);
        if self.kind != TxType::Legacy {
            bytes.push(self.kind as u8);
        }
        Header { list: true, payload_length: fields.len() }.encode(&mut bytes);
        bytes.extend_from_slice(&fields);
        bytes
    }

    /// The fields, with zeros for a signature.
    fn put_fields(&self, out: &mut Vec<u8>) {
        let (call, (max, priority)) = (&self.call, self.fees());
        let is_legacy = self.kind == TxType::Legacy;
        if !is_legacy {
            self.chain_id.encode(out);
        }
        self.nonce.encode(out);
        if !is_legacy {
            priority.encode(out);
        }
        max.encode(out);
        self.gas.encode(out);
        call.to.map_or(TxKind::Create, TxKind::Call).encode(out);
        call.value.encode(out);
        call.input.encode(out);
        if !is_legacy {
            call.access_list.as_ref().unwrap_or(&AccessList::default()).encode(out);
        }
        if self.kind == TxType::Eip4844 {
            call.max_fee_per_blob_gas.encode(out);
            call.blob_hashes.encode(out);
        }
        if self.kind == TxType::Eip7702 {
            call.authorizations.encode(out);
        }
        // Parity, r and s.
        out.put_slice(&[0x80; 3]);
    }
}

/// As geth has it: a gas price makes a transaction of the first kind.
fn kind(call: &BlockCall) -> TxType {
    if call.has_gas_price {
        TxType::Legacy
    } else if !call.call.authorizations.is_empty() {
        TxType::Eip7702
    } else if !call.call.blob_hashes.is_empty() {
        TxType::Eip4844
    } else {
        TxType::Eip1559
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{address, b256};
    use trawl_core::primitives::U256;

    /// From the specification's test `ethSimulate-simple`: 50 million gas are left, then less by the first call.
    #[test]
    fn hashes_are_those_of_geth() {
        let [one, two, three] = [
            address!("c000000000000000000000000000000000000000"),
            address!("c100000000000000000000000000000000000000"),
            address!("c200000000000000000000000000000000000000"),
        ];
        let hash = |from, to, gas| {
            let call = Call { from, to: Some(to), value: U256::from(1000), ..Call::default() };
            Envelope::new(&BlockCall { call, has_gas_price: false }, 3_503_995_874_084_926, 0, gas).hash
        };
        let first = b256!("f1c5abb08809ef760f87aeabe7a87284c60797192dab6d2f0d26c27c9c038e9d");
        let second = b256!("bc123d32ae457d4a444af60d1aef663c2f4a77c44a52bec0eef8ac81b53549cb");
        assert_eq!(hash(one, two, 50_000_000), first);
        assert_eq!(hash(two, three, 50_000_000 - 21_000), second);
    }
}
