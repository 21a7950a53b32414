//! Families of which nodes give no header that hashes to the block's hash.

use alloy_primitives::{Address, address};

use super::ethereum::ETHEREUM_RULES;
use crate::chain::Chain;
use crate::evidence::Evidence;
use crate::family::{BurntFees, Family, NodeQuirks};
use crate::fields::{CHAIN_ID, DATA, Field, GAS, Kind, NONCE, TO, VALUE};
use crate::finality::Finality;
use crate::header::HeaderRule;
use crate::transaction_type::{FamilyTransactionType, ReceiptTail, SenderRule};
use crate::unsigned::UnsignedRule;

/// zkSync Era, Abstract, Lens, Sophon: roots are zero, gas does not add up.
pub static ZKSYNC: Family = Family {
    name: "zksync",
    chains: &[
        Chain::new(324, "ZKsync Era", "ETH"),
        Chain::new(300, "ZKsync Sepolia", "ETH"),
        Chain::new(280, "ZKsync Goerli", "ETH"),
        Chain::new(2741, "Abstract", "ETH"),
        Chain::new(232, "Lens", "GHO"),
        Chain::new(50_104, "Sophon", "SOPH"),
        Chain::new(11_124, "Abstract Testnet", "ETH"),
        Chain::new(37_111, "Lens Testnet", "GRASS"),
        Chain::new(531_050_104, "Sophon Testnet", "SOPH"),
        Chain::without_coin(388, "Cronos zkEVM"),
        Chain::new(61_166, "Treasure", "MAGIC"),
    ],
    header: HeaderRule::Unproven("the block hash is not that of an Ethereum header"),
    header_signs: &["l1BatchNumber", "l1BatchTimestamp"],
    quirks: NodeQuirks {
        cumulative_gas: Some("nodes give a cumulative gas of 0"),
        roots: Some("the roots are zero"),
        // matter-labs/era-contracts, `ContractDeployer`: called to create, with addresses of a formula of its own.
        contract_address: Some(
            "contracts have addresses by another formula, and calls of a system contract create them",
        ),
        ..NodeQuirks::NONE
    },
    // The tag means that L1 has the proof, hours later.
    finality: Finality::Depth(3600),
    burnt: BurntFees::Unknown,
    ..ETHEREUM_RULES
};

/// Cronos, Evmos, Kava, Sei and others.
pub static COSMOS: Family = Family {
    name: "cosmos",
    chains: &[
        Chain::new(25, "Cronos", "CRO"),
        Chain::new(338, "Cronos Testnet", "TCRO"),
        Chain::without_coin(9001, "Evmos"),
        Chain::without_coin(9000, "Evmos Testnet"),
        Chain::new(2222, "Kava", "KAVA"),
        Chain::new(1329, "Sei", "SEI"),
        Chain::new(1328, "Sei Testnet", "SEI"),
        Chain::new(7000, "ZetaChain", "ZETA"),
        Chain::new(7700, "Canto", "CANTO"),
        Chain::new(1776, "Injective", "INJ"),
        Chain::new(1439, "Injective Testnet", "INJ"),
    ],
    header: COMETBFT,
    quirks: NodeQuirks {
        cumulative_gas: Some("nodes give a cumulative gas that does not add up"),
        log_index: Some("nodes count logs with gaps"),
        roots: Some("the roots are not those of the bodies"),
        missing_receipts: Some("nodes give no receipt of some transactions"),
        ..NodeQuirks::NONE
    },
    finality: Finality::AtOnce,
    burnt: BurntFees::Unknown,
    ..ETHEREUM_RULES
};

/// Stable: as other Cosmos chains, with roots that hold.
pub static STABLE: Family = Family {
    name: "stable",
    chains: &[Chain::without_coin(988, "Stable"), Chain::without_coin(2201, "Stable Testnet")],
    header: COMETBFT,
    transaction_types: &[LANE],
    unsigned: UnsignedRule::Hashed { senders: &[SYSTEM, Address::ZERO], name: "system" },
    quirks: NodeQuirks { log_index: Some("nodes count logs by receipt"), ..NodeQuirks::NONE },
    finality: Finality::AtOnce,
    burnt: BurntFees::Unknown,
    ..ETHEREUM_RULES
};

/// Bittensor, Moonbeam, Astar.
pub static FRONTIER: Family = Family {
    name: "frontier",
    chains: &[
        Chain::new(1284, "Moonbeam", "GLMR"),
        Chain::new(1285, "Moonriver", "MOVR"),
        Chain::new(1287, "Moonbase Alpha", "DEV"),
        Chain::new(592, "Astar", "ASTR"),
        Chain::new(964, "Bittensor", "TAO"),
        Chain::new(945, "Bittensor Testnet", "TAO"),
    ],
    header: HeaderRule::Unproven("the block hash is not that of an Ethereum header"),
    quirks: NodeQuirks {
        repeated_price: Some("nodes repeat the cap as the price of a transaction"),
        ..NodeQuirks::NONE
    },
    burnt: BurntFees::Unknown,
    ..ETHEREUM_RULES
};

const COMETBFT: HeaderRule = HeaderRule::Unproven("the block hash is CometBFT's");

/// Who sends the system transactions of Stable.
const SYSTEM: Address = address!("8888888888888888888888888888888888888888");

/// A transaction of a nonce lane.
const LANE: FamilyTransactionType = FamilyTransactionType {
    byte: 0x3f,
    name: "nonce lane",
    fields: &[
        CHAIN_ID,
        NONCE,
        Field::required(&["maxPriorityFeePerGas"], Kind::Quantity),
        Field::required(&["maxFeePerGas"], Kind::Quantity),
        GAS,
        TO,
        VALUE,
        DATA,
        Field::optional(&["accessList"], Kind::AccessList),
        Field::required(&["yParity", "v"], Kind::Quantity),
        Field::required(&["r"], Kind::Quantity),
        Field::required(&["s"], Kind::Quantity),
        Field::required(&["nonceKey"], Kind::Quantity),
        Field::required(&["timeoutTimestamp"], Kind::Quantity),
    ],
    constants: &[],
    sender: SenderRule::Unproven("what is signed of the type nonce lane is not known"),
    receipt: ReceiptTail::Nothing,
    evidence: Evidence::Blocks,
    receipt_evidence: Evidence::Blocks,
};
