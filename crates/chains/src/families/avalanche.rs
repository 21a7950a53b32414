//! Avalanche's C-Chain and subnets (ava-labs/coreth): headers with fields of their own.

use super::avalanche_forks::FORKS;
use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::{Fact, ReaderFacts, Unit};
use crate::family::{BurntFees, Family, Issuance};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::rest::RestSource;

/// The C-Chain and Fuji.
pub static AVALANCHE: Family = Family {
    name: "avalanche",
    chains: &[Chain::new(43_114, "Avalanche C-Chain", "AVAX"), Chain::new(43_113, "Avalanche Fuji", "AVAX")],
    schedules: FORKS,
    header: HeaderRule::Avalanche,
    finality: Finality::AtOnce,
    burnt: BurntFees::Everything,
    issuance: Issuance::Nothing,
    reader: FACTS,
    evidence: Evidence::Code,
    header_evidence: Evidence::Code,
    ..ETHEREUM_RULES
};

const FACTS: ReaderFacts = ReaderFacts {
    block: &[
        Fact::new("Gas of atomic transactions", RestSource::Own("extDataGasUsed"), Unit::Gas),
        Fact::new("Gas cost of the block", RestSource::Own("blockGasCost"), Unit::Gas),
        Fact::new("Milliseconds", RestSource::Own("timestampMilliseconds"), Unit::Number),
    ],
    ..ReaderFacts::NONE
};
