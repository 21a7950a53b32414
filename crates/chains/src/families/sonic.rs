//! Sonic and Fantom (0xsoniclabs/sonic, Fantom-foundation/go-opera): validators are paid by transactions that the
//! chain writes itself, at the end of an epoch.

use alloy_primitives::Address;

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{BurntFees, Family, Issuance};
use crate::finality::Finality;
use crate::unsigned::UnsignedRule;

/// Sonic, whose headers are hashed as Ethereum's are (`inter/block.go`), and Fantom, whose hash was that of an event.
pub static SONIC: Family = Family {
    name: "sonic",
    chains: &[
        Chain::new(146, "Sonic", "S"),
        Chain::new(14_601, "Sonic Testnet", "S"),
        Chain::new(250, "Fantom", "FTM"),
        Chain::new(4002, "Fantom Testnet", "FTM"),
    ],
    // In the name of the zero address, with zeros for a signature (`utils/signers/internaltx`).
    unsigned: UnsignedRule::Hashed { senders: &[Address::ZERO], name: "internal" },
    header_signs: &["timestampNano", "epoch"],
    finality: Finality::AtOnce,
    // Validators, the chain and the makers of contracts share the fees; some are burnt.
    burnt: BurntFees::Unknown,
    issuance: Issuance::Nothing,
    evidence: Evidence::Code,
    header_evidence: Evidence::Code,
    ..ETHEREUM_RULES
};
