//! Plans for what is known of addresses, many at a time.

use super::select::Select;
use crate::primitives::{Address, Span};
use crate::schema::columns::columns;
use crate::schema::{ProxyRow, TokenRow};
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

/// The same and those their calls were ever forwarded to, so that their names need no second question.
const AMONG_AND_BEHIND: &str = "address IN (\
    SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)\n    \
    UNION ALL\n    \
    SELECT implementation FROM proxy_implementations \
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20))\n    \
    UNION ALL\n    \
    SELECT implementation FROM hot_proxy_implementations \
    WHERE address IN (SELECT toFixedString(unhex(arrayJoin({addresses:Array(String)})), 20)))";

/// What tokens among `addresses` and those they forward their calls to said of themselves, by address, each from the
/// oldest word to the newest.
#[must_use]
pub fn tokens(addresses: &[Address]) -> Statement<TokenRow> {
    Select::default().condition(AMONG_AND_BEHIND).with("addresses", addresses).page(
        "tokens",
        "address, block_number",
        MANY,
    )
}
