//! What of a header tells the fork of its block.

use alloy_primitives::B256;

use super::rules::Tips;

/// What of a header tells its fork.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeaderFacts {
    /// Height of the block.
    pub number: u64,
    /// Seconds since 1970.
    pub timestamp: u64,
    /// Bytes that are the mix hash on Ethereum.
    pub mix_hash: Option<B256>,
}

impl HeaderFacts {
    /// What the mix hash tells, if it tells a version.
    #[must_use]
    pub fn versioned(self) -> Option<VersionedHeader> {
        self.mix_hash.map(VersionedHeader::of)
    }
}

/// A mix hash of four words of eight bytes (OffchainLabs/go-ethereum, `core/types/arb_types.go`, `HeaderInfo`):
/// messages sent, block of L1, version of the chain, flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionedHeader {
    /// The block of L1.
    pub l1_block: u64,
    /// The version of the chain.
    pub version: u64,
    /// Who gets tips.
    pub tips: Tips,
}

/// The byte of the flags, and its bit that says that tips are collected.
const FLAGS: (usize, u8) = (25, 1);

impl VersionedHeader {
    fn of(mix_hash: B256) -> Self {
        let word = |position: usize| {
            mix_hash[8 * position..][..8].iter().fold(0_u64, |number, byte| (number << 8) | u64::from(*byte))
        };
        let (byte, bit) = FLAGS;
        let tips = if mix_hash[byte] & bit == 0 { Tips::Dropped } else { Tips::Paid };
        Self { l1_block: word(1), version: word(2), tips }
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::b256;

    use super::*;

    /// Block 150,000,000 of Arbitrum One.
    #[test]
    fn a_real_header_tells_its_block_of_l1() {
        let mix_hash = b256!("0000000000017a2700000000011b3fb3000000000000000a0000000000000000");
        let header = HeaderFacts { number: 150_000_000, timestamp: 0, mix_hash: Some(mix_hash) };
        let found = header.versioned().expect("a mix hash");
        assert_eq!(found, VersionedHeader { l1_block: 0x11b_3fb3, version: 10, tips: Tips::Dropped });
        assert_eq!(HeaderFacts::default().versioned(), None);
    }
}
