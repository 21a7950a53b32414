//! Rules of a chain, as its genesis file and its operator state them: `chain_configurations`.

use crate::schema::columns::columns;
use crate::statement::Statement;
use crate::store::{Reader, StoreError, Writer};

columns! {
    /// What is stated of a chain.
    pub struct ConfigurationRow / ConfigurationView {
        /// The `config` member of a genesis file, JSON in geth's form; empty if none was given.
        configuration: String,
        /// The family of chains; empty if none was given.
        family: String,
    }
}

/// What is stated of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainConfiguration {
    /// The `config` member of its genesis file, JSON in geth's form.
    pub forks: Option<String>,
    /// The name of the family of chains that it is of.
    pub family: Option<String>,
}

impl Reader {
    /// The newest configuration of a chain; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement, or the result has unexpected columns.
    pub async fn configuration(&self, chain_id: u64) -> Result<Option<ChainConfiguration>, StoreError> {
        let sql = include_str!("../../../../../sql/queries/newest_configuration.sql");
        let statement = Statement::<ConfigurationRow>::page(sql).with("chain_id", chain_id);
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        let row = self.rows(&statement).await?.pop();
        Ok(row.map(|row| ChainConfiguration { forks: given(row.configuration), family: given(row.family) }))
    }
}

impl Writer {
    /// Stores the configuration of a chain, unless it equals the newest one.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn record_configuration(&self, chain_id: u64, configuration: &str) -> Result<(), StoreError> {
        let parameters = [("chain_id", chain_id.into()), ("configuration", configuration.into())];
        self.execute_promptly(include_str!("../../../../../sql/queries/record_configuration.sql"), &parameters).await
    }

    /// Stores the family of a chain, unless it equals the newest one.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn record_family(&self, chain_id: u64, family: &str) -> Result<(), StoreError> {
        let parameters = [("chain_id", chain_id.into()), ("family", family.into())];
        self.execute_promptly(include_str!("../../../../../sql/queries/record_family.sql"), &parameters).await
    }
}
