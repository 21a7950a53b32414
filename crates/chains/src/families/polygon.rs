//! Polygon PoS (0xPolygon/bor): state syncs stand outside of roots and bloom, until Madhugiri gave them a type.

use super::ethereum::ETHEREUM_RULES;
use super::polygon_forks::FORKS;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{Family, Issuance};
use crate::fields::{Field, Kind};
use crate::finality::Finality;
use crate::producer::ProducerRule;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// Polygon, its test networks, Shibarium.
pub static POLYGON: Family = Family {
    name: "polygon",
    producer: ProducerRule::Seal,
    // Before milestones, reorganisations of more than 100 blocks were seen.
    finality: Finality::Tag { depth: 256 },
    chains: &[
        Chain::new(137, "Polygon", "POL"),
        Chain::new(80_001, "Polygon Mumbai", "MATIC"),
        Chain::new(80_002, "Polygon Amoy", "POL"),
        Chain::new(109, "Shibarium", "BONE"),
    ],
    schedules: FORKS,
    transaction_types: &[STATE_SYNC],
    unsigned: UnsignedRule::StateSync,
    issuance: Issuance::Nothing,
    ..ETHEREUM_RULES
};

/// A state sync since Madhugiri (PIP-74, Bor's `core/types/state_sync_tx.go`), last of its block. It is the list of the
/// states, which nodes do not give, so that its hash cannot be computed; its receipt is in the root like any other.
const STATE_SYNC: FamilyTransactionType = FamilyTransactionType {
    byte: 0x7f,
    name: "state sync",
    fields: &[Field::required(&["list of synced states"], Kind::Bytes)],
    constants: &[],
    sender: SenderRule::Unproven("a state sync is not signed"),
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Code,
    receipt_evidence: Evidence::Code,
};
