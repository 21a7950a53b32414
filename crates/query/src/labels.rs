//! Plans for data that operators loaded: labels of addresses, entries of ABIs, signatures of events and functions.

use alloy_primitives::Selector;

use trawl_core::primitives::{Address, B256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// A label of an address.
    pub struct KnownLabel / KnownLabelView {
        /// The account or contract that the label is of.
        address: Address,
        /// `name`, `ens_domain_name`, `public_tag`, `contract_name` or `abi`.
        label_type: String,
        /// Short name of a tag.
        slug: String,
        /// Text of the label; empty if it was removed.
        value: String,
        /// Kind of a tag.
        tag_type: String,
        /// Of a tag: the highest is shown first.
        ordinal: u32,
        /// Of a tag: further members as a JSON object; empty for none.
        meta: String,
        /// The load it belongs to.
        generation: u64,
    }
}

columns! {
    /// An event or a function of the ABI of a contract.
    pub struct KnownEntry / KnownEntryView {
        /// The contract whose ABI has the entry.
        address: Address,
        /// First four bytes of the Keccak-256 of the signature.
        selector: Selector,
        /// The load it belongs to.
        generation: u64,
        /// `event` or `function`.
        entry_type: String,
        /// Name and types.
        signature: String,
        /// The entry as JSON.
        entry: String,
    }
}

columns! {
    /// An event of the dictionary.
    pub struct KnownEventSignature / KnownEventSignatureView {
        /// Keccak-256 of name and types.
        hash: B256,
        /// The event as a line of text.
        signature: String,
    }
}

columns! {
    /// A function of the dictionary.
    pub struct KnownFunctionSignature / KnownFunctionSignatureView {
        /// First four bytes of the Keccak-256 of name and types.
        selector: Selector,
        /// The function as a line of text.
        signature: String,
    }
}

/// Labels of `addresses`, and of the implementations they had in settled blocks, by address: the newest of each type,
/// and not more than 50 tags of an address.
#[must_use]
pub fn of_addresses(addresses: &[Address]) -> Statement<KnownLabel> {
    Statement::page(include_str!("../../../sql/queries/labels_of_addresses.sql")).with("addresses", addresses)
}

/// Events and functions with `selectors` in the ABIs of `contracts` and of the implementations they had in settled
/// blocks, the newest ABI first; some entries of a contract may be of a replaced ABI.
#[must_use]
pub fn abi_entries(contracts: &[Address], selectors: &[Selector]) -> Statement<KnownEntry> {
    Statement::page(include_str!("../../../sql/queries/abi_entries.sql"))
        .with("addresses", contracts)
        .with("selectors", selectors)
}

/// Most entries of an ABI that is shown.
const MAX_ABI_ENTRIES: u64 = 10_000;

/// The entries of the ABI of a contract that the load `generation` brought, in their order.
#[must_use]
pub fn abi(contract: &Address, generation: u64) -> Statement<KnownEntry> {
    Statement::page(include_str!("../../../sql/queries/abi_of_contract.sql"))
        .with("address", contract)
        .with("generation", generation)
        .with("limit", MAX_ABI_ENTRIES)
}

/// Events of the dictionary by hash.
#[must_use]
pub fn events(hashes: &[B256]) -> Statement<KnownEventSignature> {
    Statement::page(include_str!("../../../sql/queries/event_signatures_by_hash.sql")).with("hashes", hashes)
}

/// Functions of the dictionary by selector.
#[must_use]
pub fn functions(selectors: &[Selector]) -> Statement<KnownFunctionSignature> {
    Statement::page(include_str!("../../../sql/queries/function_signatures_by_selector.sql"))
        .with("selectors", selectors)
}
