//! What is loaded of labels and dictionaries, as far as a further load needs to know it.

use alloy_primitives::Selector;

use super::{Reader, StoreError};
use crate::primitives::{Address, B256};
use crate::schema::columns::columns;
use crate::statement::{Parameter, Statement};

columns! {
    /// The newest word of a kind on an address.
    pub struct CurrentLabel / CurrentLabelView {
        /// The address.
        address: Address,
        /// `name`, `ens_domain_name`, `public_tag`, `contract_name` or `abi`.
        label_type: String,
        /// Short name of a tag.
        slug: String,
        /// What is said; empty if it was taken back.
        value: String,
        /// Kind of a tag.
        tag_type: String,
        /// Place of a tag.
        ordinal: u32,
        /// Further members of a tag.
        meta: String,
    }
}

columns! {
    /// An event of the dictionary.
    pub struct StoredEvent / StoredEventView {
        /// Keccak-256 of name and types.
        hash: B256,
        /// The event as a line of text.
        signature: String,
    }
}

columns! {
    /// A function of the dictionary.
    pub struct StoredFunction / StoredFunctionView {
        /// First four bytes of the Keccak-256 of name and types.
        selector: Selector,
        /// The function as a line of text.
        signature: String,
    }
}

columns! {
    /// The number of a load.
    pub struct LabelLoad / LabelLoadNumber {
        generation: u64,
    }
}

/// Keys that are looked up at once, as they travel in the address of a request.
const AT_ONCE: usize = 400;

impl Reader {
    /// The newest word of each kind on some addresses.
    pub async fn current_labels(&self, addresses: &[Address]) -> Result<Vec<CurrentLabel>, StoreError> {
        let mut labels = Vec::new();
        for some in addresses.chunks(AT_ONCE) {
            let sql = include_str!("../../../../sql/queries/current_labels.sql");
            labels.extend(self.rows(&Statement::page(sql).with("addresses", some)).await?);
        }
        Ok(labels)
    }

    /// The events of the dictionary with some hashes.
    pub async fn stored_events(&self, hashes: &[B256]) -> Result<Vec<StoredEvent>, StoreError> {
        let mut events = Vec::new();
        for some in hashes.chunks(AT_ONCE) {
            let sql = include_str!("../../../../sql/queries/stored_event_signatures.sql");
            events.extend(self.rows(&Statement::page(sql).with("hashes", some)).await?);
        }
        Ok(events)
    }

    /// The functions of the dictionary with some selectors.
    pub async fn stored_functions(&self, selectors: &[Selector]) -> Result<Vec<StoredFunction>, StoreError> {
        let mut functions = Vec::new();
        for some in selectors.chunks(AT_ONCE) {
            let sql = include_str!("../../../../sql/queries/stored_function_signatures.sql");
            let some = Parameter::Texts(some.iter().map(const_hex::encode).collect());
            functions.extend(self.rows(&Statement::page(sql).with("selectors", some)).await?);
        }
        Ok(functions)
    }

    /// The number of the newest load of labels; 0 before the first.
    pub async fn newest_label_load(&self) -> Result<u64, StoreError> {
        let statement = Statement::<LabelLoad>::page(include_str!("../../../../sql/queries/newest_label_load.sql"));
        Ok(self.rows(&statement).await?.first().map_or(0, |load| load.generation))
    }
}
