//! Plans for the tokens that an address holds.

use crate::select::Select;
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{SUM_SETTINGS, Statement};

columns! {
    /// What an address has of a token, after the last counted transfer between them.
    pub struct HeldToken / HeldTokenView {
        /// The token contract.
        token_address: Address,
        /// Kind of its transfers.
        token_type: String,
        /// Height of the last change.
        since: u64,
        /// Smallest units, or tokens.
        held: U256,
    }
}

/// A position in the list of an address: token and standard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldingPosition {
    /// The token contract.
    pub token: Address,
    /// Its standard, as the tables write it.
    pub standard: &'static str,
}

/// What `holder` has of each token of these standards (all if empty), in the order of the tokens, beyond a position. A
/// token of which it has nothing is left out unless `with_zero` names it.
///
/// Rows of a token are next to each other, and grouped as they are read in order.
#[must_use]
pub fn of_holder(
    holder: &Address,
    types: &[&'static str],
    beyond: Option<&HoldingPosition>,
    with_zero: &[Address],
    limit: u64,
) -> Statement<HeldToken> {
    let mut conditions = vec!["holder = toFixedString(unhex({holder:String}), 20)".to_owned()];
    let mut select = Select::default().with("holder", holder);
    if let Some(beyond) = beyond {
        conditions.push("token_address >= toFixedString(unhex({beyond_token:String}), 20)".into());
        conditions.push(
            "(token_address, token_type) > (toFixedString(unhex({beyond_token:String}), 20), {beyond_type:String})"
                .into(),
        );
        select = select.with("beyond_token", &beyond.token).with("beyond_type", beyond.standard);
    }
    if !types.is_empty() {
        conditions.push("token_type IN {types:Array(String)}".into());
        select = select.with("types", types.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>());
    }
    let sql = format!(
        "SELECT token_address, token_type, max(block_number) AS since, argMax(balance, block_number) AS held
FROM token_balances_by_holder
WHERE {}
GROUP BY holder, token_address, token_type
HAVING held > 0 OR has({{with_zero:Array(FixedString(20))}}, token_address)
ORDER BY holder, token_address, token_type
LIMIT {{limit:UInt64}}",
        conditions.join("\n  AND ")
    );
    let mut statement: Statement<HeldToken> = select.with("with_zero", with_zero).with("limit", limit).statement(sql);
    statement.settings = SUM_SETTINGS;
    statement
}
