//! Plans for what an address holds, as transfers tell it: ranges of `token_balances_by_holder`, whose newest row of a key
//! counts.

use trawl_core::primitives::{Address, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A token that an address holds.
    pub struct Holding / HoldingView {
        /// The token contract.
        token_address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Height of the last change.
        block_number: u64,
        /// Smallest units, tokens of an ERC-721 contract, units over all ids of an ERC-1155 contract.
        balance: U256,
    }
}

/// A place in the list of an address: token and standard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldingPosition {
    /// The token contract.
    pub token: Address,
    /// Its standard, as the tables write it.
    pub standard: &'static str,
}

/// What `holder` holds of tokens of these standards (all if empty), in the order of the tokens, after a place. Tokens whose
/// transfers do not tell balances are left out.
///
/// The newest row of each key is found by FINAL, which merges the rows of the range as they are read in order.
#[must_use]
pub fn of_holder(
    holder: &Address,
    standards: &[&'static str],
    after: Option<&HoldingPosition>,
    limit: u64,
) -> Statement<Holding> {
    let mut conditions = String::new();
    if after.is_some() {
        conditions.push_str("\n  AND token_address >= toFixedString(unhex({after_token:String}), 20)");
    }
    let range = format!("holder = toFixedString(unhex({{holder:String}}), 20){conditions}");
    let mut sql = format!(
        "SELECT token_address, token_type, block_number, balance
FROM token_balances_by_holder FINAL
WHERE {range}
  AND balance > 0
  AND (token_address, token_type) NOT IN (
    SELECT token_address, token_type
    FROM token_statistics FINAL
    WHERE token_address IN (SELECT token_address FROM token_balances_by_holder WHERE {range})
      AND holders_count IS NULL
  )"
    );
    if after.is_some() {
        sql.push_str(
            "\n  AND (token_address, token_type) > (toFixedString(unhex({after_token:String}), 20), {after_type:String})",
        );
    }
    if !standards.is_empty() {
        sql.push_str("\n  AND token_type IN {types:Array(String)}");
    }
    sql.push_str("\nORDER BY token_address, token_type\nLIMIT {limit:UInt64}");
    let mut statement = Statement::page(sql).with("holder", holder).with("limit", limit);
    if let Some(after) = after {
        statement = statement.with("after_token", &after.token).with("after_type", after.standard);
    }
    if !standards.is_empty() {
        let types: Vec<String> = standards.iter().map(|name| (*name).to_owned()).collect();
        statement = statement.with("types", types);
    }
    statement
}
