//! Loaded labels and dictionary entries that a further load compares with.

use alloy_primitives::Selector;

use crate::primitives::{Address, B256};
use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError};

columns! {
    /// The newest label of a type on an address.
    pub struct CurrentLabel / CurrentLabelView {
        /// The account or contract that the label is of.
        address: Address,
        /// `name`, `ens_domain_name`, `public_tag`, `contract_name` or `abi`.
        label_type: String,
        /// Short name of a tag.
        slug: String,
        /// The label; empty if it was removed.
        value: String,
        /// Kind of a tag.
        tag_type: String,
        /// Position of a tag.
        ordinal: u32,
        /// Further members of a tag.
        meta: String,
        /// The load it belongs to.
        generation: u64,
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

/// Most keys of one lookup, since they are sent in the URL of a request.
pub(super) const MAX_KEYS: usize = 400;

impl Reader {
    /// The newest label of each type on some addresses.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn current_labels(&self, addresses: &[Address]) -> Result<Vec<CurrentLabel>, StoreError> {
        let mut labels = Vec::new();
        for some in addresses.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/current_labels.sql");
            labels.extend(self.rows(&Statement::page(sql).with("addresses", some)).await?);
        }
        Ok(labels)
    }

    /// The events of the dictionary with some hashes.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_events(&self, hashes: &[B256]) -> Result<Vec<StoredEvent>, StoreError> {
        let mut events = Vec::new();
        for some in hashes.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/stored_event_signatures.sql");
            events.extend(self.rows(&Statement::page(sql).with("hashes", some)).await?);
        }
        Ok(events)
    }

    /// The functions of the dictionary with some selectors.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn stored_functions(&self, selectors: &[Selector]) -> Result<Vec<StoredFunction>, StoreError> {
        let mut functions = Vec::new();
        for some in selectors.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/stored_function_signatures.sql");
            functions.extend(self.rows(&Statement::page(sql).with("selectors", some)).await?);
        }
        Ok(functions)
    }

    /// The bundled events with some hashes.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn bundled_events(&self, hashes: &[B256]) -> Result<Vec<StoredEvent>, StoreError> {
        let mut events = Vec::new();
        for some in hashes.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/bundled_event_signatures.sql");
            events.extend(self.rows(&Statement::page(sql).with("hashes", some)).await?);
        }
        Ok(events)
    }

    /// The bundled functions with some selectors.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn bundled_functions(&self, selectors: &[Selector]) -> Result<Vec<StoredFunction>, StoreError> {
        let mut functions = Vec::new();
        for some in selectors.chunks(MAX_KEYS) {
            let sql = include_str!("../../../../../sql/queries/bundled_function_signatures.sql");
            functions.extend(self.rows(&Statement::page(sql).with("selectors", some)).await?);
        }
        Ok(functions)
    }

    /// The number of the newest load of labels; 0 before the first.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn newest_label_load(&self) -> Result<u64, StoreError> {
        let statement = Statement::<LabelLoad>::page(include_str!("../../../../../sql/queries/newest_label_load.sql"));
        Ok(self.rows(&statement).await?.first().map_or(0, |load| load.generation))
    }
}
