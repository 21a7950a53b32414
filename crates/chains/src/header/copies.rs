//! Members of a header in the JSON of nodes that repeat what its other fields hold.

use alloy_consensus::Header;
use alloy_primitives::U256;

/// Which members of a header repeat others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyRule {
    /// Each says something of its own.
    None,
    /// The root of the messages to L1, which is the extra data, their number and the block of L1, which are in the mix
    /// hash (OffchainLabs/go-ethereum, `core/types/arb_types.go`, `HeaderInfo`).
    MessagesToL1,
}

impl CopyRule {
    /// The members with the value that each has, as JSON-RPC writes it.
    #[must_use]
    pub fn members(self, header: &Header) -> Vec<(&'static str, String)> {
        if self == Self::None || !has_messages(header) {
            return Vec::new();
        }
        let word = |position: usize| U256::from_be_slice(&header.mix_hash[8 * position..][..8]);
        vec![
            ("sendRoot", header.extra_data.to_string()),
            ("sendCount", format!("{:#x}", word(0))),
            ("l1BlockNumber", format!("{:#x}", word(1))),
        ]
    }
}

/// Whether a header is of this form: blocks of before have another one.
fn has_messages(header: &Header) -> bool {
    header.base_fee_per_gas.is_some_and(|fee| fee > 0)
        && header.extra_data.len() == 32
        && header.difficulty == U256::from(1)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, b256};

    use super::*;

    /// Block 150,000,000 of Arbitrum One, with another root.
    #[test]
    fn a_real_header_repeats_its_mix_hash() {
        let header = Header {
            mix_hash: b256!("0000000000017a2700000000011b3fb3000000000000000a0000000000000000"),
            extra_data: B256::repeat_byte(0xab).into(),
            difficulty: U256::from(1),
            base_fee_per_gas: Some(100_000_000),
            ..Header::default()
        };
        let expected = [
            ("sendRoot", format!("0x{}", "ab".repeat(32))),
            ("sendCount", "0x17a27".into()),
            ("l1BlockNumber", "0x11b3fb3".into()),
        ];
        assert_eq!(CopyRule::MessagesToL1.members(&header), expected);
        assert!(CopyRule::None.members(&header).is_empty());
        assert!(CopyRule::MessagesToL1.members(&Header { base_fee_per_gas: None, ..header }).is_empty());
    }
}
