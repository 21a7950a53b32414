//! The contracts that handle user operations, and their versions.

use std::str::FromStr;

use alloy_primitives::address;

use crate::primitives::Address;

/// The version of an EntryPoint, which says how its bundles are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryPointVersion {
    /// One word for each limit and each fee.
    V06,
    /// Limits and fees are packed by two.
    V07,
    /// As before; wallets may be delegations (EIP-7702).
    V08,
    /// Encoded as before, with a specification of signatures of its own.
    V09,
}

impl EntryPointVersion {
    /// `v0.6` and so on, as the API family writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V06 => "v0.6",
            Self::V07 => "v0.7",
            Self::V08 => "v0.8",
            Self::V09 => "v0.9",
        }
    }
}

/// A contract that handles user operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryPoint {
    /// Where it is.
    pub address: Address,
    /// How its bundles are encoded.
    pub version: EntryPointVersion,
}

/// The EntryPoints of <https://github.com/eth-infinitism/account-abstraction>, at the same address on every chain.
const DEPLOYED: [EntryPoint; 4] = [
    EntryPoint { address: address!("5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"), version: EntryPointVersion::V06 },
    EntryPoint { address: address!("0000000071727De22E5E9d8BAf0edAc6f37da032"), version: EntryPointVersion::V07 },
    EntryPoint { address: address!("4337084D9E255Ff0702461CF8895CE9E3b5Ff108"), version: EntryPointVersion::V08 },
    EntryPoint { address: address!("433709009B8330FDa32311DF1C2AFA402eD8D009"), version: EntryPointVersion::V09 },
];

/// An EntryPoint as an operator writes it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an EntryPoint: write VERSION=ADDRESS, with version v0.6, v0.7, v0.8 or v0.9, such as \
     v0.7=0x0123…"
)]
pub struct NoEntryPoint(String);

impl FromStr for EntryPoint {
    type Err = NoEntryPoint;

    fn from_str(text: &str) -> Result<Self, NoEntryPoint> {
        let wrong = || NoEntryPoint(text.chars().take(80).collect());
        let (version, address) = text.split_once('=').ok_or_else(wrong)?;
        let version = DEPLOYED.iter().map(|point| point.version).find(|known| known.as_str() == version);
        let address = address.starts_with("0x").then(|| address.parse().ok()).flatten();
        version.zip(address).map(|(version, address)| Self { address, version }).ok_or_else(wrong)
    }
}

/// The EntryPoints whose events are user operations: those that everybody knows, and those of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryPoints(Vec<EntryPoint>);

impl Default for EntryPoints {
    fn default() -> Self {
        Self(DEPLOYED.to_vec())
    }
}

impl EntryPoints {
    /// The known ones and `more`; of one address the later counts.
    #[must_use]
    pub fn with(more: &[EntryPoint]) -> Self {
        let mut all = Self::default();
        for point in more {
            all.0.retain(|known| known.address != point.address);
            all.0.push(*point);
        }
        all
    }

    /// Where they are, in no order.
    #[must_use]
    pub fn addresses(&self) -> Vec<Address> {
        self.0.iter().map(|point| point.address).collect()
    }

    /// The version of the one at `address`, if there is one.
    #[must_use]
    pub fn version(&self, address: &Address) -> Option<EntryPointVersion> {
        self.0.iter().find(|point| point.address == *address).map(|point| point.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_name_more() {
        let own = Address::repeat_byte(7);
        let point: EntryPoint = format!("v0.7={own}").parse().expect("valid");
        assert_eq!(EntryPoints::with(&[point]).version(&own), Some(EntryPointVersion::V07));
        assert_eq!(EntryPoints::default().version(&own), None);
        let replaced = EntryPoint { address: DEPLOYED[0].address, version: EntryPointVersion::V09 };
        assert_eq!(EntryPoints::with(&[replaced]).addresses().len(), DEPLOYED.len());
        for wrong in ["", "v0.7", "v0.5=0x0707070707070707070707070707070707070707", "v0.7=0x07", "v0.7=07"] {
            assert!(wrong.parse::<EntryPoint>().is_err(), "{wrong}");
        }
    }
}
