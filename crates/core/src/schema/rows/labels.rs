//! The tables of `trawl-ingest labels`: `label_loads`, `address_labels`, `contract_abis` and the two dictionaries.

use alloy_primitives::Selector;

use crate::primitives::{Address, B256, Timestamp};
use crate::schema::columns::table;

table! {
    /// A load that is complete; rows of other generations do not count.
    pub struct LabelLoadRow / LabelLoadView / LabelLoadBuilder in "label_loads" {
        /// Number of the run, which grows.
        generation: u64,
        /// When it was loaded.
        loaded_at: Timestamp,
        /// Which run wrote it.
        run: String,
        /// Files it was read from.
        sources: Vec<String>,
        /// Rows it added to `address_labels`.
        labels: u64,
        /// Rows it added to `contract_abis`.
        abi_entries: u64,
        /// Rows it added to the dictionaries.
        signatures: u64,
    }
}

table! {
    /// A label of an address.
    pub struct LabelRow / LabelView / LabelBuilder in "address_labels" {
        /// The account or contract that the label is of.
        address: Address,
        /// `name`, `ens_domain_name`, `public_tag`, `contract_name` or `abi`.
        label_type: String,
        /// Short name of a tag; empty for the other types.
        slug: String,
        /// The load it belongs to.
        generation: u64,
        /// The label; an empty text removes it.
        value: String,
        /// Of a tag: `name`, `generic`, `classifier`, `information`, `note` or `protocol`.
        tag_type: String,
        /// Of a tag: the highest is shown first.
        ordinal: u32,
        /// Of a tag: further members as a JSON object; empty for none.
        meta: String,
        /// File it was read from.
        source: String,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}

table! {
    /// An entry of the ABI of a contract.
    pub struct AbiEntryRow / AbiEntryView / AbiEntryBuilder in "contract_abis" {
        /// The contract whose ABI has the entry.
        address: Address,
        /// First four bytes of the Keccak-256 of the signature; zero for entries without one.
        selector: Selector,
        /// The load it belongs to.
        generation: u64,
        /// Position in the ABI, from 0.
        position: u32,
        /// `function`, `event`, `error`, `constructor`, `fallback` or `receive`.
        entry_type: String,
        /// Name and types; empty for entries without a name.
        signature: String,
        /// The entry as JSON.
        entry: String,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}

table! {
    /// An event of the dictionary.
    pub struct EventSignatureRow / EventSignatureView / EventSignatureBuilder in "event_signatures" {
        /// Keccak-256 of name and types.
        hash: B256,
        /// The event as a line of text.
        signature: String,
        /// The load it belongs to.
        generation: u64,
        /// File it was read from.
        source: String,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}

table! {
    /// A function of the dictionary.
    pub struct FunctionSignatureRow / FunctionSignatureView / FunctionSignatureBuilder in "function_signatures" {
        /// First four bytes of the Keccak-256 of name and types.
        selector: Selector,
        /// The function as a line of text.
        signature: String,
        /// The load it belongs to.
        generation: u64,
        /// File it was read from.
        source: String,
        /// When it was loaded.
        loaded_at: Timestamp,
    }
}
