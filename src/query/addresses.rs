//! Plans for what is known of addresses, many at a time.

use super::select::Select;
use crate::primitives::{Address, Span};
use crate::schema::columns::columns;
use crate::schema::{ProxyRow, TokenRow, TokenStatisticsRow};
use crate::statement::Statement;

columns! {
    /// An address with code.
    pub struct KnownContract / KnownContractView {
        /// The contract.
        address: Address,
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
