//! Plans for the list of all tokens, by how many hold them.
//!
//! No order of a table can follow counts that change with every block, so the narrow rows of `token_statistics` are
//! read whole and only the requested number is held, in constant memory. The caller caches the result until counts
//! change.

use crate::walk::SortOrder;
use trawl_core::primitives::Address;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// A token in the list.
    pub struct RankedToken / RankedTokenView {
        /// The token contract.
        address: Address,
        /// The kind of its newest counted transfers; of a contract without any, the kind that it reports itself.
        token_type: String,
        /// Number of holders; none if transfers do not determine it, or were not counted.
        holders_count: Option<u64>,
    }
}

/// A position in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankPosition {
    /// Number of holders of the token, if known.
    pub holders: Option<u64>,
    /// The token contract, by which equal numbers of holders are sorted.
    pub token: Address,
}

/// Filter of tokens; an absent field matches any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenFilter {
    /// Standards; all if empty.
    pub types: Vec<&'static str>,
    /// Tokens with names or symbols of which a word, and what follows it, begins like this, in lower case. Replaced
    /// names are found too.
    pub beginning: Option<String>,
    /// Only the token of this contract.
    pub token: Option<Address>,
}

/// Settings of a read of all tokens: groups are made in the order of the key, in constant memory.
const SETTINGS: &[(&str, &str)] = &[("max_threads", "1"), ("optimize_aggregation_in_order", "1")];

/// The newest kind of a contract's transfers, among the requested kinds, and its number of holders; `argMax` alone
/// would skip NULL. Two kinds of logs may report one movement, in one block.
const NEWEST: &str = "argMax(token_type, tuple(block_number, token_type)) AS standard, tupleElement(argMax(tuple(holders_count), tuple(block_number, token_type)), 1) AS holders";

impl TokenFilter {
    /// The conditions on the column of the contract.
    fn contracts(&self, column: &str) -> String {
        let named = format!(
            "\n      AND {column} GLOBAL IN (SELECT address FROM search_terms WHERE startsWith(term, unhex({{beginning:String}})))"
        );
        let named = self.beginning.as_ref().map_or("", |_| &named);
        let token = format!("\n      AND {column} = toFixedString(unhex({{token:String}}), 20)");
        format!("{named}{}", self.token.map_or("", |_| &token))
    }

    /// The condition on a column of standards: a contract may have several.
    fn types(&self, column: &str) -> String {
        if self.types.is_empty() { String::new() } else { format!("\n      AND {column} IN {{types:Array(String)}}") }
    }

    fn bind(&self, mut statement: Statement<RankedToken>) -> Statement<RankedToken> {
        statement.settings = SETTINGS;
        statement.workload = Workload::Scan;
        if let Some(beginning) = &self.beginning {
            // Text of clients travels as hexadecimal digits: a parameter would be read with escapes.
            statement = statement.with("beginning", const_hex::encode(beginning).as_str());
        }
        if let Some(token) = &self.token {
            statement = statement.with("token", token);
        }
        if !self.types.is_empty() {
            statement =
                statement.with("types", self.types.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>());
        }
        statement
    }
}

/// The tokens whose holders are counted, by their number, beyond a position: count and contract.
#[must_use]
pub fn counted(
    filter: &TokenFilter,
    order: SortOrder,
    beyond: Option<(u64, Address)>,
    limit: u64,
) -> Statement<RankedToken> {
    let (word, operator) = (order.word(), order.operator());
    let after = beyond.map_or_else(String::new, |_| {
        format!(
            "\n  AND (holders {operator} {{beyond_holders:UInt64}}
    OR holders = {{beyond_holders:UInt64}} AND token_address > toFixedString(unhex({{beyond_token:String}}), 20))"
        )
    });
    let sql = format!(
        "SELECT token_address AS address, standard AS token_type, holders AS holders_count
FROM
(
    SELECT token_address, {NEWEST}
    FROM token_statistics FINAL
    WHERE 1{}{}
    GROUP BY token_address
)
WHERE holders IS NOT NULL{after}
ORDER BY holders{word}, token_address
LIMIT {{limit:UInt64}}",
        filter.contracts("token_address"),
        filter.types("token_type")
    );
    let statement = filter.bind(Statement::page(sql).with("limit", limit));
    match beyond {
        Some((holders, token)) => statement.with("beyond_holders", holders).with("beyond_token", &token),
        None => statement,
    }
}

/// The tokens whose holders are not known, in the order of their contracts, beyond one.
#[must_use]
pub fn uncounted(filter: &TokenFilter, beyond: Option<Address>, limit: u64) -> Statement<RankedToken> {
    let after = |column: &str| {
        beyond.map_or_else(String::new, |_| {
            format!("\n      AND {column} > toFixedString(unhex({{beyond_token:String}}), 20)")
        })
    };
    let sql = format!(
        "SELECT token AS address, standard AS token_type, holders AS holders_count
FROM
(
    SELECT token_address AS token, {NEWEST}
    FROM token_statistics FINAL
    WHERE 1{}{}{}
    GROUP BY token_address
    HAVING holders IS NULL
    UNION ALL
    SELECT address AS token, argMax(token_type, block_number) AS standard, CAST(NULL AS Nullable(UInt64)) AS holders
    FROM tokens
    WHERE address GLOBAL NOT IN (SELECT token_address FROM token_statistics){}{}
    GROUP BY address
    HAVING 1{}
)
ORDER BY token
LIMIT {{limit:UInt64}}",
        filter.contracts("token_address"),
        after("token_address"),
        filter.types("token_type"),
        filter.contracts("address"),
        after("address"),
        filter.types("standard")
    );
    let statement = filter.bind(Statement::page(sql).with("limit", limit));
    match beyond {
        Some(token) => statement.with("beyond_token", &token),
        None => statement,
    }
}
