//! Ethereum, and BNB Smart Chain, whose blocks are as Ethereum's: its system transactions are signed by who makes the block.

use crate::evidence::Evidence;
use crate::family::{Burnt, ETHEREUM_NAME, Family, NodeQuirks, PriceRule, WithdrawalsRoot};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::rest::RestMembers;
use crate::unsigned::UnsignedRule;

/// Ethereum and its test networks, and every chain that is not listed.
pub static ETHEREUM: Family = Family { name: ETHEREUM_NAME, ..ETHEREUM_RULES };

/// BNB Smart Chain and Chapel (bnb-chain/bsc, `consensus/parlia`).
pub static BNB: Family = Family { name: "bnb", evidence: Evidence::Code, ..ETHEREUM_RULES };

/// What other families take over.
pub(super) const ETHEREUM_RULES: Family = Family {
    name: "",
    header: HeaderRule::Ethereum,
    transaction_types: &[],
    unsigned: UnsignedRule::Unknown,
    price: PriceRule::Signed,
    withdrawals_root: WithdrawalsRoot::Withdrawals,
    finality: Finality::Tag { depth: 128 },
    burnt: Burnt::BaseFee,
    l1_fee: None,
    schedules: &[],
    rest: RestMembers::NONE,
    messages: None,
    evidence: Evidence::Blocks,
    quirks: NodeQuirks::NONE,
};
