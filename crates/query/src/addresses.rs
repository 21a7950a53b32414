//! Plans for what is known of addresses, many at a time.

use alloy_primitives::b256;

use super::select::Select;
use trawl_core::primitives::{Address, B256, Span};
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
    /// A beacon says whom those that look at it forward their calls to.
    pub struct BeaconUpgrade / BeaconUpgradeView {
        /// The beacon.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// The implementation, in the last 20 bytes.
        topic1: B256,
    }
}

/// Rows in an answer, at most: far more than a page has addresses.
const MANY: u64 = 100_000;

/// Spelt as a sub-query because `IN arrayMap(…)` means the same and uses no key.
const AMONG: &str = "address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))";

/// Which of `addresses` are contracts that were created in `blocks`; one that was created again comes again.
#[must_use]
pub fn contracts(addresses: &[Address], blocks: &Span) -> Statement<KnownContract> {
    Select::default().condition(AMONG).with("addresses", addresses).blocks("block_number", blocks).page(
        "contracts",
        "address",
        MANY,
    )
}

/// Where proxies among `addresses` point to, by address, each from the oldest word to the newest.
#[must_use]
pub fn proxies(addresses: &[Address], blocks: &Span) -> Statement<ProxyRow> {
    Select::default().condition(AMONG).with("addresses", addresses).blocks("block_number", blocks).page(
        "proxy_implementations",
        "address, block_number",
        MANY,
    )
}

/// `Upgraded(address)`, which a beacon emits as often as it changes, from its creation on.
const UPGRADED: B256 = b256!("bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b");
/// Words of beacons in an answer, at most; the newest.
const UPGRADES: u64 = 10_000;

/// What `beacons` said in `blocks` of whom those that look at them forward their calls to, the newest word first.
#[must_use]
pub fn beacon_upgrades(beacons: &[Address], blocks: &Span) -> Statement<BeaconUpgrade> {
    Select::default()
        .condition(AMONG)
        .condition("topic0 = toFixedString(unhex({upgraded:String}), 32)")
        .condition("topics_count = 2")
        .with("addresses", beacons)
        .with("upgraded", &UPGRADED)
        .blocks("block_number", blocks)
        .page("logs", "address, block_number DESC, log_index DESC", UPGRADES)
}

/// Contracts that were created in the hot part of `blocks`, and proxies that changed there: all of them, as these blocks
/// are few. As many rows as [`NEWEST`] may not be all.
#[must_use]
pub fn newest_contracts(blocks: &Span) -> Statement<KnownContract> {
    Select::default().blocks("block_number", &newest(blocks)).page("contracts", "address", NEWEST)
}

/// The same of where proxies point to, by address, each from the oldest word to the newest.
#[must_use]
pub fn newest_proxies(blocks: &Span) -> Statement<ProxyRow> {
    let order = "address, block_number";
    Select::default().blocks("block_number", &newest(blocks)).page("proxy_implementations", order, NEWEST)
}

/// Rows of hot blocks in an answer, at most.
pub const NEWEST: u64 = 20_000;

fn newest(blocks: &Span) -> Span {
    Span { settled: Vec::new(), hot: blocks.hot.clone() }
}

/// What tokens among `addresses` said of themselves, by address, each from the oldest word to the newest.
#[must_use]
pub fn tokens(addresses: &[Address]) -> Statement<TokenRow> {
    Select::default().condition(AMONG).with("addresses", addresses).page("tokens", "address, block_number", MANY)
}

/// What the transfers of tokens among `addresses` tell of them, by address, each from the oldest word to the newest.
#[must_use]
pub fn statistics(addresses: &[Address]) -> Statement<TokenStatisticsRow> {
    const AMONG: &str = "token_address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))";
    let order = "token_address, token_type, block_number";
    Select::default().condition(AMONG).with("addresses", addresses).page("token_statistics", order, MANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_event() {
        assert_eq!(UPGRADED, alloy_primitives::keccak256("Upgraded(address)"));
    }
}
