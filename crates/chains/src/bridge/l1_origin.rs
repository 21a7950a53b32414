//! Which block of L1 a block of the OP stack follows: the input of the deposit that it begins with.
//! <https://specs.optimism.io/protocol/deposits.html#l1-attributes-deposited-transaction>

/// A block of L1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct L1Origin {
    /// Height of the block on L1.
    pub number: u64,
    /// Its time in seconds since 1970.
    pub timestamp: u64,
}

/// `setL1BlockValues(uint64,uint64,uint256,bytes32,uint64,bytes32,uint256,uint256)`: words (Bedrock).
const OF_BEDROCK: [u8; 4] = [0x01, 0x5d, 0x8e, 0xb9];
/// `setL1BlockValuesEcotone()`, `…Isthmus()` and `…Jovian()`: packed, and the same up to the height.
const PACKED: [[u8; 4]; 3] = [[0x44, 0x0a, 0x5e, 0x20], [0x09, 0x89, 0x99, 0xbe], [0x3d, 0xb6, 0xbe, 0x2b]];

impl L1Origin {
    /// By the input of the first transaction of a block; `None` for the call of any other function.
    #[must_use]
    pub fn read(input: &[u8]) -> Option<Self> {
        let (selector, arguments) = input.split_first_chunk::<4>()?;
        let number = |at: usize| Some(u64::from_be_bytes(*arguments.get(at..)?.first_chunk()?));
        let words = || Some(Self { number: number(24)?, timestamp: number(56)? });
        // Two scalars of 4 bytes and a sequence number of 8 come first.
        let packed = || Some(Self { timestamp: number(16)?, number: number(24)? });
        match *selector {
            OF_BEDROCK => words(),
            other if PACKED.contains(&other) => packed(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::keccak256;

    fn selector(signature: &str) -> [u8; 4] {
        *keccak256(signature).first_chunk().expect("32 bytes")
    }

    #[test]
    fn origins_are_read_as_the_specification_lays_them_out() {
        assert_eq!(
            OF_BEDROCK,
            selector("setL1BlockValues(uint64,uint64,uint256,bytes32,uint64,bytes32,uint256,uint256)")
        );
        for (known, fork) in PACKED.into_iter().zip(["Ecotone", "Isthmus", "Jovian"]) {
            assert_eq!(known, selector(&format!("setL1BlockValues{fork}()")), "{fork}");
        }
        let origin = L1Origin { number: 0x0102_0304_0506_0708, timestamp: 0x1112_1314_1516_1718 };
        let (number, timestamp) = (origin.number.to_be_bytes(), origin.timestamp.to_be_bytes());
        let words = [&OF_BEDROCK[..], &[0; 24], &number, &[0; 24], &timestamp, &[0; 64]].concat();
        assert_eq!(L1Origin::read(&words), Some(origin));
        let packed = [&PACKED[1][..], &[9; 16], &timestamp, &number, &[0; 32]].concat();
        assert_eq!(L1Origin::read(&packed), Some(origin));
        assert_eq!(L1Origin::read(&packed[..30]), None, "a short input");
        assert_eq!(L1Origin::read(&[0; 300]), None, "another function");
    }
}
