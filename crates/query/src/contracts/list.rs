//! Plans for the list of contracts that an ABI was loaded for.

use trawl_core::primitives::Address;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A contract with an ABI.
    pub struct VerifiedContract / VerifiedContractView {
        /// Address of the contract.
        address: Address,
    }
}

columns! {
    /// How many contracts have an ABI.
    pub struct VerifiedCount / VerifiedCountView {
        /// Contracts whose ABI was not taken back.
        contracts: u64,
    }
}

/// How many contracts have an ABI that was not taken back.
#[must_use]
pub fn count() -> Statement<VerifiedCount> {
    Statement::page(include_str!("../../../../sql/queries/verified_contracts_count.sql"))
}

/// The contracts that an ABI was loaded for, in the order of their addresses, beyond one; of `beginning` those alone
/// that have a name of which a word, and what follows it, begins like this, in lower case. ABIs that were taken back
/// and names that were replaced count too.
///
/// Entries of a contract are next to each other, so that the read ends with the page.
#[must_use]
pub fn list(beginning: Option<&str>, beyond: Option<&Address>, limit: u64) -> Statement<VerifiedContract> {
    let mut conditions = vec!["generation GLOBAL IN (SELECT generation FROM label_loads)"];
    conditions.extend(beyond.map(|_| "address > toFixedString(unhex({beyond:String}), 20)"));
    conditions.extend(beginning.map(
        |_| "address GLOBAL IN (SELECT address FROM search_terms WHERE startsWith(term, unhex({beginning:String})))",
    ));
    let sql = format!(
        "SELECT address\nFROM contract_abis\nWHERE {}\nORDER BY address\nLIMIT 1 BY address\nLIMIT {{limit:UInt64}}",
        conditions.join("\n  AND ")
    );
    let mut statement = Statement::page(sql).with("limit", limit);
    if let Some(beginning) = beginning {
        // Text of clients travels as hexadecimal digits: a parameter would be read with escapes.
        statement = statement.with("beginning", const_hex::encode(beginning).as_str());
    }
    match beyond {
        Some(address) => statement.with("beyond", address),
        None => statement,
    }
}
