//! Fields that only some chains have: what they repeat fits, and what no hash covers is named.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use trawl_chains::{Constant, Family, FamilyTransactionType};

use super::check::Check;
use super::header::{copies, hashed_access_list, is_short};
use super::legacy::is_longer;
use super::membership::Membership;
use super::outcome::{Outcome, VerifyError, same};
use crate::block::{Block, Header, Transaction};

/// Checks what the JSON of a chain's own transaction types repeats, and names the fields that no hash covers.
pub(super) fn verify_own_fields(
    block: &Block,
    family: &Family,
    members: &[Membership],
    outcome: &mut Outcome,
) -> Result<(), VerifyError> {
    let of_header = block.header.extra_fields();
    let copies = copies(&block.header, family);
    verify_copies(block, &copies, &of_header)?;
    let is_copy = |name: &str| copies.iter().any(|(copy, _)| *copy == name);
    let access_list = hashed_access_list(&block.header);
    let is_covered = |name: &str| family.header.covers(&of_header, name) || access_list.has(name) || is_copy(name);
    let mut uncovered: BTreeSet<String> = of_header.keys().filter(|name| !is_covered(name)).cloned().collect();
    if is_short(&block.header, family) {
        uncovered.extend(unhashed(&block.header).map(str::to_owned));
    }
    for ((transaction, receipt), member) in block.outcomes().zip(members) {
        let extras = [transaction.extra.as_deref(), receipt.and_then(|receipt| receipt.extra.as_deref())];
        let extras: Vec<Map<String, Value>> = extras.into_iter().flatten().map(object).collect();
        let is_longer = matches!(member, Membership::InTries(encoded) if is_longer(transaction, encoded, family));
        let is_covered = |name: &str| is_copy(name) || (is_longer && family.legacy.covers(name));
        extras.iter().try_for_each(|given| verify_copies(block, &copies, given))?;
        uncovered.extend(extras.iter().flat_map(Map::keys).filter(|name| !is_covered(name)).cloned());
        match member {
            Membership::InTries(encoded) => {
                if let Some((kind, json)) = &encoded.own {
                    verify_constants(block, kind, json)?;
                    verify_repeated(block, transaction, json)?;
                    let raw = receipt.and_then(|receipt| receipt.raw.as_deref()).map(object).unwrap_or_default();
                    verify_receipt(block, transaction, json, &raw)?;
                    [json, &raw].into_iter().try_for_each(|given| verify_copies(block, &copies, given))?;
                    let own = kind.uncovered(json).chain(kind.uncovered_of_receipt(&raw));
                    uncovered.extend(own.filter(|name| !is_copy(name)));
                }
            }
            Membership::Outside(_) => {
                let name = family.unsigned.outside().unwrap_or("transaction");
                let reason = format!("a {name}, its receipt and its logs are in no root");
                outcome.not_checkable(Check::OutsideRoots, &reason);
            }
            Membership::Unknown(_) => {}
        }
    }
    if !uncovered.is_empty() {
        let names: Vec<String> = uncovered.into_iter().collect();
        outcome.not_checkable(Check::OwnFields, &format!("no hash covers {}", names.join(", ")));
    }
    Ok(())
}

/// What repeats fields of the header has their values.
fn verify_copies(
    block: &Block,
    copies: &[(&'static str, String)],
    given: &Map<String, Value>,
) -> Result<(), VerifyError> {
    copies.iter().try_for_each(|(name, expected)| repeats(block, given, name, expected.clone()))
}

/// What the source gives of a short header beside what is hashed.
fn unhashed(header: &Header) -> impl Iterator<Item = &'static str> {
    let has = |column: &str| !header.lacking.contains(&column);
    let given = [
        ("baseFeePerGas", header.base_fee_per_gas.is_some()),
        ("difficulty", has("difficulty")),
        ("gasLimit", has("gas_limit")),
    ];
    given.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name)
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap_or_default()
}

/// What is the same in all transactions of a type.
fn verify_constants(block: &Block, kind: &FamilyTransactionType, json: &Map<String, Value>) -> Result<(), VerifyError> {
    kind.constants.iter().try_for_each(|Constant { name, value }| {
        let found = json.get(*name).unwrap_or(&Value::Null);
        let found = found.as_str().map_or_else(|| found.to_string(), str::to_lowercase);
        same(block, Check::OwnFields, &format!("{name} {value}"), &format!("{name} {found}"))
    })
}

/// What a transaction says of its position.
fn verify_repeated(block: &Block, transaction: &Transaction, json: &Map<String, Value>) -> Result<(), VerifyError> {
    repeats(block, json, "blockHash", block.header.hash.to_string())?;
    repeats(block, json, "blockNumber", format!("{:#x}", block.header.number))?;
    repeats(block, json, "transactionIndex", format!("{:#x}", transaction.index))?;
    repeats(block, json, "type", format!("{:#x}", transaction.transaction_type.byte()))
}

/// What a receipt repeats of its transaction and block. `of`: the JSON of the transaction, `json` that of the receipt.
fn verify_receipt(
    block: &Block,
    transaction: &Transaction,
    of: &Map<String, Value>,
    json: &Map<String, Value>,
) -> Result<(), VerifyError> {
    verify_repeated(block, transaction, json)?;
    repeats(block, json, "from", format!("{:#x}", transaction.from))?;
    if let Some(to) = transaction.to.filter(|_| of.contains_key("to")) {
        repeats(block, json, "to", format!("{to:#x}"))?;
    }
    Ok(())
}

fn repeats(block: &Block, json: &Map<String, Value>, name: &str, expected: String) -> Result<(), VerifyError> {
    match json.get(name).filter(|value| !value.is_null()) {
        Some(found) => {
            let found = found.as_str().map_or_else(|| found.to_string(), str::to_lowercase);
            same(
                block,
                Check::RepeatedField,
                &format!("{name} {}", expected.to_lowercase()),
                &format!("{name} {found}"),
            )
        }
        None => Ok(()),
    }
}
