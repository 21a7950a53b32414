//! The paths of an account and of its slots in the tries of a state (EIP-1186).

use alloy_primitives::keccak256;
use alloy_trie::proof::ProofRetainer;
use alloy_trie::{HashBuilder, Nibbles, TrieAccount};

use super::whole_state::WholeState;
use trawl_core::primitives::{Address, B256, Bytes, U256};

/// An account with its path, or the path to where it would be.
#[derive(Debug, Clone)]
pub struct StateProof {
    /// The account; none if there is none.
    pub account: Option<TrieAccount>,
    /// The nodes from the root of the state on, each in RLP.
    pub nodes: Vec<Bytes>,
    /// Its slots, in the order of the request.
    pub slots: Vec<SlotProof>,
}

/// A slot with its path, or the path to where it would be.
#[derive(Debug, Clone)]
pub struct SlotProof {
    /// The word of the slot; zero where there is none.
    pub value: U256,
    /// The nodes from the root of the account's storage on, each in RLP; none if the storage is empty.
    pub nodes: Vec<Bytes>,
}

impl WholeState {
    /// Proves an account and slots of it.
    #[must_use]
    pub fn prove(&self, address: Address, slots: &[B256]) -> StateProof {
        let accounts = self.accounts.values().map(|stored| (stored.key, alloy_rlp::encode(stored.account)));
        let nodes = paths(accounts.collect(), &[keccak256(address)]).swap_remove(0);
        let stored = self.accounts.get(&address);
        let storage = stored.into_iter().flat_map(|stored| &stored.slots).filter(|(_, value)| !value.is_zero());
        let leaves = storage.map(|(slot, value)| (keccak256(slot), alloy_rlp::encode(value)));
        let keys: Vec<B256> = slots.iter().map(keccak256).collect();
        let value = |slot| stored.and_then(|stored| stored.slots.get(slot)).copied().unwrap_or_default();
        let paths = paths(leaves.collect(), &keys);
        let slots = slots.iter().zip(paths).map(|(slot, nodes)| SlotProof { value: value(slot), nodes });
        StateProof { account: stored.map(|stored| stored.account), nodes, slots: slots.collect() }
    }
}

/// The nodes on the way to each key in the trie of `leaves`, which is built once.
fn paths(mut leaves: Vec<(B256, Vec<u8>)>, keys: &[B256]) -> Vec<Vec<Bytes>> {
    if leaves.is_empty() {
        return vec![Vec::new(); keys.len()];
    }
    leaves.sort_unstable_by_key(|(key, _)| *key);
    let targets: Vec<Nibbles> = keys.iter().map(Nibbles::unpack).collect();
    let mut builder = HashBuilder::default().with_proof_retainer(ProofRetainer::new(targets.clone()));
    for (key, value) in &leaves {
        builder.add_leaf(Nibbles::unpack(key), value);
    }
    builder.root();
    let nodes = builder.take_proof_nodes();
    let path = |target| nodes.matching_nodes_sorted(target).into_iter().map(|(_, node)| node).collect();
    targets.iter().map(path).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Account;
    use alloy_trie::proof::verify_proof;

    fn state() -> WholeState {
        let slots: BTreeMap<B256, U256> =
            (1..40_u8).map(|slot| (B256::with_last_byte(slot), U256::from(slot))).collect();
        WholeState::new((0..60_u8).map(|account| {
            let slots = if account == 7 { slots.clone() } else { BTreeMap::new() };
            (Address::with_last_byte(account), Account { nonce: account.into(), ..Account::default() }, slots)
        }))
    }

    #[test]
    fn each_account_and_slot_has_a_path_to_the_root_and_so_has_its_lack() {
        let state = state();
        for account in 0..80 {
            let address = Address::with_last_byte(account);
            let slots: Vec<B256> = (0..50).map(B256::with_last_byte).collect();
            let proof = state.prove(address, &slots);
            assert_eq!(proof.account.map(|found| found.nonce), (account < 60).then(|| account.into()));
            let leaf = proof.account.map(alloy_rlp::encode);
            assert_eq!(verify_proof(state.root(), Nibbles::unpack(keccak256(address)), leaf, &proof.nodes), Ok(()));
            for (slot, found) in slots.iter().zip(&proof.slots) {
                assert_eq!(found.nodes.is_empty(), account != 7);
                if let Some(stored) = proof.account.filter(|_| account == 7) {
                    let leaf = (!found.value.is_zero()).then(|| alloy_rlp::encode(found.value));
                    let key = Nibbles::unpack(keccak256(slot));
                    assert_eq!(verify_proof(stored.storage_root, key, leaf, &found.nodes), Ok(()));
                }
            }
        }
    }
}
