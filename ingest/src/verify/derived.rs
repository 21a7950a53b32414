//! What follows from transaction and header for the fields of a receipt that no root covers.

mod blob_prices;

use trawl_chains::{Evidence, Family, FamilyTransactionType, HeaderRule, PriceRule};
use trawl_core::primitives::{TransactionType, U256};

use self::blob_prices::{blob_gas_prices, scheduled_price};
use super::check::Check;
use super::header::block_hash;
use super::membership::Membership;
use super::outcome::{Outcome, VerifyError, refuse};
use super::receipts::GAS_PER_BLOB;
use super::tolerance::{Tolerance, other_currencies, unknown_fields, unknown_fork};
use crate::block::{Block, Header, Receipt, Transaction};

/// Checks what a receipt holds beyond the root: price, created contract, blob gas. All follow from transaction and
/// header.
///
/// What is outside of the tries follows from nothing.
pub(super) fn verify_derived(
    block: &Block,
    family: &Family,
    members: &[Membership],
    outcome: &mut Outcome,
) -> Result<(), VerifyError> {
    let inside = || members.iter().map(|member| !matches!(member, Membership::Outside(_)));
    let pairs = || {
        let all = block.outcomes().zip(inside()).filter(|(_, is_inside)| *is_inside);
        all.filter_map(|((transaction, receipt), _)| Some((transaction, receipt?)))
    };
    let price = price_check(block, family);
    let mut derived: Vec<(Check, DerivedFieldCheck)> =
        vec![(Check::EffectiveGasPrice, price), (Check::BlobGas, blob_gas), (Check::BlobGasPrice, blob_gas_price)];
    match family.quirks.contract_address {
        Some(reason) => outcome.not_checkable(Check::ContractAddress, reason),
        None => derived.insert(1, (Check::ContractAddress, contract_address)),
    }
    if family.quirks.repeated_price.is_none() {
        let takes_tips = family.price == PriceRule::Signed;
        derived.insert(0, (Check::EffectiveGasPrice, if takes_tips { repeated_price } else { signed_offer }));
    }
    for (check, fits) in derived {
        let mut impossible = None;
        for (transaction, receipt) in pairs() {
            match fits(block, transaction, receipt, family) {
                Ok(()) => {}
                Err(Misfit::Unknown(reason)) => impossible = Some(reason),
                Err(Misfit::Differs { .. }) if is_partial(block, transaction) => {
                    impossible = Some("the source lacks fields from which it follows".into());
                }
                // A chain with rules of its own may well count otherwise.
                Err(Misfit::Differs { expected, found }) => match unknown_rules(check, block, transaction, family) {
                    Some(reason) => impossible = Some(reason),
                    None => return refuse(block, check, expected, found),
                },
            }
        }
        match impossible {
            Some(reason) => outcome.not_checkable(check, &reason),
            None => outcome.passed(check),
        }
    }
    Ok(())
}

/// What the price of a receipt follows from in a block.
fn price_check(block: &Block, family: &Family) -> DerivedFieldCheck {
    match family.price {
        PriceRule::Signed => signed_price,
        PriceRule::BaseFee if family.pays_base_fee(block.header.mix_hash) => base_fee,
        PriceRule::BaseFee => base_fee_or_signed_price,
    }
}

/// Why a receipt may have something else: fields of the header whose meaning is not known, a type of the family that
/// was never tested on a real block, or for its price a token.
fn unknown_rules(check: Check, block: &Block, transaction: &Transaction, family: &Family) -> Tolerance {
    let untried = || {
        let kind = family.transaction_type(transaction.transaction_type.byte());
        let kind = kind.filter(|kind| kind.receipt_evidence == Evidence::Code)?;
        Some(format!("receipts of type {} ({}) were never tested on a real block", kind.byte, kind.name))
    };
    let currencies = || other_currencies(block, family).filter(|_| check == Check::EffectiveGasPrice);
    // What fields that no hash covers may mean concerns what is paid, and nothing else.
    let fields = || unknown_fields(block, family).filter(|_| check == Check::EffectiveGasPrice);
    unknown_fork(block, family).or_else(fields).or_else(untried).or_else(currencies)
}

/// Whether placeholders may stand where the derived values come from.
fn is_partial(block: &Block, transaction: &Transaction) -> bool {
    transaction.lacks_sources_of_others() || block.header.lacking.contains(&"base_fee_per_gas")
}

type DerivedFieldCheck = fn(&Block, &Transaction, &Receipt, &Family) -> Result<(), Misfit>;

/// The family's own type of a transaction.
type OwnType = Option<&'static FamilyTransactionType>;

/// The family's own type of a transaction.
fn own_type(transaction: &Transaction, family: &Family) -> OwnType {
    family.transaction_type(transaction.transaction_type.byte())
}

