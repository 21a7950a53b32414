//! Bloom filters of receipts: every address and topic of a block is hashed once, and four at a time.
//!
//! Yellow paper, section 4.3.1: three bits of 2,048 for each address and topic. Most logs of a block repeat what others
//! of it have.

use alloy_primitives::map::HashMap;
use alloy_primitives::{Address, B256, Bloom};

use crate::block::{Log, Receipt};
use trawl_keccak::keccak256_all;

/// The filter of each receipt: its own if it has one, for that stands in what is hashed; else made of its logs.
#[must_use]
pub fn blooms(receipts: &[Receipt]) -> Vec<Bloom> {
    filters(receipts, |receipt| receipt.logs_bloom.map(Bloom))
}

/// The filter of the logs of each receipt, whatever filter it has.
#[must_use]
pub fn blooms_of_logs(receipts: &[Receipt]) -> Vec<Bloom> {
    filters(receipts, |_| None)
}

fn filters(receipts: &[Receipt], given: impl Fn(&Receipt) -> Option<Bloom>) -> Vec<Bloom> {
    let mut distinct = Distinct::default();
    let mut indices = Vec::new();
    for receipt in receipts.iter().filter(|receipt| given(receipt).is_none()) {
        receipt.logs.iter().for_each(|log| distinct.indices(log, &mut indices));
    }
    let bits = distinct.bits();
    let mut indices = indices.into_iter();
    let mut make = |receipt: &Receipt| {
        let items = receipt.logs.iter().map(|log| 1 + log.topics.len()).sum();
        let mut bloom = Bloom::ZERO;
        for bit in indices.by_ref().take(items).flat_map(|index: usize| bits[index]) {
            // Bit 0 is the lowest of the last byte.
            bloom.0[255 - usize::from(bit / 8)] |= 1 << (bit % 8);
        }
        bloom
    };
    receipts.iter().map(|receipt| given(receipt).unwrap_or_else(|| make(receipt))).collect()
}

/// Hashed values, each once. The maps have random seeds, so that a chain cannot be crafted to fill one bucket.
#[derive(Default)]
struct Distinct<'a> {
    items: Vec<&'a [u8]>,
    addresses: HashMap<&'a Address, usize>,
    topics: HashMap<&'a B256, usize>,
    /// Logs come in runs of the same contract.
    last: Option<(&'a Address, usize)>,
}

impl<'a> Distinct<'a> {
    /// Adds where the address and the topics of a log are, in this order.
    fn indices(&mut self, log: &'a Log, indices: &mut Vec<usize>) {
        let address = match self.last {
            Some((last, index)) if *last == log.address => index,
            _ => *self.addresses.entry(&log.address).or_insert_with(|| add(&mut self.items, log.address.as_slice())),
        };
        self.last = Some((&log.address, address));
        indices.push(address);
        for topic in &log.topics {
            indices.push(*self.topics.entry(topic).or_insert_with(|| add(&mut self.items, topic.as_slice())));
        }
    }

    /// The three bits of each: the low 11 of the first three pairs of bytes of its hash.
    fn bits(&self) -> Vec<[u16; 3]> {
        let bit = |hash: &B256, pair: usize| u16::from_be_bytes([hash[2 * pair], hash[2 * pair + 1]]) & 2047;
        keccak256_all(&self.items).iter().map(|hash| [0, 1, 2].map(|pair| bit(hash, pair))).collect()
    }
}

fn add<'a>(items: &mut Vec<&'a [u8]>, item: &'a [u8]) -> usize {
    items.push(item);
    items.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::LogData;
    use proptest::prelude::*;

    /// A few addresses and topics that repeat, as in blocks.
    fn receipts() -> impl Strategy<Value = Vec<Receipt>> {
        let log = (0_u8..6, prop::collection::vec(0_u8..9, 0..5));
        prop::collection::vec((prop::collection::vec(log, 0..6), any::<bool>()), 0..12)
            .prop_map(|receipts| receipts.into_iter().map(|(logs, has_bloom)| receipt(logs, has_bloom)).collect())
    }

    fn receipt(logs: Vec<(u8, Vec<u8>)>, has_bloom: bool) -> Receipt {
        let log = |(address, topics): (u8, Vec<u8>)| Log {
            address: Address::repeat_byte(address),
            topics: topics.into_iter().map(B256::repeat_byte).collect(),
            data: vec![1, 2, 3].into(),
            index: 0,
        };
        Receipt {
            transaction_hash: B256::ZERO,
            block_hash: None,
            status: Some(1),
            root: None,
            cumulative_gas_used: 0,
            gas_used: 0,
            effective_gas_price: None,
            contract_address: None,
            logs_bloom: has_bloom.then(|| alloy_primitives::FixedBytes::repeat_byte(7)),
            blob_gas_used: None,
            blob_gas_price: None,
            logs: logs.into_iter().map(log).collect(),
            raw: None,
            extra: None,
        }
    }

    fn library(receipt: &Receipt) -> Bloom {
        let data = |log: &Log| LogData::new_unchecked(log.topics.clone(), log.data.clone());
        let logs: Vec<_> =
            receipt.logs.iter().map(|log| alloy_primitives::Log { address: log.address, data: data(log) }).collect();
        receipt.logs_bloom.map_or_else(|| alloy_primitives::logs_bloom(&logs), Bloom)
    }

    proptest! {
        #[test]
        fn equals_the_library(receipts in receipts()) {
            let expected: Vec<Bloom> = receipts.iter().map(library).collect();
            prop_assert_eq!(blooms(&receipts), expected);
        }
    }
}
