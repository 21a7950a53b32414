//! What follows from transaction and header for the fields of a receipt that no root covers.

use trawl_chains::{Evidence, Family, FamilyTransactionType, HeaderRule, PriceRule};
use trawl_core::primitives::{TransactionType, U256};

use super::check::Check;
use super::header::{blob_gas_prices, block_hash};
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
    let fork = || unknown_fork(block, family);
    unknown_fields(block, family).or_else(fork).or_else(untried).or_else(currencies)
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
    // A chain's own type without a recipient may be a call all the same.
    if receipt.contract_address.is_none() && (receipt.status == Some(0) || kind.is_some()) {
        return Ok(());
    }
    fits(expected, receipt.contract_address).map_err(|misfit| match is_by_nonce_0(transaction, receipt, kind) {
        true => Misfit::Unknown("a contract has the address of nonce 0, and no root covers its deposit's nonce".into()),
        false => misfit,
    })
}

/// Whether a deposit's contract is the one that some nodes derive from nonce 0, where no root covers the nonce that its
/// receipt has: between Regolith and Canyon.
fn is_by_nonce_0(transaction: &Transaction, receipt: &Receipt, kind: OwnType) -> bool {
    transaction.to.is_none()
        && receipt.contract_address == Some(transaction.from.create(0))
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
    match (transaction.transaction_type, receipt.blob_gas_price, block.header.excess_blob_gas) {
        (TransactionType::Blob, Some(found), Some(excess))
            if !blob_gas_prices(excess, family).any(|price| price == found) =>
        {
            Err(Misfit::Unknown(format!("a blob gas price of {found} wei follows from no blob schedule known here")))
        }
        (TransactionType::Blob, None, _) => Err(Misfit::Unknown("a receipt has no blob gas price".into())),
        (TransactionType::Blob, Some(found), None) if found != U256::ZERO => {
            Err(Misfit::Unknown("a blob price in a block without excess blob gas".into()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::decode;

    /// A deposit of OP Sepolia that creates a contract, by receipts with and without its nonce.
    #[test]
    fn a_deposit_creates_at_the_nonce_of_its_receipt() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let line: serde_json::Value = serde_json::from_str(line.trim()).expect("one line");
        let family = trawl_chains::by_chain_id(11_155_420);
        let by_version = |version: &str, created_by: u64, of_transaction: &str, of_receipt: serde_json::Value| {
            let mut line = line.clone();
            let transaction = &mut line["block"]["transactions"][0];
            (transaction["to"], transaction["nonce"]) = (serde_json::Value::Null, of_transaction.into());
            line["receipts"][0]["depositNonce"] = of_receipt;
            line["receipts"][0]["depositReceiptVersion"] = serde_json::from_str(version).expect("JSON");
            let mut block = decode(&line.to_string()).expect("a block");
            let mut receipt = block.receipts.take().expect("receipts").remove(0);
            let transaction = &block.transactions[0];
            receipt.contract_address = Some(transaction.from.create(created_by));
            contract_address(&block, transaction, &receipt, family)
        };
        let fits = |created_by: u64, of_transaction: &str, of_receipt: serde_json::Value| {
            by_version(r#""0x1""#, created_by, of_transaction, of_receipt).is_ok()
        };
        assert!(fits(7, "0x0", "0x7".into()), "the node gives no nonce of the transaction");
        assert!(fits(7, "0x7", "0x7".into()));
        assert!(!fits(0, "0x0", "0x7".into()));
        // Before Regolith receipts have no nonce.
        assert!(fits(0, "0x0", serde_json::Value::Null));
        assert!(!fits(7, "0x0", serde_json::Value::Null));
        // Between Regolith and Canyon.
        let unproven = |created_by: u64| by_version("null", created_by, "0x0", "0x7".into());
        assert!(unproven(7).is_ok());
        assert!(matches!(unproven(0), Err(Misfit::Unknown(_))), "the address of nonce 0");
        assert!(matches!(unproven(3), Err(Misfit::Differs { .. })), "any other");
    }

    /// The effective price of a transaction that would pay 105 with its tip, in a block of base fee 100.
    fn price_fits(chain_id: u64, mix_hash: alloy_primitives::B256, price: u64, gas_used: u64) -> Result<(), Misfit> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(line.lines().next().expect("a line")).expect("a block");
        (block.header.mix_hash, block.header.base_fee_per_gas) = (Some(mix_hash), Some(U256::from(100)));
        let mut transaction = block.transactions.remove(0);
        transaction.transaction_type = TransactionType::DynamicFee;
        transaction.max_fee_per_gas = Some(U256::from(200));
        transaction.max_priority_fee_per_gas = Some(U256::from(5));
        let mut receipt = block.receipts.take().expect("receipts").remove(0);
        (receipt.effective_gas_price, receipt.gas_used) = (Some(U256::from(price)), gas_used);
        let family = trawl_chains::by_chain_id(chain_id);
        price_check(&block, family)(&block, &transaction, &receipt, family)
    }

    /// As on chains of Frontier that are not listed, whose headers have no mix hash.
    #[test]
    fn a_cap_is_repeated_where_a_missing_mix_hash_hides_the_header() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(line.lines().next().expect("a line")).expect("a block");
        block.header.base_fee_per_gas = Some(U256::from(100));
        let mut transaction = block.transactions.remove(0);
        transaction.transaction_type = TransactionType::DynamicFee;
        transaction.max_fee_per_gas = Some(U256::from(200));
        transaction.max_priority_fee_per_gas = Some(U256::from(5));
        transaction.gas_price = Some(U256::from(200));
        let receipt = block.receipts.take().expect("receipts").remove(0);
        let mut is_named = |chain_id: u64, mix_hash: Option<alloy_primitives::B256>| {
            block.header.mix_hash = mix_hash;
            let family = trawl_chains::by_chain_id(chain_id);
            let found = repeated_price(&block, &transaction, &receipt, family).expect_err("another price");
            matches!(found, Misfit::Unknown(_))
        };
        assert!(is_named(1, None) && is_named(137, None));
        assert!(!is_named(1, Some(alloy_primitives::B256::ZERO)));
        assert!(!is_named(25, None) && !is_named(324, None), "no hash of Ethereum's header in any case");
    }

    /// Nodes of Arbitrum give both in blocks that collect tips.
    #[test]
    fn blocks_that_collect_tips_pay_either_price() {
        let of_version = |version: u8| {
            let mut mix_hash = alloy_primitives::B256::ZERO;
            mix_hash.0[23] = version;
            mix_hash
        };
        let mut flagged = of_version(60);
        flagged.0[25] = 1;
        let (proven, named, refused) = ("proven", "named", "refused");
        for (mix_hash, price, expected) in [
            (of_version(10), 100, proven),
            (of_version(10), 105, refused),
            (of_version(9), 100, named),
            (of_version(9), 105, proven),
            (of_version(9), 106, refused),
            (flagged, 105, proven),
            (flagged, 100, named),
            (of_version(60), 105, refused),
        ] {
            let found = match price_fits(42_161, mix_hash, price, 21_000) {
                Ok(()) => proven,
                Err(Misfit::Unknown(_)) => named,
                Err(Misfit::Differs { .. }) => refused,
            };
            assert_eq!(found, expected, "{mix_hash} {price}");
        }
    }

    /// As exports of the OP stack are: what was paid for L1 is in no price, address or sum of gas.
    #[test]
    fn fees_beside_the_gas_that_are_not_known_hide_no_wrong_price() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-goerli-5003318.json");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let family = trawl_chains::by_chain_id(420);
        for (column, is_refused) in [("l1_fee", true), ("operator_fee", true), ("gas_price", false)] {
            let mut block = decode(line.lines().next().expect("a line")).expect("a block");
            block.transactions[1].lacking = vec![column];
            block.receipts.as_mut().expect("receipts")[1].effective_gas_price = Some(U256::from(1));
            let found = crate::verify::verify(&block, crate::verify::Depth::Full, family);
            let expected = is_refused.then_some(Check::EffectiveGasPrice);
            assert_eq!(found.err().map(|error| error.check), expected, "{column}");
        }
    }

    /// As Sei gives a transaction that failed before it ran, of which it keeps a receipt without gas and price.
    #[test]
    fn what_used_no_gas_need_not_name_a_price() {
        let none = alloy_primitives::B256::ZERO;
        assert!(matches!(price_fits(1329, none, 0, 0), Err(Misfit::Unknown(_))));
        assert!(matches!(price_fits(1329, none, 0, 1), Err(Misfit::Differs { .. })));
        assert!(matches!(price_fits(10, none, 0, 0), Err(Misfit::Differs { .. })));
    }

    /// As in the transaction 0x2499b178…f3ac of Celo.
    #[test]
    fn gas_paid_in_a_token_costs_the_base_fee_of_its_receipt() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/optimism-11155420.ndjson");
        let line = std::fs::read_to_string(file).expect("the fixture");
        let mut block = decode(line.trim()).expect("a block");
        let mut receipt = block.receipts.take().expect("receipts").remove(0);
        receipt.raw = Some(r#"{"baseFee":"0x1adff4f03"}"#.into());
        let mut transaction = block.transactions.remove(0);
        transaction.transaction_type = TransactionType::Other(0x7b);
        transaction.max_fee_per_gas = Some(U256::from(0x2_6442_dbed_u64));
        transaction.max_priority_fee_per_gas = Some(U256::from(0x4_d7ee));
        for (price, is_fit) in [(0x1_ae04_26f1_u64, true), (0x1_ae04_26f2, false)] {
            receipt.effective_gas_price = Some(U256::from(price));
            let found = signed_price(&block, &transaction, &receipt, trawl_chains::by_chain_id(42_220));
            assert_eq!(found.is_ok(), is_fit, "{price}");
        }
    }
}