enum Misfit {
    Unknown(String),
    Differs { expected: String, found: String },
}

fn fits<T: PartialEq + std::fmt::Debug>(expected: T, found: T) -> Result<(), Misfit> {
    if expected == found {
        return Ok(());
    }
    Err(Misfit::Differs { expected: format!("{expected:?}"), found: format!("{found:?}") })
}

/// Ethereum's types, and those of the family.
fn known_type(transaction: &Transaction, kind: OwnType) -> Result<(), Misfit> {
    match transaction.transaction_type {
        own if own.has_columns() => Ok(()),
        _ if kind.is_some() => Ok(()),
        unknown => Err(Misfit::Unknown(format!("transaction type {unknown} is not known"))),
    }
}

/// The signed price of types 0 and 1; the base fee and what the caps leave of the tip of the others (EIP-1559). What
/// signs no price pays nothing.
fn signed_price(block: &Block, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Result<(), Misfit> {
    let kind = own_type(transaction, family);
    known_type(transaction, kind)?;
    let expected = match (transaction.max_fee_per_gas, transaction.max_priority_fee_per_gas) {
        _ if kind.is_some_and(FamilyTransactionType::is_free) => {
            // No price is hashed of it, so it is not known to be wrong.
            let is_zero = receipt.effective_gas_price.is_none_or(|price| price.is_zero());
            let unknown = || Misfit::Unknown("a transaction of a type without a price paid one".into());
            return if is_zero { Ok(()) } else { Err(unknown()) };
        }
        (Some(cap), Some(tip)) => {
            let in_token = own_base_fee(receipt, kind);
            let Some(base_fee) = in_token.or(block.header.base_fee_per_gas) else {
                return Err(Misfit::Unknown("a transaction has fee caps, and the block has no base fee".into()));
            };
            Some(cap.min(base_fee.saturating_add(tip)))
        }
        _ => transaction.gas_price,
    };
    match receipt.effective_gas_price {
        // What the chain itself does costs nothing, whatever price it names.
        Some(found) if kind.is_some() && found.is_zero() && receipt.gas_used == 0 => Ok(()),
        Some(found) if family.quirks.roots.is_some() && found.is_zero() && receipt.gas_used == 0 => {
            Err(Misfit::Unknown("a transaction used no gas and paid no price".into()))
        }
        Some(found) => fits(expected, Some(found)),
        None => Ok(()),
    }
}

/// The base fee in the token that pays for the gas, where the receipt names it.
fn own_base_fee(receipt: &Receipt, kind: OwnType) -> Option<U256> {
    kind?.base_fee_in_receipt(&serde_json::from_str(receipt.raw.as_deref()?).ok()?)
}

/// The price that nodes repeat in a transaction with caps is what was paid.
fn repeated_price(block: &Block, transaction: &Transaction, _: &Receipt, family: &Family) -> Result<(), Misfit> {
    let caps = transaction.max_fee_per_gas.zip(transaction.max_priority_fee_per_gas);
    match (caps, block.header.base_fee_per_gas, transaction.gas_price) {
        (Some((cap, tip)), Some(base_fee), Some(found)) if transaction.transaction_type.has_columns() => {
            let repeated = fits(cap.min(base_fee.saturating_add(tip)), found);
            let is_cap = found == cap && lacks_hashed_mix_hash(&block.header, family);
            let unknown = || Misfit::Unknown("a transaction repeats its cap as its price".into());
            if is_cap { repeated.map_err(|_| unknown()) } else { repeated }
        }
        _ => Ok(()),
    }
}

/// Whether the block's hash cannot be proven without the mix hash, as it is of nodes that repeat the cap whatever their
/// chain is called (polkadot-evm/frontier).
fn lacks_hashed_mix_hash(header: &Header, family: &Family) -> bool {
    let has_rule = !matches!(family.header, HeaderRule::Unproven(_));
    has_rule && header.mix_hash.is_none() && block_hash(header, family).is_err()
}

/// The same where the base fee is paid: nodes repeat what was signed, which nothing else depends on.
fn signed_offer(block: &Block, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Result<(), Misfit> {
    repeated_price(block, transaction, receipt, family).map_err(|misfit| match misfit {
        Misfit::Differs { expected, found } => {
            Misfit::Unknown(format!("a transaction repeats the price {found}, and {expected} follows from its caps"))
        }
        unknown @ Misfit::Unknown(_) => unknown,
    })
}

/// The base fee, whatever was signed.
fn base_fee(block: &Block, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Result<(), Misfit> {
    let kind = own_type(transaction, family);
    known_type(transaction, kind)?;
    match (receipt.effective_gas_price, block.header.base_fee_per_gas) {
        (Some(found), Some(base_fee)) => fits(base_fee, found),
        (Some(_), None) => Err(Misfit::Unknown("the block has no base fee".into())),
        (None, _) => Ok(()),
    }
}

/// One of both: where tips are collected, those of messages from L1 are not, and those below a least one. That an
/// account's transaction paid none of its tip is not known to be wrong, and not proven.
fn base_fee_or_signed_price(
    block: &Block,
    transaction: &Transaction,
    receipt: &Receipt,
    family: &Family,
) -> Result<(), Misfit> {
    let signed = signed_price(block, transaction, receipt, family);
    match base_fee(block, transaction, receipt, family) {
        Ok(()) if signed.is_err() && transaction.transaction_type.has_columns() => {
            Err(Misfit::Unknown("a transaction paid the base fee alone in a block that collects tips".into()))
        }
        Ok(()) => Ok(()),
        Err(_) => signed,
    }
}

/// The address that sender and nonce give, for a deposit the nonce in its receipt; a call creates none. A failed
/// creation may be reported either way.
fn contract_address(_: &Block, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Result<(), Misfit> {
    let kind = own_type(transaction, family);
    known_type(transaction, kind)?;
    let expected = transaction.to.is_none().then(|| {
        let nonce = deposit_nonce(receipt, kind).unwrap_or(transaction.nonce);
        transaction.from.create(nonce)
    });
    // A chain's own type without a recipient may be a call, but for a deposit, which has a nonce in its receipt.
    let may_be_call = kind.is_some() && deposit_nonce(receipt, kind).is_none();
    if receipt.contract_address.is_none() && (receipt.status == Some(0) || may_be_call) {
        return Ok(());
    }
    fits(expected, receipt.contract_address).map_err(|misfit| match is_by_nonce_0(transaction, receipt, kind) {
        true => Misfit::Unknown("a contract has no address or that of nonce 0, and no root covers the nonce".into()),
        false => misfit,
    })
}

/// Whether a deposit's contract has no address, or the one that some nodes derive from nonce 0, where no root covers
/// the nonce that its receipt has: between Regolith and Canyon.
fn is_by_nonce_0(transaction: &Transaction, receipt: &Receipt, kind: OwnType) -> bool {
    transaction.to.is_none()
        && receipt.contract_address.is_none_or(|address| address == transaction.from.create(0))
        && deposit_nonce(receipt, kind).is_some()
        && proven_nonce(receipt, kind).is_none()
}

/// The nonce in the receipt of a deposit, which has no nonce of its own.
fn deposit_nonce(receipt: &Receipt, kind: OwnType) -> Option<u64> {
    kind?.nonce_in_receipt(&serde_json::from_str(receipt.raw.as_deref()?).ok()?)
}

/// The same where the receipts root covers it.
fn proven_nonce(receipt: &Receipt, kind: OwnType) -> Option<u64> {
    kind?.proven_nonce(&serde_json::from_str(receipt.raw.as_deref()?).ok()?)
}

fn blob_gas(_: &Block, transaction: &Transaction, receipt: &Receipt, _: &Family) -> Result<(), Misfit> {
    match (transaction.transaction_type, receipt.blob_gas_used) {
        (TransactionType::Blob, Some(found)) => {
            fits(GAS_PER_BLOB * transaction.blob_versioned_hashes.len() as u64, found)
        }
        _ => Ok(()),
    }
}

fn blob_gas_price(block: &Block, transaction: &Transaction, receipt: &Receipt, family: &Family) -> Result<(), Misfit> {
    if transaction.transaction_type != TransactionType::Blob {
        return Ok(());
    }
    let unknown = |reason: String| Err(Misfit::Unknown(reason));
    let Some(found) = receipt.blob_gas_price else { return unknown("a receipt has no blob gas price".into()) };
    let Some(excess) = block.header.excess_blob_gas else {
        let is_free = found == U256::ZERO;
        return if is_free { Ok(()) } else { unknown("a blob price in a block without excess blob gas".into()) };
    };
    let scheduled = transaction.chain_id.and_then(|id| scheduled_price(id, block.header.timestamp, excess));
    let is_of_a_schedule = blob_gas_prices(excess, family).any(|price| price == found);
    match scheduled {
        Some(price) if price.wei == found => Ok(()),
        // A private chain may have the id of a listed one, and other forks.
        Some(price) if price.is_of_newest_fork || is_of_a_schedule => {
            unknown(format!("a blob gas price of {found} wei is not the {} wei of the chain's schedule", price.wei))
        }
        Some(price) => fits(price.wei, found),
        None if is_of_a_schedule => Ok(()),
        None => unknown(format!("a blob gas price of {found} wei follows from no blob schedule known here")),
    }
}

#[cfg(test)]
mod tests;
