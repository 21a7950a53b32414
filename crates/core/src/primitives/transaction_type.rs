//! Types of transactions (EIP-2718).

use std::fmt;

/// The type of a transaction. Those of Ethereum have columns for all their fields. Of any other the tables have the
/// JSON of the source, and `trawl-chains` knows how some of them are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionType {
    /// Without a type byte.
    Legacy,
    /// With an access list, 0x01 (EIP-2930).
    AccessList,
    /// With a priority fee and a fee cap, 0x02 (EIP-1559).
    DynamicFee,
    /// With blobs, 0x03 (EIP-4844).
    Blob,
    /// With authorizations, 0x04 (EIP-7702).
    SetCode,
    /// Not one of Ethereum's, or a later one.
    Other(u8),
}

impl TransactionType {
    /// The number of the type: 0 for [`Self::Legacy`], the first byte of the encoding for others.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Legacy => 0,
            Self::AccessList => 1,
            Self::DynamicFee => 2,
            Self::Blob => 3,
            Self::SetCode => 4,
            Self::Other(byte) => byte,
        }
    }

    /// Whether all its fields are columns.
    #[must_use]
    pub const fn has_columns(self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

impl From<u8> for TransactionType {
    fn from(byte: u8) -> Self {
        match byte {
            0 => Self::Legacy,
            1 => Self::AccessList,
            2 => Self::DynamicFee,
            3 => Self::Blob,
            4 => Self::SetCode,
            byte => Self::Other(byte),
        }
    }
}

/// The number in decimal digits.
impl fmt::Display for TransactionType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.byte().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_its_byte() {
        for byte in 0..=u8::MAX {
            let found = TransactionType::from(byte);
            assert_eq!((found.byte(), found.has_columns()), (byte, byte <= 4), "{found}");
        }
    }
}
