//! Plans for single ids of tokens: ranges of `token_id_balances`, whose newest row of a holder and an id counts.
//!
//! The older rows of a key lie beside the newest: they are read in the order of the key and left out one by one, so
//! that a page ends where it is full, in constant memory, however many ids there are.

use super::balances::HoldingPosition;
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement, Workload};

columns! {
    /// What a holder has of an id, after the last counted transfer; of the zero address how much there is of it.
    pub struct HeldId / HeldIdView {
        /// The token contract.
        token_address: Address,
        /// Kind of its transfers.
        token_type: String,
        /// Id of the token in its contract.
        token_id: U256,
        /// Height of the last change.
        since: u64,
        /// Units of the id.
        held: U256,
        /// Owner of an ERC-721 id, in the rows of the zero address.
        owner: Address,
    }
}

columns! {
    /// How many ids of a token a holder has.
    pub struct IdCount / IdCountView {
        /// The token contract.
        token_address: Address,
        /// Kind of its transfers.
        token_type: String,
        /// Ids of which it has something.
        ids: u64,
    }
}

/// An id of a token, in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdKey {
    /// The token contract.
    pub token: Address,
    /// Its standard, as the tables write it.
    pub standard: String,
    /// Id of the token in its contract.
    pub id: U256,
}

const COLUMNS: &str = "token_address, token_type, token_id, since, held, owner";
const ORDER: &str = "holder, token_address, token_type, token_id, since DESC";

/// The newest rows of the keys that satisfy the conditions, in the order of the ids or against it.
fn newest(conditions: &[&str], order: &str) -> String {
    format!(
        "SELECT token_address, token_type, token_id, block_number AS since, balance AS held, owner
  FROM token_id_balances
  WHERE holder = toFixedString(unhex({{holder:String}}), 20)
    AND {}
  ORDER BY {order}
  LIMIT 1 BY token_address, token_type, token_id",
        conditions.join("\n    AND ")
    )
}

/// The ids of a token of which `holder` has something, the highest first, below an id. Those of the zero address are
/// the ids that there are.
#[must_use]
pub fn of_token(
    token: &Address,
    standard: &str,
    holder: &Address,
    below: Option<U256>,
    limit: u64,
) -> Statement<HeldId> {
    let mut conditions =
        vec!["token_address = toFixedString(unhex({token:String}), 20)", "token_type = {standard:String}"];
    if below.is_some() {
        conditions.push("token_id < toUInt256({below:String})");
    }
    let order = "holder DESC, token_address DESC, token_type DESC, token_id DESC, since DESC";
    let sql = format!(
        "SELECT {COLUMNS}\nFROM (\n  {}\n)\nWHERE held > 0\nLIMIT {{limit:UInt64}}",
        newest(&conditions, order)
    );
    let statement = Statement::page(sql).with("holder", holder).with("token", token).with("standard", standard);
    let statement = statement.with("limit", limit);
    match below {
        Some(below) => statement.with("below", below.to_string().as_str()),
        None => statement,
    }
}

/// What of the ids of tokens `holder` has, of these standards, in the order of the tokens and ids, beyond a position.
#[must_use]
pub fn of_holder(holder: &Address, types: &[&'static str], beyond: Option<&IdKey>, limit: u64) -> Statement<HeldId> {
    let mut conditions = vec![OF_TYPES];
    if beyond.is_some() {
        conditions.push("token_address >= toFixedString(unhex({beyond_token:String}), 20)");
        conditions.push(
            "(token_address, token_type, token_id) > (toFixedString(unhex({beyond_token:String}), 20), {beyond_type:String}, toUInt256({beyond_id:String}))",
        );
    }
    let sql = format!(
        "SELECT {COLUMNS}\nFROM (\n  {}\n)\nWHERE held > 0\nLIMIT {{limit:UInt64}}",
        newest(&conditions, ORDER)
    );
    let statement = Statement::page(sql).with("holder", holder).with("types", names(types)).with("limit", limit);
    match beyond {
        Some(beyond) => statement
            .with("beyond_token", &beyond.token)
            .with("beyond_type", beyond.standard.as_str())
            .with("beyond_id", beyond.id.to_string().as_str()),
        None => statement,
    }
}

/// The first `each` ids that `holder` has of each token of these standards, in the order of the tokens, beyond
/// a token; at most `limit` rows.
#[must_use]
pub fn first_of_each(
    holder: &Address,
    types: &[&'static str],
    beyond: Option<&HoldingPosition>,
    each: u64,
    limit: u64,
) -> Statement<HeldId> {
    let mut conditions = vec![OF_TYPES];
    if beyond.is_some() {
        conditions.push("token_address >= toFixedString(unhex({beyond_token:String}), 20)");
        conditions.push(
            "(token_address, token_type) > (toFixedString(unhex({beyond_token:String}), 20), {beyond_type:String})",
        );
    }
    let sql = format!(
        "SELECT {COLUMNS}\nFROM (\n  {}\n)\nWHERE held > 0\nLIMIT {{each:UInt64}} BY token_address, token_type\nLIMIT {{limit:UInt64}}",
        newest(&conditions, ORDER)
    );
    let statement = Statement::page(sql).with("holder", holder).with("types", names(types));
    let statement = statement.with("each", each).with("limit", limit);
    match beyond {
        Some(beyond) => statement.with("beyond_token", &beyond.token).with("beyond_type", beyond.standard),
        None => statement,
    }
}

/// How many ids of each of some tokens `holder` has, without the ids of `except`. Its ranges of the tokens are read
/// whole.
#[must_use]
pub fn counts(holder: &Address, tokens: &[Address], except: &[IdKey]) -> Statement<IdCount> {
    let conditions = [
        "token_address IN {tokens:Array(FixedString(20))}",
        "concat(lower(hex(token_address)), token_type, toString(token_id)) NOT IN {except:Array(String)}",
    ];
    let sql = format!(
        "SELECT token_address, token_type, count() AS ids\nFROM (\n  {}\n)\nWHERE held > 0\nGROUP BY token_address, token_type",
        newest(&conditions, ORDER)
    );
    let name = |key: &IdKey| format!("{:x}{}{}", key.token, key.standard, key.id);
    Statement::page(sql)
        .on_behalf_of(Workload::Scan)
        .with("holder", holder)
        .with("tokens", tokens)
        .with("except", Parameter::Texts(except.iter().map(name).collect()))
}

/// The rows of `holder` of some ids, those that it ever had: each of the ids of each of the tokens.
#[must_use]
pub fn among(holder: &Address, tokens: &[Address], ids: &[U256]) -> Statement<HeldId> {
    let conditions = ["token_address IN {tokens:Array(FixedString(20))}", "token_id IN {ids:Array(UInt256)}"];
    Statement::page(newest(&conditions, ORDER))
        .with("holder", holder)
        .with("tokens", tokens)
        .with("ids", Parameter::Amounts(ids.to_vec()))
}

const OF_TYPES: &str = "token_type IN {types:Array(String)}";

fn names(types: &[&'static str]) -> Parameter {
    Parameter::Texts(types.iter().map(|name| (*name).to_owned()).collect())
}
