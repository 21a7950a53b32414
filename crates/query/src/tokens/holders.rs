//! Plans for who holds a token, or one id of it: its range of `token_balances` or of `token_id_holders`, whose newest
//! row of a holder counts.

use trawl_core::primitives::{Address, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// The balance of a holder, after the last counted transfer.
    pub struct Holder / HolderView {
        /// Account that holds the token.
        holder: Address,
        /// Height of the last change.
        since: u64,
        /// Smallest units, or tokens.
        held: U256,
    }
}

/// A position in the list of a token: amount and holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HolderPosition {
    /// Smallest units, or tokens of an ERC-721 contract.
    pub held: U256,
    /// The holder, by which equal amounts are sorted.
    pub holder: Address,
}

/// The asset whose holders are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asset<'a> {
    /// A token, as one of its standards has it.
    Token(&'a Address, &'a str),
    /// An id of an ERC-1155 token.
    Id(&'a Address, U256),
}

impl Asset<'_> {
    /// The rows of the asset. FINAL merges those of a holder as they are read in order.
    fn rows(&self) -> &'static str {
        match self {
            Self::Token(..) => {
                "SELECT holder, block_number AS since, balance AS held
FROM token_balances FINAL
WHERE token_address = toFixedString(unhex({token:String}), 20)
  AND token_type = {standard:String}"
            }
            Self::Id(..) => {
                "SELECT holder, block_number AS since, balance AS held
FROM token_id_holders FINAL
WHERE token_address = toFixedString(unhex({token:String}), 20)
  AND token_id = toUInt256({id:String})"
            }
        }
    }

    fn bind(&self, statement: Statement<Holder>) -> Statement<Holder> {
        match self {
            Self::Token(token, standard) => statement.with("token", *token).with("standard", *standard),
            Self::Id(token, id) => statement.with("token", *token).with("id", id.to_string().as_str()),
        }
    }
}

/// Its holders, the largest balance first, beyond a position. The range of the asset is read whole and only `limit`
/// rows are held: of a million holders in 0.2 s, in constant memory.
#[must_use]
pub fn largest(asset: &Asset<'_>, beyond: Option<&HolderPosition>, limit: u64) -> Statement<Holder> {
    let mut sql =
        format!("{}\n  AND balance > 0\n  AND holder != toFixedString(unhex(repeat('00', 20)), 20)", asset.rows());
    if beyond.is_some() {
        sql.push_str(
            "
  AND (balance < toUInt256({beyond_held:String})
    OR balance = toUInt256({beyond_held:String}) AND holder > toFixedString(unhex({beyond_holder:String}), 20))",
        );
    }
    sql.push_str("\nORDER BY balance DESC, holder\nLIMIT {limit:UInt64}");
    let statement = asset.bind(Statement::page(sql).on_behalf_of(Workload::Scan)).with("limit", limit);
    match beyond {
        Some(beyond) => {
            statement.with("beyond_held", beyond.held.to_string().as_str()).with("beyond_holder", &beyond.holder)
        }
        None => statement,
    }
}

/// The balances of some holders, if they ever had any of it.
#[must_use]
pub fn among(asset: &Asset<'_>, holders: &[Address]) -> Statement<Holder> {
    let sql = format!("{}\n  AND holder IN {{holders:Array(FixedString(20))}}", asset.rows());
    asset.bind(Statement::page(sql)).with("holders", holders)
}
