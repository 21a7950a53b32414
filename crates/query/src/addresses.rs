//! Plans for facts about many addresses at a time: contracts, proxies, tokens.

use alloy_primitives::b256;

use super::select::Select;
use trawl_core::newest::Test;
use trawl_core::primitives::{Address, B256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::{ProxyRow, TokenRow, TokenStatisticsRow};
use trawl_core::statement::Statement;

columns! {
    /// An address with code.
    pub struct KnownContract / KnownContractView {
        /// The contract.
        address: Address,
    }
}

columns! {
    /// A change of a beacon, which stores the implementation of its proxies.
    pub struct BeaconUpgrade / BeaconUpgradeView {
        /// The beacon.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Position of the event in the block.
        log_index: u32,
        /// The implementation, in the last 20 bytes.
        topic1: B256,
    }
}

/// Most rows of a result: far more than a page has addresses.
const MAX_ROWS: u64 = 100_000;

/// Spelt as a sub-query because `IN arrayMap(…)` means the same and uses no key.
const AMONG: &str = "address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))";

/// Which of `addresses` are contracts that were created in `blocks`; a contract has a row for each creation.
#[must_use]
pub fn contracts(addresses: &[Address], blocks: &Span) -> Statement<KnownContract> {
    among(addresses).blocks("block_number", blocks).page("contracts", "address", MAX_ROWS)
}

/// Implementations of proxies among `addresses`, by address, the oldest record first.
#[must_use]
pub fn proxies(addresses: &[Address], blocks: &Span) -> Statement<ProxyRow> {
    let order = "address, block_number";
    among(addresses).blocks("block_number", blocks).page("proxy_implementations", order, MAX_ROWS)
}

fn among(addresses: &[Address]) -> Select {
    Select::default().condition(AMONG, Test::among("address", addresses)).with("addresses", addresses)
}

/// `Upgraded(address)`, which a beacon emits at its creation and at each change.
const UPGRADED: B256 = b256!("bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b");
/// Most events of beacons in a result; the newest are kept.
const MAX_UPGRADES: u64 = 10_000;

/// Changes of the implementations of `beacons` in `blocks`, the newest first.
#[must_use]
pub fn beacon_upgrades(beacons: &[Address], blocks: &Span) -> Statement<BeaconUpgrade> {
    among(beacons)
        .condition("topic0 = toFixedString(unhex({upgraded:String}), 32)", Test::among("topic0", &[UPGRADED]))
        .condition("topics_count = 2", Test::equals("topics_count", 2))
        .with("upgraded", &UPGRADED)
        .blocks("block_number", blocks)
        .page("logs", "address, block_number DESC, log_index DESC", MAX_UPGRADES)
}

/// Metadata of tokens among `addresses`, by address, the oldest record first.
#[must_use]
pub fn tokens(addresses: &[Address]) -> Statement<TokenRow> {
    among(addresses).page("tokens", "address, block_number", MAX_ROWS)
}

/// Statistics of tokens among `addresses`, by address, the oldest record first.
#[must_use]
pub fn statistics(addresses: &[Address]) -> Statement<TokenStatisticsRow> {
    const AMONG: &str = "token_address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))";
    let order = "token_address, token_type, block_number";
    let select = Select::default().condition(AMONG, Test::among("token_address", addresses));
    select.with("addresses", addresses).page("token_statistics", order, MAX_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_event() {
        assert_eq!(UPGRADED, alloy_primitives::keccak256("Upgraded(address)"));
    }
}
