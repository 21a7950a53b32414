//! Ethereum, and BNB Smart Chain, whose blocks are as Ethereum's: its system transactions are signed by who makes the
//! block.

use super::bnb_forks::FORKS;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::facts::ReaderFacts;
use crate::family::total_difficulty::TotalDifficulty;
use crate::family::{BurntFees, ETHEREUM_NAME, Family, Issuance, NodeQuirks, PriceRule, WithdrawalsRoot};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::header::copies::CopyRule;
use crate::producer::ProducerRule;
use crate::rest::RestMembers;
use crate::transaction_type::legacy::LegacyRule;
use crate::unsigned::UnsignedRule;

/// Ethereum and its test networks, and every chain that is not listed.
pub static ETHEREUM: Family = Family {
    name: ETHEREUM_NAME,
    chains: &[
        Chain::new(1, "Ethereum", "ETH"),
        Chain::new(5, "Goerli", "ETH"),
        Chain::new(11_155_111, "Sepolia", "ETH"),
        Chain::new(17_000, "Holesky", "ETH"),
        Chain::new(560_048, "Hoodi", "ETH"),
    ],
    ..ETHEREUM_RULES
};

/// BNB Smart Chain and Chapel (bnb-chain/bsc, `consensus/parlia`).
pub static BNB: Family = Family {
    name: "bnb",
    chains: &[Chain::new(56, "BNB Smart Chain", "BNB"), Chain::new(97, "BNB Smart Chain Testnet", "tBNB")],
    schedules: FORKS,
    issuance: Issuance::Nothing,
    evidence: Evidence::Code,
    // A header of Chapel since Maxwell. Since Lorentz the mix hash carries the milliseconds within the second, so that
    // `milliTimestamp` repeats it together with the time.
    header_evidence: Evidence::Blocks,
    unhashed: &["milliTimestamp"],
    ..ETHEREUM_RULES
};

/// What other families take over.
pub(super) const ETHEREUM_RULES: Family = Family {
    name: "",
    chains: &[],
    header: HeaderRule::Ethereum,
    transaction_types: &[],
    opening: None,
    header_signs: &[],
    legacy: LegacyRule::Ethereum,
    unsigned: UnsignedRule::Unknown,
    price: PriceRule::Signed,
    withdrawals_root: WithdrawalsRoot::Withdrawals,
    total_difficulty: TotalDifficulty::Sum,
    finality: Finality::Tag { depth: 128 },
    producer: ProducerRule::Beneficiary,
    burnt: BurntFees::BaseFee,
    issuance: Issuance::ProofOfWork,
    l1_fee: None,
    l1_fee_sign: None,
    schedules: &[],
    rest: RestMembers::NONE,
    messages: None,
    deposits: None,
    block_rest: RestMembers::NONE,
    reader: ReaderFacts::NONE,
    bridges: &[],
    evidence: Evidence::Blocks,
    header_evidence: Evidence::Blocks,
    copies: CopyRule::None,
    unhashed: &[],
    quirks: NodeQuirks::NONE,
};
