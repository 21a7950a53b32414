//! Plans for facts about many addresses at a time: contracts, proxies, tokens.

pub mod coin_balances;
pub mod counters;
pub mod mined_blocks;
pub mod page;
pub mod ranking;

use alloy_primitives::b256;

use super::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, U256};
use trawl_core::readable::Span;
use trawl_core::schema::Columns as _;
use trawl_core::schema::ProxyRow;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A creation of a contract.
    pub struct KnownContract / KnownContractView {
        /// Address of the created contract.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Position of the transaction in the block.
        transaction_index: u32,
        /// `create`, `create2`, `transaction` or `genesis`.
        creation_type: String,
        /// Bytes of the code that it left; none where the source had no traces.
        code_size: Option<u32>,
    }
}

columns! {
    /// A block that changed the code of an account.
    pub struct CodeChange / CodeChangeView {
        /// Contract, or account that delegates (EIP-7702).
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of its code after the block.
        code_hash: B256,
    }
}

columns! {
    /// A change of a beacon, which stores the implementation of its proxies.
    pub struct BeaconUpgrade / BeaconUpgradeView {
        /// Address of the beacon, which emitted the event.
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
pub const MAX_ROWS: u64 = 100_000;

const AMONG: &str = "address IN {addresses:Array(FixedString(20))}";

/// The creations of `addresses` in `blocks`, of each the oldest first.
#[must_use]
pub fn contracts(addresses: &[Address], blocks: &Span) -> Statement<KnownContract> {
    let order = "address, block_number, transaction_index";
    among(addresses).blocks("block_number", blocks).page("contracts", order, MAX_ROWS)
}

/// The changes of the code of `addresses` in `blocks`, of each the oldest first; no more than [`MAX_ROWS`].
#[must_use]
pub fn code_changes(addresses: &[Address], blocks: &Span) -> Statement<CodeChange> {
    among(addresses).blocks("block_number", blocks).page("code_history", "address, block_number", MAX_ROWS)
}

/// Implementations of proxies among `addresses`, by address, the oldest record first.
#[must_use]
pub fn proxies(addresses: &[Address], blocks: &Span) -> Statement<ProxyRow> {
    let order = "address, block_number";
    among(addresses).blocks("block_number", blocks).page("proxy_implementations", order, MAX_ROWS)
}

fn among(addresses: &[Address]) -> Select {
    Select::default().condition(AMONG, Predicate::among("address", addresses)).with("addresses", addresses)
}

/// `Upgraded(address)`, which a beacon emits at its creation and at each change.
const UPGRADED: B256 = b256!("bc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b");
/// Most events of beacons in a result: the newest.
const MAX_UPGRADES: u64 = 10_000;

/// Changes of the implementations of `beacons` in `blocks`, the newest first.
#[must_use]
pub fn beacon_upgrades(beacons: &[Address], blocks: &Span) -> Statement<BeaconUpgrade> {
    among(beacons)
        .condition("topic0 = toFixedString(unhex({upgraded:String}), 32)", Predicate::among("topic0", &[UPGRADED]))
        .condition("topics_count = 2", Predicate::equals("topics_count", 2))
        .with("upgraded", &UPGRADED)
        .blocks("block_number", blocks)
        .page("logs", "address, block_number DESC, log_index DESC", MAX_UPGRADES)
}

columns! {
    /// A fact about an address. Which columns are set depends on `fact`; the others are empty.
    pub struct AddressFact / AddressFactView {
        /// Address that the fact is about.
        address: Address,
        /// `contract`: it was created as one; `proxy`; `token`: what it reports itself; `counted`: what its transfers
        /// show.
        fact: String,
        /// Height of the block.
        block_number: u64,
        /// Of a contract: position of the transaction that created it.
        transaction_index: u32,
        /// How a contract was created; of a proxy its kind, of a token or what was counted the standard.
        kind: String,
        /// Of a proxy: its implementation.
        implementation: Address,
        /// Of a token.
        name: Option<String>,
        /// Of a token.
        symbol: Option<String>,
        /// Of a contract.
        code_size: Option<u32>,
        /// Of a token.
        decimals: Option<u8>,
        /// Of a token, or what was counted.
        total_supply: Option<U256>,
        /// What was counted.
        holders_count: Option<u64>,
    }
}

/// The addresses of the requested facts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedFacts {
    /// Addresses to look up as contracts and as proxies.
    pub code: Vec<Address>,
    /// Addresses to look up as tokens.
    pub tokens: Vec<Address>,
    /// Tokens whose holders and supply are looked up.
    pub counted: Vec<Address>,
}

/// Expressions over a table for some columns of [`AddressFact`]; the others are empty there.
type Expressions = &'static [(&'static str, &'static str)];

const OF_CONTRACT: Expressions = &[
    ("fact", "'contract'"),
    ("block_number", "block_number"),
    ("transaction_index", "transaction_index"),
    ("kind", "creation_type"),
    ("code_size", "code_size"),
];
const OF_PROXY: Expressions =
    &[("fact", "'proxy'"), ("block_number", "block_number"), ("kind", "kind"), ("implementation", "implementation")];
const OF_TOKEN: Expressions = &[
    ("fact", "'token'"),
    ("block_number", "block_number"),
    ("kind", "token_type"),
    ("name", "name"),
    ("symbol", "symbol"),
    ("decimals", "decimals"),
    ("total_supply", "total_supply"),
];
const OF_STATISTICS: Expressions = &[
    ("address", "token_address"),
    ("fact", "'counted'"),
    ("block_number", "block_number"),
    ("kind", "token_type"),
    ("total_supply", "total_supply"),
    ("holders_count", "holders_count"),
];

/// A SELECT list of the same names and types over each table.
fn columns_of(expressions: Expressions) -> String {
    let expression = |(name, type_name): (&'static str, String)| {
        let of_table = expressions.iter().find(|(column, _)| *column == name).map(|(_, expression)| *expression);
        match of_table.unwrap_or(nothing(name, &type_name)) {
            own if own == name => name.to_owned(),
            text if type_name == "String" && text.starts_with('\'') => format!("{text} AS {name}"),
            other => format!("CAST({other}, '{type_name}') AS {name}"),
        }
    };
    AddressFact::clickhouse_types().into_iter().map(expression).collect::<Vec<_>>().join(", ")
}

/// The value of a column that a table does not have.
fn nothing(name: &'static str, type_name: &str) -> &'static str {
    match type_name {
        _ if name == "address" => "address",
        nullable if nullable.starts_with("Nullable") => "NULL",
        number if number.starts_with("UInt") => "0",
        _ => "''",
    }
}

/// All that is requested, in one statement: of code in `blocks`, which are settled. `None` if nothing is requested.
/// Rows come in no order.
#[must_use]
pub fn facts(requested: &RequestedFacts, blocks: &Span) -> Option<Statement<AddressFact>> {
    let mut parts: Vec<Statement<AddressFact>> = Vec::new();
    if !requested.code.is_empty() && !blocks.is_empty() {
        let code = || select_facts("address", "code", &requested.code).blocks("block_number", blocks);
        parts.push(code().page_of(&columns_of(OF_CONTRACT), "contracts", "address", MAX_ROWS));
        parts.push(code().page_of(&columns_of(OF_PROXY), "proxy_implementations", "address, block_number", MAX_ROWS));
    }
    if !requested.tokens.is_empty() {
        let tokens = select_facts("address", "tokens", &requested.tokens);
        parts.push(tokens.page_of(&columns_of(OF_TOKEN), "tokens", "address, block_number", MAX_ROWS));
    }
    if !requested.counted.is_empty() {
        let counted = select_facts("token_address", "counted", &requested.counted);
        let order = "token_address, token_type, block_number";
        parts.push(counted.page_of(&columns_of(OF_STATISTICS), "token_statistics", order, MAX_ROWS));
    }
    let sql: Vec<String> = parts.iter().map(|part| part.sql.to_string()).collect();
    let mut values: Vec<_> = parts.into_iter().flat_map(|part| part.parameters).collect();
    values.sort_by(|one, other| one.0.cmp(&other.0));
    values.dedup_by(|one, other| one.0 == other.0);
    let statement = Statement::page(sql.join("\nUNION ALL\n"));
    (!sql.is_empty())
        .then(|| values.into_iter().fold(statement, |statement, (name, value)| statement.with(name, value)))
}

fn select_facts(column: &str, name: &'static str, addresses: &[Address]) -> Select {
    let among = format!("{column} IN {{{name}:Array(FixedString(20))}}");
    let addresses_of = Predicate::among("address", addresses);
    Select::default().condition(among, addresses_of).with(name, addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_the_event() {
        assert_eq!(UPGRADED, alloy_primitives::keccak256("Upgraded(address)"));
    }
}
