//! Where precompiles differ from those of Ethereum's fork.

use alloy_primitives::Address;

/// A difference of the precompiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrecompileRule {
    /// Signatures of P-256 are verified at 0x100, for 3,450 gas (RIP-7212).
    P256Verify,
    /// Powers have the price and the longest numbers of Osaka (EIP-7823, EIP-7883).
    OsakaPowers,
    /// The chain does not have that of an address.
    Absent {
        /// The last byte of the address; the others are zero.
        address: u8,
    },
    /// A longer input fails, with all its gas.
    LongestInput {
        /// The last byte of the address; the others are zero.
        address: u8,
        /// Longest input that does not fail, in bytes.
        bytes: usize,
    },
    /// The chain's own, which is not implemented here: a call that reaches it is refused.
    Own {
        /// Where it is.
        address: Address,
        /// What the chain calls it.
        name: &'static str,
    },
}

impl PrecompileRule {
    /// The chain's own at an address of which only the last byte is not zero.
    #[must_use]
    pub const fn own(last: u8, name: &'static str) -> Self {
        let mut bytes = [0; 20];
        bytes[19] = last;
        Self::Own { address: Address::new(bytes), name }
    }
}
